"""Trees: what is written, what is copied, and what a second run does."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from porter.engine.support import contents, header_bytes, header_names
from porter.errors import Unusable
from porter.model import Settings
from porter.project.manifest import NAME
from tests.tree.trees import KERNEL, PORTED_KERNEL, codes, listing, make_tree, port

SHUFFLE = "__global__ void k(float *x) { x[0] = __shfl_xor_sync(0xffffffff, x[0], 1); }\n"


def times(root: Path) -> dict[str, tuple[int, int]]:
    """Inode and time of each file, which say whether it was written."""
    return {
        str(path.relative_to(root)): (path.stat().st_ino, path.stat().st_mtime_ns)
        for path in root.rglob("*")
        if path.is_file()
    }


def test_a_repository(tmp_path: Path) -> None:
    """Sources are ported and renamed, headers keep their names, everything else is byte for byte the same."""
    blob = bytes(range(256)) * 10
    source = make_tree(
        tmp_path / "src",
        {
            "main.cu": b'#include "lib/kernels.cu"\n#include "lib/util.cuh"\nint main() { cudaFree(0); }\n',
            "lib/kernels.cu": KERNEL,
            "lib/util.cuh": "#pragma once\ninline void f() { cudaDeviceSynchronize(); }\n",
            "data/blob.bin": blob,
            "README.md": "cudaMalloc stays here\r\n",
            ".git/HEAD": "ref",
            "link.md": "->README.md",
            "latest.cu": "->lib/kernels.cu",
        },
    )
    (source / "empty").mkdir()
    (source / "run.sh").write_text("#!/bin/sh\n")
    (source / "run.sh").chmod(0o751)
    (source / "lib" / "util.cuh").chmod(0o444)
    out = tmp_path / "out"
    answer = port(source, out)
    found = listing(out)
    assert found.pop(NAME)
    assert found == {
        "main.hip": b"#include <hip/hip_runtime.h>\n"
        b'#include "lib/kernels.hip"\n#include "lib/util.cuh"\nint main() { hipFree(0); }\n',
        "lib/kernels.hip": PORTED_KERNEL,
        "lib/util.cuh": b"#pragma once\ninline void f() { hipDeviceSynchronize(); }\n",
        "data/blob.bin": blob,
        "README.md": b"cudaMalloc stays here\r\n",
        "run.sh": b"#!/bin/sh\n",
        "link.md": "->README.md",
        "latest.hip": "->lib/kernels.hip",
    }
    assert (out / "empty").is_dir()
    assert (out / "run.sh").stat().st_mode & 0o777 == 0o751
    assert (out / "lib" / "util.cuh").stat().st_mode & 0o777 == 0o444
    assert codes(answer) == [("latest.cu", "E114")]


def test_support_headers_are_written_once_and_found_from_any_depth(tmp_path: Path) -> None:
    """A file that needs one includes it by its way to the root."""
    source = make_tree(tmp_path / "src", {"a.cu": SHUFFLE, "x/y/b.cu": SHUFFLE, "c.cu": KERNEL})
    out = tmp_path / "out"
    port(source, out)
    assert b'#include "porter/warp32.hpp"' in (out / "a.hip").read_bytes()
    assert b'#include "../../porter/warp32.hpp"' in (out / "x/y/b.hip").read_bytes()
    assert (out / "porter" / "warp32.hpp").is_file()
    assert b"warp32" not in (out / "c.hip").read_bytes()


def test_no_support_headers_where_none_are_needed(tmp_path: Path) -> None:
    """A port that needs none gets no folder of ours."""
    port(make_tree(tmp_path / "src", {"a.cu": KERNEL}), tmp_path / "out")
    assert sorted(listing(tmp_path / "out")) == ["a.hip", NAME]


def test_porting_the_port_changes_nothing(tmp_path: Path) -> None:
    """A ported tree is a fixed point, its support headers and manifest included."""
    source = make_tree(tmp_path / "src", {"a.cu": SHUFFLE, "x/b.cu": KERNEL, "x/c.cuh": "#include <cuda.h>\n"})
    first, second = tmp_path / "one", tmp_path / "two"
    port(source, first)
    answer = port(first, second)
    one, two = listing(first), listing(second)
    one.pop(NAME)
    two.pop(NAME)
    assert two == one
    assert answer.report.counts.rewritten == 0
    assert codes(answer) == []


@pytest.mark.parametrize("include", sorted(header_names()))
def test_every_support_header_is_known_as_ours(tmp_path: Path, include: str) -> None:
    """As it is now, and as an older porter may have written it: a port of a port brings it up to date."""
    source = make_tree(tmp_path / "src", {"a.cu": KERNEL, include: header_bytes(include)})
    assert codes(port(source, tmp_path / "one")) == []
    assert (tmp_path / "one" / include).read_bytes() == contents({include})[include]
    (source / "porter/warp32.hpp").write_bytes(b"#define PORTER_WARP32_HPP\n")
    assert codes(port(source, tmp_path / "two")) == []
    assert (tmp_path / "two" / "porter/warp32.hpp").read_bytes() == header_bytes("porter/warp32.hpp")


def test_the_result_does_not_depend_on_the_number_of_processes(tmp_path: Path) -> None:
    """Same input, same bytes, the manifest included."""
    files = {f"d{number % 3}/f{number}.cu": KERNEL + b"// %d\n" % number for number in range(12)}
    source = make_tree(tmp_path / "src", files)
    port(source, tmp_path / "one", jobs=1)
    port(source, tmp_path / "two", jobs=2)
    assert listing(tmp_path / "one") == listing(tmp_path / "two")


def test_a_second_run_does_nothing(tmp_path: Path) -> None:
    """Nothing is written, and the report is the same."""
    source = make_tree(tmp_path / "src", {"a.cu": SHUFFLE, "b.h": KERNEL, "c.txt": "x", "d": "->c.txt"})
    out = tmp_path / "out"
    first = port(source, out)
    before = times(out)
    second = port(source, out)
    assert times(out) == before
    assert second.run.reused == 3
    assert second.report.findings == first.report.findings
    assert second.report.kernels == first.report.kernels


def test_a_second_run_touches_only_what_changed(tmp_path: Path) -> None:
    """One edited source: one written file, and the manifest."""
    source = make_tree(tmp_path / "src", {"a.cu": KERNEL, "b.cu": KERNEL, "c.txt": "x"})
    out = tmp_path / "out"
    port(source, out)
    before = times(out)
    (source / "a.cu").write_bytes(KERNEL + b"// more\n")
    answer = port(source, out)
    after = times(out)
    assert {name for name in after if after[name] != before.get(name)} == {"a.hip", NAME}
    assert answer.run.reused == 2
    assert (out / "a.hip").read_bytes() == PORTED_KERNEL + b"// more\n"


@pytest.mark.parametrize(
    ("macro", "use", "wanted"),
    [
        ("#define cudaFree hipFree", "cudaFree(p);", "hipFree(p);"),
        ("#define cudaFree(p) \\\n  hipFree((void *)(p))", "cudaFree(p);", "hipFree(p);"),
        ("#define cudaStreamPerThread ((hipStream_t)2)", "wait(cudaStreamPerThread);", "wait(hipStreamPerThread);"),
        ("#define CUDA_R_32F HIP_R_32F", "take(CUDA_R_32F);", "take(HIP_R_32F);"),
        ("#define cudaFree hip_free", "cudaFree(p);", "cudaFree(p);"),
    ],
)
def test_a_header_for_amd_that_stands_for_the_names(tmp_path: Path, macro: str, use: str, wanted: str) -> None:
    """Where clang has no answer, for nobody defines HAVE_IT: what a macro makes a name of HIP's is CUDA's besides."""
    tree = {
        "hip/to_hip.h": f"#pragma once\n{macro}\n",
        "a.cc": f'#if HAVE_IT == 1\n#ifdef MY_OWN_SWITCH\n#include "hip/to_hip.h"\n#else\n'
        f"#include <cuda_runtime_api.h>\n#endif\nvoid f(int *p) {{ {use} }}\n#endif\n",
    }
    port(make_tree(tmp_path / "src", tree), tmp_path / "out")
    ported = (tmp_path / "out" / "a.cc").read_text()
    assert wanted in ported
    assert (tmp_path / "out" / "hip" / "to_hip.h").read_text() == tree["hip/to_hip.h"]


OTHER_VENDOR = """#pragma once
#define CUBLAS_STATUS_SUCCESS mublas_success
#define CUDA_SUCCESS mu_success
#define CU_MEM_ALLOCATION_TYPE_PINNED mu_pinned
"""


@pytest.mark.parametrize(
    ("use", "wanted"),
    [
        ("#define CHECK(e) ((e) == CUBLAS_STATUS_SUCCESS)", "HIPBLAS_STATUS_SUCCESS"),
        ("#define CHECK(e) \\\n  same(e, CUDA_SUCCESS, #e)", "hipSuccess"),
        ("void f(T t) { t.type = CU_MEM_ALLOCATION_TYPE_PINNED; }", "hipMemAllocationTypePinned"),
    ],
)
@pytest.mark.parametrize("taken", [False, True])
def test_constants_that_a_header_for_another_vendor_gives_its_own_values(
    tmp_path: Path, use: str, wanted: str, taken: bool
) -> None:
    """In the text of a macro, and where clang knows no such name, whose it is hangs on what clang reads."""
    switch = "#define USE_OTHER\n" if taken else ""
    tree = {
        "other.h": OTHER_VENDOR,
        "a.cuh": f'#pragma once\n{switch}#ifdef USE_OTHER\n#include "other.h"\n#else\n#include <cuda_runtime.h>\n'
        f"#include <cublas_v2.h>\n#endif\n{use}\n",
        "a.cu": '#include "a.cuh"\n__global__ void k() {}\n',
    }
    port(make_tree(tmp_path / "src", tree), tmp_path / "out")
    assert (wanted in (tmp_path / "out" / "a.cuh").read_text()) != taken


def test_a_source_for_nvcc_with_much_of_hip_in_a_branch(tmp_path: Path) -> None:
    """The branch is a switch of the project's; a `.cu` file is CUDA's, however little of CUDA's names it has."""
    tree = {
        "to_hip.h": "#define CUDART_INF HIP_INF\n",
        "a.cu": "#if HAVE_IT == 1\n#ifdef __IS_HIP_COMPILE__\n#include <hip/hip_runtime.h>\n#include <hip/hip_fp16.h>\n"
        '#include "to_hip.h"\n#else\n#include <math_constants.h>\n#endif\n'
        "__global__ void k(double *x) { x[0] = CUDART_INF; }\n#endif\n",
    }
    port(make_tree(tmp_path / "src", tree), tmp_path / "out")
    assert "x[0] = HIP_INF;" in (tmp_path / "out" / "a.hip").read_text()


