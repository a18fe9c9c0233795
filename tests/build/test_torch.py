"""PyTorch extensions built without a ROCm build of PyTorch: its own headers, converted by its own hipify."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from porter.validation.build.compile import Compiled, Tool, common_options, compile_unit
from porter.validation.build.includes import Headers
from porter.validation.build.model import How
from porter.validation.build.setup_script import setup_macros
from porter.validation.build.syntax import check_syntax, syntax_tool
from porter.validation.build.torch_use import uses_torch
from porter.validation.toolchain.clang import Clang, find_clang
from porter.validation.toolchain.hipcc import find_hipcc
from porter.validation.toolchain.result import Missing
from porter.validation.toolchain.torch_headers import STAND_INS, TorchHeaders, find_torch_headers

from tests.cli.command import porter

ROOT = Path(__file__).resolve().parents[2]
CUDA = re.compile(
    r"#\s*include\s*<(?:cuda_runtime|cublas_v2|cusparse|c10/cuda|ATen/cuda)|\bcudaStream_t\b|\bcudaError_t\b"
)


@pytest.fixture
def headers() -> TorchHeaders:
    found = find_torch_headers()
    if isinstance(found, Missing):
        pytest.skip(found.reason)
    return found


@pytest.fixture
def no_memory() -> Iterator[None]:
    """What was found before is forgotten, and what is found meanwhile too."""
    find_torch_headers.cache_clear()
    yield
    find_torch_headers.cache_clear()


def _package(folder: Path, hipify: str) -> Path:
    package = folder / "torch"
    for name, text in {
        "__init__.py": "raise RuntimeError('imported')",
        "version.py": "__version__ = '2.3.4'",
        "utils/hipify/version.py": f"__version__ = '{hipify}'",
        "utils/cpp_extension.py": "flags = ['-std=c++17', '-std=c++20']",
        "include/c10/cuda/CUDAStream.h": "",
    }.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text)
    return package


def test_names_of_cuda_are_gone(headers: TorchHeaders) -> None:
    if headers.is_rocm:
        pytest.skip("a ROCm build of PyTorch has these headers")
    converted = headers.folders[0]
    for name in ("ATen/hip/HIPContext.h", "ATen/hip/Exceptions.h", "c10/hip/HIPGuard.h", "c10/hip/HIPStream.h"):
        text = (converted / name).read_text()
        assert not CUDA.search(text), name
    assert "#include <c10/hip/HIPGuard.h>" in (converted / "c10/cuda/CUDAGuard.h").read_text()
    assert "namespace c10::cuda" in (converted / "c10/hip/HIPStream.h").read_text()


def test_a_library_that_is_there_is_used(headers: TorchHeaders) -> None:
    if headers.is_rocm:
        pytest.skip("a ROCm build of PyTorch has these headers")
    text = (headers.folders[0] / "ATen/hip/HIPContextLight.h").read_text()
    for name in ("hipblas", "hipsparse"):
        own = f"<{name}/{name}.h>"
        assert f"#if __has_include({own})\n#include {own}\n#else\n#include <porter_torch/{name}.h>" in text


def test_only_what_every_extension_includes_has_stand_ins(headers: TorchHeaders) -> None:
    if headers.is_rocm:
        pytest.skip("a ROCm build of PyTorch has these headers")
    assert "porter_torch" not in (headers.folders[0] / "ATen/hip/HIPBlas.h").read_text()


def test_the_note_names_what_is_missing(tmp_path: Path) -> None:
    found = TorchHeaders("2.13.0", (), (), "-std=c++20", is_rocm=False)
    names = sorted(path.stem for path in (STAND_INS / "porter_torch").glob("*.h") if path.stem != "kernels")
    assert (found.note(tmp_path) or "").endswith(", ".join(names))
    for name in names:
        (tmp_path / name).mkdir()
    assert "Not installed" not in (found.note(tmp_path) or "Not installed")
    assert TorchHeaders("2.13.0", (), (), "-std=c++20", is_rocm=True).note(None) is None


@pytest.mark.usefixtures("no_memory")
def test_a_hipify_that_renames_namespaces_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _package(tmp_path, "1.0.0")
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    found = find_torch_headers()
    assert isinstance(found, Missing)
    assert "PyTorch 2.3.4" in found.reason
    assert "2.11" in found.reason


@pytest.mark.usefixtures("no_memory")
def test_a_rocm_build_is_taken_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = _package(tmp_path, "1.0.0")
    (package / "include/c10/hip").mkdir()
    (package / "include/c10/hip/HIPStream.h").write_text("")
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    found = find_torch_headers()
    assert isinstance(found, TorchHeaders)
    assert found.is_rocm
    assert found.folders[0] == package / "include"
    assert found.standard == "-std=c++20"


def test_torch_is_found_through_headers_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    (tmp_path / "include/deep.h").write_text("# include <ATen/ATen.h>\n")
    (tmp_path / "near.h").write_text("#include <deep.h>\n")
    (tmp_path / "unit.hip").write_text('#include "near.h"\n')
    (tmp_path / "plain.hip").write_text('// #include <torch/all.h>\n#include "own/torch.h"\n#include <vector>\n')
    assert not uses_torch(tmp_path / "unit.hip", ())
    assert uses_torch(tmp_path / "unit.hip", (f"-I{tmp_path / 'include'}",))
    assert not uses_torch(tmp_path / "plain.hip", ())


SETUP = """
from setuptools import setup
from torch.utils.cpp_extension import CUDAExtension

