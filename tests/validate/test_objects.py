"""Cases that name machine code, and the listing of what a file holds."""

from __future__ import annotations

import json
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pytest
from porter.validation.cases.case import CaseError
from porter.validation.cases.file import load_cases
from porter.validation.devices.listing import list_objects, listing_json, listing_text, narrowed
from porter.validation.draft.machine import draft_objects, is_machine_code
from porter.validation.toolchain.clang import find_clang
from porter.validation.toolchain.headers import include_options
from porter.validation.toolchain.result import Missing

import porter
from porter.errors import Unusable
from tests.cli.command import Result
from tests.cli.command import porter as command
from tests.kept import folder_made_by
from tests.outside import require

SOURCE = """
template <typename T> __global__ void scale(const T* x, T* out, T by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = by * x[i];
}
template __global__ void scale<float>(const float*, float*, float, int);
template __global__ void scale<int>(const int*, int*, int, int);
extern "C" __global__ void reversed(int* data) {
  __shared__ int s[64];
  s[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = s[63 - threadIdx.x];
}
"""
CASES = """
schema = "porter-case/1"
object = "{name}"
reference = "reference.py:scaled"
[[case]]
kernel = "scale<float>"
name = "right"
sweep = {{ n = "awkward" }}
grid = "ceil_div(n, 64)"
block = 64
arguments = ["in x: float32[n]", "out out: float32[n]", "scalar by: float32 = 3", "scalar n: int32 = n"]
[[case]]
kernel = "scale<int>"
name = "wrong"
grid = 1
block = 64
arguments = ["in x: int32[64]", "out out: int32[64]", "scalar by: int32 = 2", "scalar n: int32 = 64"]
[[case]]
kernel = "scale<float>"
name = "outside"
grid = 1
block = 64
arguments = ["in x: float32[63]", "out out: float32[63]", "scalar by: float32 = 3", "scalar n: int32 = 64"]
[[case]]
kernel = "nothing"
grid = 1
block = 64
arguments = ["inout x: float32[63]"]
"""


@pytest.fixture(scope="module")
def library() -> Path:
    """A fat object file with two targets, and cases for it."""
    clang = find_clang()
    if isinstance(clang, Missing):
        pytest.skip(clang.reason)
    require("ld.lld")
    require("clang-offload-bundler")
    require("llvm-objdump")
    words = [clang.path, "-x", "hip", "-std=c++17", "-O2", f"--rocm-device-lib-path={clang.bitcode}",
             "-mcode-object-version=5", "-D__HIP_PLATFORM_AMD__", *include_options(clang.headers), "-include",
             "hip/hip_runtime.h", "--offload-arch=gfx90a", "--offload-arch=gfx942",
             "--offload-compress", "-c"]  # fmt: skip

    def fill(folder: Path) -> None:
        (folder / "k.hip").write_text(SOURCE)
        (folder / "k.case.toml").write_text(CASES.format(name="k.o"))
        (folder / "reference.py").write_text("def scaled(x, by):\n    return 3.0 * x\n")
        whole = [*words, str(folder / "k.hip"), "-o", str(folder / "k.o")]
        made = subprocess.run(whole, capture_output=True, text=True, check=False)
        assert made.returncode == 0, made.stderr

    return folder_made_by(fill, *words, SOURCE, CASES) / "k.o"