def test_a_changed_header_is_seen_by_its_includers(tmp_path: Path) -> None:
    """A shim that appears in a header changes what a name means in the files that include it."""
    use = b'#include "shim.h"\nvoid f(int *p) { cudaFree(p); }\n'
    source = make_tree(tmp_path / "src", {"a.cu": use, "shim.h": "\n", "other.cu": KERNEL})
    out = tmp_path / "out"
    port(source, out)
    assert b"hipFree(p)" in (out / "a.hip").read_bytes()
    (source / "shim.h").write_text("#define cudaFree hip_free_of_ours\n")
    answer = port(source, out)
    assert b"cudaFree(p)" in (out / "a.hip").read_bytes()
    assert answer.run.reused == 1


def test_a_header_is_done_again_for_what_it_may_be_parsed_through(tmp_path: Path) -> None:
    """A file of its folder that includes it, and what that one includes; not all that are connected with it."""
    files = {
        "lib/h.cuh": b"inline T of_h(T x) { return x; }\n",
        "lib/near.cu": b'#include "types.h"\n#include "h.cuh"\n',
        "lib/types.h": b"typedef float T;\n",
        "app/far.cu": b'#include "../lib/h.cuh"\n' + KERNEL,
    }
    source = make_tree(tmp_path / "src", files)
    out = tmp_path / "out"
    port(source, out)
    for changed, reused in (("app/far.cu", 3), ("lib/near.cu", 1), ("lib/types.h", 1)):
        with (source / changed).open("ab") as file:
            file.write(b"// more\n")
        assert port(source, out).run.reused == reused, changed