macros = [("WITH_PYTHON", None), ("LEVEL", "3"), ("some_name", "not_a_macro")]
if os.getenv("WITH_METIS"):
    macros += [("WITH_METIS", None)]
if WITH_CUDA:
    flags = ["-O3", "-U__CUDA_NO_HALF_OPERATORS__", "-DOLD=1", "-D" + name, "--expt-relaxed-constexpr"]
setup(ext_modules=[CUDAExtension("a", ["a.cu"], define_macros=macros, extra_compile_args={"nvcc": flags})])
"""


def test_macros_of_setup(tmp_path: Path) -> None:
    (tmp_path / "csrc").mkdir()
    source = tmp_path / "csrc" / "a.hip"
    assert setup_macros(source, ()) == ()
    (tmp_path / "setup.py").write_text(SETUP)
    found = setup_macros(source, ("-DOLD",))
    assert sorted(found) == ["-DLEVEL=3", "-DWITH_PYTHON", "-U__HIP_NO_HALF_OPERATORS__"]
    (tmp_path / "setup.py").write_text("setup(")
    assert setup_macros(source, ()) == ()


def test_macros_of_a_setup_that_names_what_includes_no_torch(tmp_path: Path) -> None:
    """A kernel of an extension, in a file without a word of PyTorch."""
    (tmp_path / "setup.py").write_text(SETUP.replace('"a.cu"', '"csrc/kernels.hip"'))
    (tmp_path / "csrc").mkdir()
    for name in ("kernels", "tool"):
        (tmp_path / "csrc" / f"{name}.hip").write_text("__global__ void k() {}\n")
    assert "-DWITH_PYTHON" in common_options(tmp_path / "csrc" / "kernels.hip", ())
    assert "-DWITH_PYTHON" not in common_options(tmp_path / "csrc" / "tool.hip", ())


def test_a_vendored_header_comes_before_the_machines(tmp_path: Path) -> None:
    paths = ("third_party/sys/sys/types.h", "compat/sys/types.h", "a.hip", "vendor/string.h")
    for path in paths:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("")
    (tmp_path / "a.hip").write_text("#include <sys/types.h>\n#include <string.h>\n")
    assert Headers(tmp_path, paths).folders_for("a.hip") == (tmp_path / "third_party/sys",)
    assert Headers(tmp_path, paths[1:]).folders_for("a.hip") == ()


PLAIN = """
#include <torch/headeronly/macros/Export.h>
#include <hip/hip_runtime_api.h>
#ifdef __HIPCC__
#include "kernels_of_another_unit.h"
#endif
float first(float4 v) { int wide = 1; char narrow{wide}; return v.x + narrow; }
"""


def _compiled(how: How, source: Path) -> Compiled:
    if how is How.SYNTAX:
        if (why := syntax_tool()) is not None:
            pytest.skip(why)
        return check_syntax(source, "gfx90a", ())
    found = find_clang("gfx90a") if how is How.CLANG else find_hipcc()
    if isinstance(found, Missing):
        pytest.skip(found.reason)
    tool = Tool(how, clang=found) if isinstance(found, Clang) else Tool(how, hipcc=found)
    return compile_unit(tool, source, "gfx90a", (), 100)


@pytest.mark.parametrize("how", list(How))
@pytest.mark.parametrize("name", ["a.cpp", "a.hip"])
def test_plain_cpp_is_for_the_hosts_compiler(tmp_path: Path, headers: TorchHeaders, how: How, name: str) -> None:
    """As PyTorch's builder has it: without HIP's compiler, whose branches of headers are for kernels."""
    source = tmp_path / name
    source.write_text(PLAIN)
    made = _compiled(how, source)
    assert made.ok is (name == "a.cpp"), made.said
    assert made.ok or "kernels_of_another_unit.h" in made.said


@pytest.fixture(scope="module")
def sample(module_path: Path) -> Path:
    out = module_path / "port"
    done = porter("port", ROOT / "samples/torch_extension", "-o", out)
    assert done.code == 0, done.stdout + done.stderr
    return out


@pytest.mark.parametrize("target", ["gfx942", "gfx90a"])
def test_the_sample_builds(sample: Path, headers: TorchHeaders, target: str) -> None:
    clang = find_clang(target)
    if isinstance(clang, Missing):
        pytest.skip(clang.reason)
    done = porter("build", sample, "--target", target, "--compiler", "clang", "--format", "json")
    assert done.code == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert {unit["status"] for unit in report["units"]} == {"built"}
    names = {kernel["name"] for kernel in report["kernels"]}
    assert "rms_norm_backward_weight_kernel<c10::BFloat16, float>" in names
    assert headers.is_rocm or any(f"PyTorch {headers.version} is no ROCm build" in note for note in report["notes"])
