"""Input that is not as it should be: a finding or an error with the path, and nothing lost or half-written."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from porter.validation.draft.init import draft

from porter.errors import Unusable
from porter.project.discovery import Project, discover
from porter.project.manifest import NAME
from porter.project.port import Request, port_in_place, scan
from porter.settings import Choices, load_choices
from tests.tree.trees import KERNEL, PORTED_KERNEL, codes, listing, make_tree, port

SAME_BUT_RENAMED = {
    "latin-1 comment": (KERNEL + b"// gr\xfc\xdfe\n", PORTED_KERNEL + b"// gr\xfc\xdfe\n"),
    "byte order mark": (b"\xef\xbb\xbf" + KERNEL, b"\xef\xbb\xbf" + PORTED_KERNEL),
    "CRLF": (KERNEL.replace(b"\n", b"\r\n"), PORTED_KERNEL.replace(b"\n", b"\r\n")),
    "mixed line ends": (KERNEL.replace(b";\n", b";\r\n"), PORTED_KERNEL.replace(b";\n", b";\r\n")),
    "no final newline": (KERNEL.rstrip(), PORTED_KERNEL.rstrip()),
    "tabs and trailing blanks": (KERNEL.replace(b";\n", b"; \t\n"), PORTED_KERNEL.replace(b";\n", b"; \t\n")),
    "form feed": (KERNEL + b"\f\n\v\n", PORTED_KERNEL + b"\f\n\v\n"),
    "unbalanced #if": (KERNEL + b"#if 1\n", PORTED_KERNEL + b"#if 1\n"),
    "unbalanced #endif": (b"#endif\n" + KERNEL, b"#endif\n" + PORTED_KERNEL),
    "open brace": (KERNEL + b"void f() { cudaFree(\n", PORTED_KERNEL + b"void f() { hipFree(\n"),
    "not C++ at all": (KERNEL + b")))) ??? @@ 'x\n", PORTED_KERNEL + b")))) ??? @@ 'x\n"),
    "unterminated comment": (KERNEL + b"/* cudaFree", PORTED_KERNEL + b"/* cudaFree"),
    "empty": (b"", b""),
}


@pytest.mark.parametrize(("before", "after"), SAME_BUT_RENAMED.values(), ids=SAME_BUT_RENAMED.keys())
def test_odd_bytes_are_kept(tmp_path: Path, before: bytes, after: bytes) -> None:
    """What no rule touches stays as it is, and what can be ported is."""
    make_tree(tmp_path / "src", {"a.cu": before})
    port(tmp_path / "src", tmp_path / "out")
    assert (tmp_path / "out" / "a.hip").read_bytes() == after


@pytest.mark.parametrize(
    "data",
    [KERNEL.decode().encode("utf-16"), KERNEL.decode().encode("utf-16-be"), KERNEL + b"\0", b"\0" * 100],
    ids=["UTF-16", "UTF-16 without mark", "NUL at the end", "only NUL"],
)
def test_what_is_no_source_is_reported_and_copied(tmp_path: Path, data: bytes) -> None:
    """UTF-16 and NUL bytes: one manual finding, the bytes unharmed."""
    make_tree(tmp_path / "src", {"a.cu": data})
    answer = port(tmp_path / "src", tmp_path / "out")
    assert codes(answer) == [("a.cu", "E003")]
    assert (tmp_path / "out" / "a.hip").read_bytes() == data


def test_a_header_of_50000_lines(tmp_path: Path) -> None:
    """Size is no reason to fail."""
    lines = b"".join(b"inline int f%d(int *p) { return cudaFree(p + %d); }\n" % (n, n) for n in range(50_000))
    make_tree(tmp_path / "src", {"big.cuh": b"#include <cuda_runtime.h>\n" + lines})
    answer = port(tmp_path / "src", tmp_path / "out")
    data = (tmp_path / "out" / "big.cuh").read_bytes()
    assert data == b"#include <hip/hip_runtime.h>\n" + lines.replace(b"cudaFree", b"hipFree")
    assert answer.report.counts.rewritten == 50_001


def test_links_that_lead_nowhere_out_or_in_circles(tmp_path: Path) -> None:
    """All are kept as they are, and said."""
    (tmp_path / "elsewhere.h").write_bytes(KERNEL)
    links = {
        "dangling.h": "->missing.h",
        "loop_a": "->loop_b",
        "loop_b": "->loop_a",
        "outside.h": "->../elsewhere.h",
        "absolute.h": f"->{tmp_path}/elsewhere.h",
        "fine": "->sub",
        "sub/up": "->..",
    }
    make_tree(tmp_path / "src", {**links, "sub/a.cu": KERNEL})
    answer = port(tmp_path / "src", tmp_path / "out")
    found = listing(tmp_path / "out")
    assert {name: found[name] for name in links} == links
    assert sorted(codes(answer)) == [
        ("absolute.h", "E104"),
        ("dangling.h", "E103"),
        ("loop_a", "E105"),
        ("loop_b", "E105"),
        ("outside.h", "E104"),
    ]
    assert (tmp_path / "elsewhere.h").read_bytes() == KERNEL


def test_a_pipe_does_not_hang(tmp_path: Path) -> None:
    """Special files are reported and not read."""
    make_tree(tmp_path / "src", {"a.cu": KERNEL})
    os.mkfifo(tmp_path / "src" / "pipe.cu")
    answer = port(tmp_path / "src", tmp_path / "out")
    assert codes(answer) == [("pipe.cu", "E108")]
    assert not (tmp_path / "out" / "pipe.cu").exists()


@contextmanager
def _without_roots_rights() -> Iterator[None]:
    """Root may read everything (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH); without that, a mode counts for it as well."""
    if os.geteuid() != 0:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header, had = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    if libc.capget(header, had):
        pytest.skip(f"root's rights cannot be given up here: {os.strerror(ctypes.get_errno())}")
    less = (ctypes.c_uint32 * 6)(had[0] & ~0b110, *had[1:])
    assert libc.capset(header, less) == 0
    try:
        yield
    finally:
        assert libc.capset(header, had) == 0


@pytest.mark.skipif(sys.platform != "linux" and os.geteuid() == 0, reason="root may read everything")
def test_what_cannot_be_read_is_reported(tmp_path: Path) -> None:
    """A file and a folder without the right to read them; their old outputs stay."""
    source = make_tree(tmp_path / "src", {"a.cu": KERNEL, "secret.cu": KERNEL, "secret.txt": "x", "dark/b.cu": KERNEL})
    out = tmp_path / "out"
    port(source, out)
    (source / "a.cu").write_bytes(KERNEL + b"//\n")
    for name in ("secret.cu", "secret.txt", "dark"):
        (source / name).chmod(0)
    with _without_roots_rights():
        answer = port(source, out)
    for name in ("secret.cu", "secret.txt", "dark"):
        (source / name).chmod(0o755)
    assert codes(answer) == [("dark", "E101"), ("secret.cu", "E101"), ("secret.txt", "E101")]
    assert (out / "a.hip").read_bytes() == PORTED_KERNEL + b"//\n"
    assert (out / "dark" / "b.hip").read_bytes() == PORTED_KERNEL
    for name in ("secret.cu", "dark/b.cu"):
        (source / name).write_bytes(KERNEL + b"//\n")
    (source / "secret.txt").unlink()
    (out / "dark" / "b.hip").write_bytes(b"edited")
    assert codes(port(source, out)) == [("dark/b.cu", "E106")], "what porter wrote before is known as its own"
    assert (out / "secret.hip").read_bytes() == PORTED_KERNEL + b"//\n"
    assert not (out / "secret.txt").exists()


@pytest.mark.skipif(sys.platform != "linux" and os.geteuid() == 0, reason="root may read everything")
def test_what_the_command_line_names_cannot_be_read(tmp_path: Path) -> None:
    """One file, a file in a folder that may not be entered, and that folder: said, with its path."""
    source = make_tree(tmp_path / "src", {"secret.cu": KERNEL, "dark/b.cu": KERNEL})
    (source / "secret.cu").chmod(0)
    (source / "dark").chmod(0)
    with _without_roots_rights():
        answer = scan(Request(source / "secret.cu", Choices(), 1))
        for path in (source / "dark", source / "dark" / "b.cu"):
            with pytest.raises(Unusable, match=f"{path}: Permission denied"):
                load_choices(path)
    (source / "dark").chmod(0o755)
    assert codes(answer) == [("secret.cu", "E101")]


@pytest.mark.skipif(sys.platform != "linux" and os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize(("closed", "named"), [("a.hip", "a.hip"), ("porter", "porter/warp32.hpp")])
def test_an_output_that_cannot_be_read_is_named(tmp_path: Path, closed: str, named: str) -> None:
    """It is not the source that cannot be read."""
    kernel = "__global__ void k(int *p) { *p = __shfl_sync(~0u, *p, 0); }\n"
    source, out = make_tree(tmp_path / "src", {"a.cu": kernel}), tmp_path / "out"
    port(source, out)
    (source / "a.cu").write_text(kernel + "//\n")
    (out / closed).chmod(0)
    with _without_roots_rights(), pytest.raises(Unusable, match=f"{out / named}: Permission denied"):
        port(source, out)
    (out / closed).chmod(0o755)
    assert codes(port(source, out)) == []
    assert (out / "a.hip").read_text().endswith("//\n")


@pytest.mark.skipif(sys.platform != "linux" and os.geteuid() == 0, reason="root may read everything")
def test_drafts_go_without_what_cannot_be_read(tmp_path: Path) -> None:
    """A source beside the one whose kernels are described."""
    source = make_tree(tmp_path / "src", {"a.cu": KERNEL, "secret.cu": KERNEL})
    (source / "secret.cu").chmod(0)
    with _without_roots_rights():
        assert draft(source / "a.cu").cases == 1


def test_a_file_that_vanishes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Gone between the listing and the reading: a finding, and the rest is done."""
    source = make_tree(tmp_path / "src", {"a.cu": KERNEL, "gone.cu": KERNEL, "gone.txt": "x"})

    def listing_of_yesterday(path: Path, choices: Choices) -> Project:
        project = discover(path, choices)
        (source / "gone.cu").unlink()
        (source / "gone.txt").unlink()
        return project

    monkeypatch.setattr("porter.project.port.discover", listing_of_yesterday)
    answer = port(source, tmp_path / "out")
    assert codes(answer) == [("gone.cu", "E102"), ("gone.txt", "E102")]
    assert (tmp_path / "out" / "a.hip").read_bytes() == PORTED_KERNEL