def test_other_settings_do_everything_again(tmp_path: Path) -> None:
    """A setting that could change any file is no reason to trust the last run."""
    source = make_tree(tmp_path / "src", {"a.cu": KERNEL, "b.txt": ""})
    out = tmp_path / "out"
    port(source, out)
    before = times(out)
    answer = port(source, out, defines=("X",))
    assert answer.run.reused == 0
    after = times(out)
    assert {name for name in after if after[name] != before[name]} == {NAME}


def test_removed_sources_take_their_outputs_along(tmp_path: Path) -> None:
    """Only what porter wrote is removed; folders that become empty go too."""
    source = make_tree(tmp_path / "src", {"a.cu": KERNEL, "x/y/b.cu": KERNEL, "x/l": "->y", "c.cu": KERNEL})
    out = tmp_path / "out"
    port(source, out)
    (out / "c.hip").write_bytes(b"mine now\n")
    (out / "notes.txt").write_bytes(b"mine\n")
    for name in ("x/y/b.cu", "x/l", "c.cu"):
        (source / name).unlink()
    (source / "x" / "y").rmdir()
    (source / "x").rmdir()
    answer = port(source, out)
    assert sorted(listing(out)) == ["a.hip", "c.hip", "notes.txt", NAME]
    assert not (out / "x").exists()
    assert codes(answer) == [("c.cu", "E107")]
    (out / "c.hip").unlink()
    assert codes(port(source, out)) == []


