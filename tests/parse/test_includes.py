"""Local headers: which are followed, which are not, and what clang gets to see instead."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from porter.cpp.clang import libclang as clang
from porter.cpp.clang.reached_headers import close_over, find_translation_unit
from porter.cpp.clang.view import Parsed, ParseRequest, parse


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_h", ".h").replace("_cu", ".cu")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_headers_are_found_beside_the_file_and_in_the_folders(tmp_path: Path) -> None:
    write(tmp_path, a_h='#include "sub/b.h"\n', sub__b_h="#include <c.h>\n", inc__c_h="int x = __CUDA_ARCH__;\n")
    data = b'#include "a.h"\n#include <vector>\n'
    closure = close_over(str(tmp_path / "k.cu"), data, [str(tmp_path / "inc")], str(tmp_path))
    assert {Path(h).name for h in closure.headers} == {"a.h", "b.h", "c.h"}
    assert closure.device_branches
    assert closure.names == {"a.h", "sub/b.h", "c.h", "vector"}
    assert not closure.rewritten


def test_what_is_outside_of_the_root_is_blanked_and_offsets_stay(tmp_path: Path) -> None:
    write(tmp_path, secret_h="int secret;\n", project__ok_h="int fine;\n")
    root = tmp_path / "project"
    data = b'#include "../secret.h"\n#include "ok.h"\nint x = secret;\n'
    closure = close_over(str(root / "k.cu"), data, [], str(root))
    rewritten = closure.rewritten[str(root / "k.cu")]
    assert len(rewritten) == len(data)
    assert b"secret.h" not in rewritten
    assert rewritten.endswith(b'\n#include "ok.h"\nint x = secret;\n')
    result = parse(ParseRequest(str(root / "k.cu"), data, root=str(root)))
    assert isinstance(result, Parsed)
    assert "secret" not in result.declared
    assert "fine" in result.declared


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="no symbolic links here")
def test_links_out_of_the_root_are_not_followed(tmp_path: Path) -> None:
    write(tmp_path, secret_h="int secret;\n", project__k_cu="")
    (tmp_path / "project" / "link.h").symlink_to(tmp_path / "secret.h")
    root = str(tmp_path / "project")
    closure = close_over(f"{root}/k.cu", b'#include "link.h"\n', [], root)
    assert not closure.headers
    assert closure.rewritten[f"{root}/k.cu"].strip() == b""


def test_cycles_end(tmp_path: Path) -> None:
    write(tmp_path, a_h='#include "b.h"\n#include "b.h"\nint a();\n', b_h='#include "a.h"\n#include "a.h"\nint b();\n')
    data = b'#include "a.h"\n#include "k.cu"\n#include "k.cu"\n__global__ void k(int *x) {}\n'
    (tmp_path / "k.cu").write_bytes(data)
    result = parse(ParseRequest(str(tmp_path / "k.cu"), data, root=str(tmp_path)))
    assert isinstance(result, Parsed)
    assert {"a", "b", "k"} <= result.declared


def test_devices_and_pipes_are_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.h")
    data = b'#include "pipe.h"\n#include "/dev/zero"\nint x;\n'
    result = parse(ParseRequest(str(tmp_path / "k.cu"), data))
    assert isinstance(result, Parsed)
    assert "x" in result.declared


def test_the_outermost_includer_is_the_translation_unit(tmp_path: Path) -> None:
    write(
        tmp_path, main_cu='#include "sub/a.h"\n', sub__a_h='#include "b.h"\n', sub__b_h="int b;\n", other_cu="int o;\n"
    )
    assert find_translation_unit(str(tmp_path / "sub" / "b.h"), str(tmp_path)) == str(tmp_path / "main.cu")
    assert find_translation_unit(str(tmp_path / "other.cu"), str(tmp_path)) is None


def _mains(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that clang compiles from now on."""
    mains: list[str] = []
    real = clang.parse

    def watched(main: str, *rest: Any) -> clang.TranslationUnit | None:
        mains.append(Path(main).name)
        return real(main, *rest)

    monkeypatch.setattr(clang, "parse", watched)
    return mains


@pytest.mark.parametrize(
    ("before", "header", "mains", "kind"),
    [
        ("using real = float;", "__global__ void k(real x) {}", ["main.cu"], "float"),
        ("", "__global__ void k(real x) {}", ["main.cu", "k.h"], "real"),
        ("", "struct real; __global__ void k(real *x) {}", ["main.cu"], "real *"),
        ("using real = float;", '#include "none.h"\n__global__ void k(real x) {}', ["k.h", "main.cu"], "float"),
        ("using real = float;", '#include "none.h"\n__global__ void k(int x) {}', ["k.h"], "int"),
        ("namespace {", "using real = int; __global__ void k(real x) {}\n} }", ["main.cu", "k.h"], "int"),
    ],
)
def test_a_header_is_parsed_where_it_explains_most(
    before: str, header: str, mains: list[str], kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One without includes first within what includes it: where all is explained, it is not parsed alone."""
    (tmp_path / "main.cu").write_text(f'{before}\n#include "k.h"\n')
    (tmp_path / "k.h").write_text(header)
    seen = _mains(monkeypatch)
    parsed = parse(ParseRequest(str(tmp_path / "k.h"), header.encode(), root=str(tmp_path)))
    assert isinstance(parsed, Parsed)
    assert [parameter.type for parameter in parsed.kernels[0].parameters] == [kind]
    assert seen == mains