def test_outputs_in_wrong_places(tmp_path: Path) -> None:
    """The source itself, around it, inside it, a file, a folder that is not ours: nothing is written."""
    source = make_tree(tmp_path / "src", {"a.cu": KERNEL})
    make_tree(tmp_path, {"theirs/file": "x", "file": "x"})
    before = listing(tmp_path)
    for out, reason in {
        source: "the output is the source itself",
        tmp_path: "lies inside the output",
        source / "out": "lies inside the source",
        tmp_path / "file": "not a folder",
        tmp_path / "theirs": "not written by porter",
    }.items():
        with pytest.raises(Unusable, match=f"{out}.*{reason}"):
            port(source, out)
    assert listing(tmp_path) == before


def test_an_output_inside_the_source_that_is_left_out(tmp_path: Path) -> None:
    """With `omit`, or ignored by git, it is no part of the source, neither now nor the next time."""
    source = make_tree(tmp_path / "src", {"a.cu": KERNEL, ".gitignore": "/build/\n"})
    subprocess.run(["git", "init", "-q"], cwd=source, check=True)
    for _ in range(2):
        port(source, source / "build")
        assert sorted(listing(source / "build")) == [".gitignore", "a.hip", NAME]
    for _ in range(2):
        port(source, source / "port" / "hip", omit=("/port/",))
        assert sorted(listing(source / "port" / "hip")) == [".gitignore", "a.hip", NAME]