def test_edited_outputs_are_kept_until_forced(tmp_path: Path) -> None:
    """The user's edit stays, each run says so, and --force overwrites."""
    source = make_tree(tmp_path / "src", {"a.cu": KERNEL, "b.cu": KERNEL})
    out = tmp_path / "out"
    port(source, out)
    (out / "a.hip").write_bytes(b"edited\n")
    assert codes(port(source, out)) == []
    (source / "a.cu").write_bytes(KERNEL + b"// more\n")
    for _ in range(2):
        assert codes(port(source, out)) == [("a.cu", "E106")]
        assert (out / "a.hip").read_bytes() == b"edited\n"
    assert codes(port(source, out, force=True)) == []
    assert (out / "a.hip").read_bytes() == PORTED_KERNEL + b"// more\n"
    assert codes(port(source, out)) == []


TURNED: dict[str, dict[str, bytes | str]] = {
    "a link": {"x": "->b.txt"},
    "a file": {"x": "words"},
    "a source": {"x.cu": KERNEL},
    "a source that is a link": {"x.cu": "->sub/a.cu"},
    "a folder": {"x/a.cu": KERNEL, "x/y/b.txt": "b"},
    "nothing": {},
}
_BESIDE: dict[str, bytes | str] = {"b.txt": "b", "sub/a.cu": KERNEL}


@pytest.mark.parametrize(("before", "after"), list(itertools.permutations(TURNED, 2)))
def test_what_turned_into_something_else(tmp_path: Path, before: str, after: str) -> None:
    """A link that became a file, a file that became a folder: nobody edited anything, and the port is as from new."""
    source, out = make_tree(tmp_path / "src", {**_BESIDE, **TURNED[before]}), tmp_path / "out"
    port(source, out)
    shutil.rmtree(source)
    make_tree(source, {**_BESIDE, **TURNED[after]})
    assert codes(port(source, out)) == codes(port(source, tmp_path / "new"))
    assert listing(out) == listing(tmp_path / "new")


@pytest.mark.parametrize(("before", "after"), list(itertools.permutations(["a link", "a file", "a folder"], 2)))
def test_what_turned_into_something_else_and_was_edited(tmp_path: Path, before: str, after: str) -> None:
    """It stays."""
    source, out = make_tree(tmp_path / "src", {**_BESIDE, **TURNED[before]}), tmp_path / "out"
    port(source, out)
    edited = out / ("x/y/b.txt" if before == "a folder" else "x")
    edited.unlink()
    edited.write_bytes(b"mine")
    shutil.rmtree(source)
    make_tree(source, {**_BESIDE, **TURNED[after]})
    with contextlib.suppress(Unusable):  # it stands where a folder has to go
        assert "E106" in {code for _, code in codes(port(source, out))}
    assert edited.read_bytes() == b"mine"