@pytest.mark.slow
class TestListing:
    """`porter objects`."""

    def test_kernels_of_all_targets(self, library: Path) -> None:
        listing = list_objects(library)
        assert listing.objects == (("gfx90a", 1), ("gfx942", 1))
        assert [(k.target, k.name) for k in listing.kernels] == [
            (target, name) for target in ("gfx90a", "gfx942") for name in ("reversed", "scale<float>", "scale<int>")
        ]
        reversing = narrowed(listing, "gfx942", "reversed").kernels[0]
        assert (reversing.lds, reversing.wave, reversing.most_threads) == (256, 64, 1024)
        assert [size for _, size in narrowed(listing, "gfx942", "scale<float>").kernels[0].arguments] == [8, 8, 4, 4]
        assert all(k.vgprs > 0 for k in listing.kernels)
        assert "  256" in listing_text(listing) and len(listing_json(listing)["kernels"]) == 6

    def test_one_target_reads_no_other(self, library: Path) -> None:
        listing = list_objects(library, "gfx942")
        assert {k.target for k in listing.kernels} == {"gfx942"} and dict(listing.objects)["gfx90a"] == 1

    def test_a_wheel(self, library: Path, tmp_path: Path) -> None:
        with zipfile.ZipFile(tmp_path / "w.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
            wheel.write(library, "package/_C.so")
            wheel.writestr("package/other.so", b"\x7fELF nothing")
            wheel.writestr("package/__init__.py", "")
        listing = list_objects(tmp_path / "w.whl", "gfx942")
        assert {k.member for k in listing.kernels} == {"package/_C.so"} and len(listing.kernels) == 3

    def test_an_archive(self, library: Path, tmp_path: Path) -> None:
        content = library.read_bytes()
        head = b"k.o/".ljust(16) + b"0".ljust(12) + b"0".ljust(6) * 2 + b"644".ljust(8) + str(len(content)).encode()
        (tmp_path / "k.a").write_bytes(b"!<arch>\n" + head.ljust(58) + b"`\n" + content)
        assert len(list_objects(tmp_path / "k.a").kernels) == 6

    def test_the_command(self, library: Path, tmp_path: Path) -> None:
        done = command("objects", "--format", "json", library)
        assert done.code == 0 and len(json.loads(done.stdout)["kernels"]) == 6
        (tmp_path / "plain").write_text("nothing")
        done = command("objects", "--format", "json", tmp_path / "plain")
        assert done.code == 2 and "neither an ELF file nor an offload bundle" in done.stderr


def test_files_without_code(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "w.whl", "w") as wheel:
        wheel.writestr("a.py", "")
    with pytest.raises(Unusable, match="no libraries or code objects in it"):
        list_objects(tmp_path / "w.whl")
    with pytest.raises(Unusable, match="No such file"):
        list_objects(tmp_path / "none.so")


@pytest.mark.slow
def test_cases(library: Path) -> None:
    """The machine code is compared with the reference; what is wrong is said, and there is no original."""
    done = porter.validate(library.parent, schedules=2, jobs=1)
    assert done.statuses == {"right": "passed", "wrong": "wrong-values", "outside": "fault", "nothing": "not-run"}
    right = next(case for case in done.report.cases if case.name == "right")
    assert [side.device for side in right.sides] == ["gfx942"]
    reasons = {case.name: case.reason for case in done.report.cases}
    assert "0 bytes after the end of argument 0 (252 bytes)" in reasons["outside"]
    assert "see `porter objects`" in reasons["nothing"]
    on_ptx = porter.validate(library.parent, cases=["right"], devices=["ptx"], jobs=1)
    assert on_ptx.statuses == {"right": "not-run"}


@pytest.mark.slow
def test_drafts(library: Path, tmp_path: Path) -> None:
    """Mangled names tell types, others only sizes."""
    text = draft_objects(library, ("scale<int>", "reversed")).text
    assert '  "in p0: int32[n]",\n  "inout p1: int32[n]",\n  "scalar p2: int32 = TODO",' in text
    assert '  "inout p0: TODO[n]",' in text and is_machine_code(library)
    with pytest.raises(Unusable, match="no kernel nothing for gfx942 or gfx90a; there are 3 others"):
        draft_objects(library, ("nothing",))


@pytest.mark.slow
def test_from_python(library: Path) -> None:
    """All kernels of a library are there under their names."""
    import numpy as np

    module = porter.Device("gfx942").load(library)
    assert set(module.kernels) == {"scale<float>", "scale<int>", "reversed"}
    data = np.arange(64, dtype=np.int32)
    module["reversed"][1, 64](data)
    assert data.tolist() == list(range(63, -1, -1))


def test_a_source_or_an_object(tmp_path: Path) -> None:
    (tmp_path / "k.o").write_bytes(b"")
    (tmp_path / "k.case.toml").write_text(CASES.format(name="k.o").replace("[[case]]", 'source = "k.o"\n[[case]]', 1))
    with pytest.raises(CaseError, match="a source or an object, not both"):
        load_cases(tmp_path / "k.case.toml")


@pytest.mark.slow
class TestCommandLine:
    """`porter validate --object`: one kernel, without a case file."""

    def run(self, folder: Path, *words: str) -> Result:
        return command("validate", *words, folder=folder)

    def test_arrays_and_what_they_have_to_become(self, library: Path, tmp_path: Path) -> None:
        x = np.random.default_rng(1).standard_normal(1000).astype(np.float32)
        np.save(tmp_path / "x.npy", x)
        np.save(tmp_path / "right.npy", 3 * x)
        np.save(tmp_path / "wrong.npy", 3 * x + (np.arange(1000) == 7))
        words = ["--object", str(library), "--kernel", "scale<float>", "--grid", "ceil_div(n, 64)", "--size", "n=1000"]
        for row in ("in x: float32[n] = x.npy", "out y: float32[n]", "scalar by: float32 = 3", "scalar n: int32 = n"):
            words += ["--argument", row]
        right = self.run(tmp_path, *words, "--expect", "y=right.npy")
        assert right.code == 0 and "passed" in right.stdout, right.stdout + right.stderr
        wrong = self.run(tmp_path, *words, "--expect", "y=wrong.npy")
        assert wrong.code == 1 and "wrong-values" in wrong.stdout and "y[7]" in wrong.stdout, wrong.stdout
        (tmp_path / "reference.py").write_text("def scaled(x, by):\n    return float(by) * x\n")
        assert self.run(tmp_path, *words, "--reference", "reference.py:scaled").code == 0
        np.save(tmp_path / "x.npy", x[1:])
        short = self.run(tmp_path, *words, "--expect", "y=right.npy")
        assert short.code == 2 and "float32[999]; the case says float32[1000]" in short.stdout + short.stderr

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (("--object", "{library}"), "which kernel?"),
            (("--object", "{library}", "--kernel", "scale<float>"), "--argument 'in p0: float32[n]'"),
            (("--object", "{library}", "--kernel", "none"), "no kernel none"),
            (("--object", "{library}", "--kernel", "k", "--argument", "inout x: int32[64]"), "says what is right"),
            (("--object", "{library}", "x.case.toml", "--kernel", "k"), "takes no case files"),
            (("--kernel", "scale<float>"), "go with --object"),
        ],
    )
    def test_what_is_missing_is_said(self, library: Path, tmp_path: Path, words: tuple[str, ...], said: str) -> None:
        done = self.run(tmp_path, *(word.format(library=library) for word in words))
        assert done.code == 2 and said in done.stderr.replace("\n", " "), done.stdout + done.stderr