def test_an_output_reached_through_a_link(tmp_path: Path) -> None:
    """A link does not hide that the output lies in the source; a linked folder inside it is never written through."""
    source = make_tree(tmp_path / "src", {"sub/a.cu": KERNEL})
    (tmp_path / "alias").symlink_to(source / "sub")
    with pytest.raises(Unusable, match="inside the source"):
        port(source, tmp_path / "alias" / "out")
    out = tmp_path / "out"
    port(source, out)
    (tmp_path / "victim").mkdir()
    (out / "sub" / "a.hip").unlink()
    (out / "sub").rmdir()
    (out / "sub").symlink_to(tmp_path / "victim")
    with pytest.raises(Unusable, match=f"{out}/sub"):
        port(source, out)
    assert not list((tmp_path / "victim").iterdir())


def test_a_header_of_the_project_at_the_place_of_ours(tmp_path: Path) -> None:
    """Neither is lost."""
    source = make_tree(tmp_path / "src", {"a.cu": KERNEL, "porter/warp32.hpp": "// theirs\n"})
    with pytest.raises(Unusable, match=r"porter/warp32\.hpp"):
        port(source, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_file_of_the_project_at_the_place_of_the_manifest(tmp_path: Path) -> None:
    """The same."""
    source = make_tree(tmp_path / "src", {"a.cu": KERNEL, NAME: "{}"})
    with pytest.raises(Unusable, match=NAME):
        port(source, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_in_place_needs_a_clean_git_tree(tmp_path: Path) -> None:
    """Otherwise nothing could bring the source back."""
    source = make_tree(tmp_path / "src", {"a.cu": KERNEL, "b.h": KERNEL})
    request = Request(source, Choices(), 1)
    with pytest.raises(Unusable, match="not in a git work tree"):
        port_in_place(request)
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
    for arguments in (["init", "-q"], ["add", "a.cu"], [*identity, "commit", "-qm", "x"]):
        subprocess.run(["git", *arguments], cwd=source, check=True)
    with pytest.raises(Unusable, match=r"uncommitted changes there: b\.h"):
        port_in_place(request)
    assert (source / "a.cu").read_bytes() == KERNEL
    (source / "b.h").unlink()
    port_in_place(request)
    assert not (source / "a.cu").exists()
    assert (source / "a.hip").read_bytes() == PORTED_KERNEL
    assert not (source / NAME).exists()


def test_in_place_twice_changes_nothing(tmp_path: Path) -> None:
    """Forced, on the ported tree with its support headers and links."""
    shuffle = "#include <cuda_runtime.h>\n__global__ void k(int *x) { *x = __shfl_sync(~0u, *x, 1); }\n"
    source = make_tree(tmp_path / "src", {"x/a.cu": shuffle, "b.cu": "->x/a.cu", "c.txt": "x"})
    port_in_place(Request(source, Choices(), 1, force=True))
    once = listing(source)
    assert once["b.hip"] == "->x/a.hip"
    assert "porter/warp32.hpp" in once
    port_in_place(Request(source, Choices(), 1, force=True))
    assert listing(source) == once