def test_an_edit_that_equals_the_new_port_is_taken(tmp_path: Path) -> None:
    """Nothing to merge, nothing to report."""
    source = make_tree(tmp_path / "src", {"a.cu": KERNEL})
    out = tmp_path / "out"
    port(source, out)
    (source / "a.cu").write_bytes(KERNEL + b"// more\n")
    (out / "a.hip").write_bytes(PORTED_KERNEL + b"// more\n")
    assert codes(port(source, out)) == []


def test_missing_outputs_come_back(tmp_path: Path) -> None:
    """An output that somebody deleted is written again."""
    source = make_tree(tmp_path / "src", {"a.cu": KERNEL, "b.txt": "x", "l": "->b.txt"})
    out = tmp_path / "out"
    port(source, out)
    before = listing(out)
    for name in ("a.hip", "b.txt", "l"):
        (out / name).unlink()
    port(source, out)
    assert listing(out) == before


def test_foreign_files_in_the_way_are_kept(tmp_path: Path) -> None:
    """A file of the user where an output has to go is not overwritten, nor is a link followed."""
    source = make_tree(tmp_path / "src", {"a.cu": KERNEL})
    out = tmp_path / "out"
    port(source, out)
    (tmp_path / "precious").write_bytes(b"precious")
    (out / "b.hip").symlink_to(tmp_path / "precious")
    (source / "b.cu").write_bytes(KERNEL)
    assert codes(port(source, out)) == [("b.cu", "E106")]
    assert (tmp_path / "precious").read_bytes() == b"precious"


def test_names_that_collide_are_reported(tmp_path: Path) -> None:
    """Both sources are in the tree, and the finding says under which name."""
    source = make_tree(tmp_path / "src", {"a.cu": KERNEL, "a.hip": "int x;\n", "b.cpp": '#include "a.cu"\n'})
    answer = port(source, tmp_path / "out")
    assert (tmp_path / "out" / "a.cu.hip").read_bytes() == PORTED_KERNEL
    assert (tmp_path / "out" / "a.hip").read_bytes() == b"int x;\n"
    assert (tmp_path / "out" / "b.cpp").read_bytes() == b'#include "a.cu.hip"\n'
    assert [(f.path, f.entry.code) for f in answer.report.findings if f.entry.code == "E111"] == [("a.cu", "E111")]


def test_excluded_sources_keep_name_and_bytes(tmp_path: Path) -> None:
    """What is not ported is not renamed, and includes of it stay."""
    source = make_tree(tmp_path / "src", {"a.cu": KERNEL, "b.cu": '#include "a.cu"\n'})
    port(source, tmp_path / "out", exclude=("a.cu",))
    assert (tmp_path / "out" / "a.cu").read_bytes() == KERNEL
    assert b'"a.cu"' in (tmp_path / "out" / "b.hip").read_bytes()


def test_build_files_are_converted_or_reported(tmp_path: Path) -> None:
    """Converted with findings of their own; kinds that are not converted are reported once, where CUDA is mentioned."""
    files: dict[str, bytes | str] = {
        "CMakeLists.txt": "project(x)\nenable_language(CUDA)\nadd_library(t a.cu)\n",
        "sub/CMakeLists.txt": "message(CUDA)\n",
        "plain/CMakeLists.txt": "project(y)\n",
        "kept/CMakeLists.txt": "enable_language(CUDA)\n",
        "a.cu": KERNEL,
        "meson.build": "project('x', 'cuda')\n",
        "sub/meson.build": "cuda = 1\n",
        "train.py": "x.cuda()\n",
        "build.sh": "make\n",
    }
    source = make_tree(tmp_path / "src", files)
    answer = port(source, tmp_path / "out", exclude=("kept/",))
    found = [(path, entry.code) for path, entry in answer.report.findings if path != "a.cu"]
    assert found == [("CMakeLists.txt", "K101"), ("CMakeLists.txt", "K110"), ("meson.build", "E204")]
    expected = "project(x)\nenable_language(HIP)\nadd_library(t a.hip)\n"
    assert (tmp_path / "out" / "CMakeLists.txt").read_text() == expected
    assert (tmp_path / "out" / "kept" / "CMakeLists.txt").read_text() == "enable_language(CUDA)\n"
    (meson,) = (f.entry for f in answer.report.findings if f.entry.code == "E204")
    assert (meson.line, meson.column) == (1, 15)
    assert "1 more" in meson.message
    again = port(source, tmp_path / "out", exclude=("kept/",))
    assert codes(again) == codes(answer)
    assert again.report.header.reused == 9


def test_the_manifest_says_what_was_done(tmp_path: Path) -> None:
    """Hashes, status, findings and kernels per file; nothing that changes from run to run."""
    source = make_tree(tmp_path / "src", {"a.cu": KERNEL, "b.txt": "x"})
    port(source, tmp_path / "out")
    document = json.loads((tmp_path / "out" / NAME).read_text())
    first, second = document["files"]
    assert (first["path"], first["output"], first["status"]) == ("a.cu", "a.hip", "ported")
    assert first["kernels"][0]["qualified"] == "scale"
    assert first["kernels"][0]["launches"][0]["block"] == "64"
    assert first["kernels"][0]["manual"] == 0
    assert {finding[2] for finding in first["findings"]} >= {"A001", "A010"}
    assert (second["status"], second["sha256"]) == ("copied", second["output_sha256"])
    assert document["complete"]
    assert str(tmp_path) not in json.dumps(document)


def test_names_that_are_not_utf8_survive(tmp_path: Path) -> None:
    """The manifest keeps them, so that the second run finds them."""
    source = tmp_path / "src"
    source.mkdir()
    Path(os.fsdecode(bytes(source) + b"/\xff.cu")).write_bytes(KERNEL)
    port(source, tmp_path / "out")
    assert Path(os.fsdecode(bytes(tmp_path) + b"/out/\xff.hip")).read_bytes() == PORTED_KERNEL
    assert port(source, tmp_path / "out").run.reused == 1


def test_a_single_file_knows_its_headers(tmp_path: Path) -> None:
    """Names that a local header declares are the project's in a port of one file, too."""
    source = make_tree(
        tmp_path / "src",
        {
            "a.cu": '#include "inc/shim.h"\nint g(int *p) { return cudaFree(p); }\n',
            "inc/shim.h": "#define cudaFree hip_free_of_ours\n",
        },
    )
    port(source / "a.cu", tmp_path / "a.hip")
    assert b"cudaFree(p)" in (tmp_path / "a.hip").read_bytes()


@pytest.mark.parametrize(
    "change",
    [
        lambda path: path.write_text("{"),
        lambda path: path.write_text('{"schema": 1}'),
        lambda path: path.write_text(path.read_text().replace('"none"', '"nothing"')),
        lambda path: path.write_text(path.read_text().replace('"callees"', '"calls"')),
        lambda path: path.write_text(path.read_text().replace('"launches":[{', '"launches":[{"x":1,')),
    ],
)
def test_a_damaged_manifest_is_an_error(tmp_path: Path, change: Callable[[Path], int]) -> None:
    """It is named, and nothing is overwritten."""
    from porter.errors import Unusable

    source = make_tree(tmp_path / "src", {"a.cu": KERNEL})
    out = tmp_path / "out"
    port(source, out)
    change(out / NAME)
    with pytest.raises(Unusable, match=f"{out}"):
        port(source, out)
    assert (out / "a.hip").read_bytes() == PORTED_KERNEL


def test_ignored_and_custom_names(tmp_path: Path) -> None:
    """Names of the project that look like CUDA's stay without a finding; names of its own are renamed."""
    text = "void f(int *p) { cudaFree(p); cudaQuiteUnknown(p); __syncwarp(); MY_STREAM s; MY_STREAMS t; }\n"
    source = make_tree(tmp_path / "src", {"a.h": text})
    engine = Settings(custom_names=(("MY_STREAM", "MY_HIP_STREAM"),))
    ignored = ("cudaFree", "cudaQuiteUnknown", "__syncwarp")
    answer = port(source, tmp_path / "out", engine=engine, ignore_names=ignored)
    assert (tmp_path / "out" / "a.h").read_text() == text.replace("MY_STREAM s", "MY_HIP_STREAM s")
    assert codes(answer) == []


def test_a_port_keeps_its_lanes_when_it_is_ported_again(tmp_path: Path) -> None:
    """The names are HIP's now, and the code still counts by 32 beside 64 columns, which V106 took for a slip."""
    both = (
        b"__global__ void k(float *x) { int column = threadIdx.x & 63, warp = threadIdx.x >> 5; x[column] = warp; }\n"
    )
    port(make_tree(tmp_path / "src", {"a.cu": both}), tmp_path / "out")
    port(tmp_path / "out", tmp_path / "again")
    assert (tmp_path / "again" / "a.hip").read_bytes() == (tmp_path / "out" / "a.hip").read_bytes()
    assert b"threadIdx.x >> 5" in (tmp_path / "again" / "a.hip").read_bytes()


def test_a_port_of_hip_stays_hip_when_it_is_ported_again(tmp_path: Path) -> None:
    hip = (
        b"#include <hip/hip_runtime.h>\n__global__ void k(unsigned long long *x) { *x = __ballot(threadIdx.x & 1); }\n"
    )
    port(make_tree(tmp_path / "src", {"a.hip": hip, "b.cu": KERNEL}), tmp_path / "out")
    port(tmp_path / "out", tmp_path / "again")
    assert (tmp_path / "again" / "a.hip").read_bytes() == hip
    assert (tmp_path / "again" / "b.hip").read_bytes() == (tmp_path / "out" / "b.hip").read_bytes()


@pytest.mark.parametrize("folder", ["", "src/", "src/cuda/"])
def test_operators_of_our_own_headers_change_nothing_when_a_port_is_ported_again(tmp_path: Path, folder: str) -> None:
    """The half operators that a port brings along are templates, and were taken for the project's (D017)."""
    halves = (
        "#include <cuda_fp16.h>\nhalf f(half a, half b) { return a + b; }\n"
        "__global__ void k(float *x) { x[threadIdx.x / 4] = blockIdx.x * 2; }\n"
    )
    port(make_tree(tmp_path / "src", {f"{folder}a.cu": halves}), tmp_path / "out")
    port(tmp_path / "out", tmp_path / "again")
    ported = (tmp_path / "out" / folder / "a.hip").read_bytes()
    assert b"half_host.hpp" in ported
    assert (tmp_path / "again" / folder / "a.hip").read_bytes() == ported


def test_a_header_behind_a_switch_of_the_projects_is_included_besides(tmp_path: Path) -> None:
    """Nobody sets the switch for AMD when the port is built."""
    text = (
        "#ifdef MY_USE_HIP\n#include <hip/hip_runtime.h>\n#include <hip/hip_fp16.h>\n#endif\n"
        "__global__ void k(float *x) { *x = __half2float(x[0]); }\n"
    )
    port(make_tree(tmp_path / "src", {"a.cu": text}), tmp_path / "out")
    port(tmp_path / "out", tmp_path / "again")
    ported = (tmp_path / "out" / "a.hip").read_text()
    assert ported.startswith("#include <hip/hip_runtime.h>\n")
    assert (tmp_path / "again" / "a.hip").read_text() == ported


@pytest.mark.parametrize(
    ("header", "added"),
    [
        ("#include <cublas_v2.h>\n", True),
        ('#include "inner.h"\n', True),
        ("#include <cuda_runtime.h>\n", False),
        ("#include <cublas_v2.h>\n#include <cuda_bf16.h>\n", False),
        ("#include <cublas_v2.h>\ninline void f(__nv_bfloat16 *p) {}\n", False),  # it gets the type's header itself
    ],
)
def test_a_type_that_came_through_a_header_of_the_project(tmp_path: Path, header: str, added: bool) -> None:
    files = {
        "own.h": header,
        "inner.h": "#include <cublas_v2.h>\n",
        "k.cu": '#include "own.h"\n__global__ void k(__nv_bfloat16 *p) { p[0] = p[1]; }\n',
    }
    port(make_tree(tmp_path / "src", files), tmp_path / "out")
    assert ("#include <hip/hip_bf16.h>" in (tmp_path / "out" / "k.hip").read_text()) is added
