"""One program with many modes, built once for each side; the port is `porter port`'s."""

from __future__ import annotations

import functools
import shutil
from pathlib import Path

import pytest
from porter.validation.devices.core.hostcc import find_host_compiler
from porter.validation.programs.building import build
from porter.validation.programs.compare import port_tree
from porter.validation.programs.compilers import folder
from porter.validation.programs.sides import CUDA, HIP, SIDES, Alike, Side
from porter.validation.toolchain.cuda_headers import fetched_for_cuda
from porter.validation.toolchain.headers import ONE_GENERATOR, find_headers
from porter.validation.toolchain.nvcc import find_nvcc
from porter.validation.toolchain.result import Missing

from tests.kept import folder_made_by

HERE = Path(__file__).parent
_LINKED = {
    "libraries": {
        "cuda": ("-lcublas", "-lcufft", "-lcurand", "-lcusparse"),
        "hip": ("-lhipblas", "-lhipfft", "-lhiprand", "-lhipsparse"),
    },
    "collectives": {"cuda": ("-lnccl",), "hip": ("-lrccl",)},
    "ways": {"cuda": ("-ldl",), "hip": ("-ldl",)},
    "driver": {"cuda": ("-lcuda", "-lnvrtc"), "hip": ("-lhiprtc",)},
}
"""What a program is linked to beside the runtime."""

_PIC = {"cuda": ("-Xcompiler", "-fPIC"), "hip": ("-fPIC",)}


_ONE_GENERATOR = frozenset({"drawn"})
"""Programs whose device code draws the same random numbers on both sides."""


@functools.cache
def _made(side: Side, name: str) -> Path | str:
    """The program, or why there is none."""
    compiler = find_host_compiler()
    if isinstance(compiler, Missing):
        return compiler.reason
    tools = folder(side, compiler)
    if isinstance(tools, Missing):
        return tools.reason
    place, linked = f"{side.name}-{name}", _LINKED.get(name, {}).get(side.name, ())
    if side is HIP and name == "planted":  # a port that somebody made by hand, and made wrong
        step, part = ("hipcc", "-O2", "-x", "hip", f"{name}.cu", "-o", name), "original"
    elif side is HIP:
        step, part = ("hipcc", "-O2", f"{name}.hip", "-o", name, *linked), "port"
    else:
        step, part = ("nvcc", "-O2", f"{name}.cu", "-o", name, *linked), "original"

    steps = [step]
    if name == "ways":
        steps.append((*step[:3], "-shared", *_PIC[side.name], "-o", f"lib{name}.so"))

    def fill(work: Path) -> None:
        original = work / place / "original"
        original.mkdir(parents=True)
        shutil.copy(HERE / f"{name}.cu", original)
        if part == "port":
            port_tree(original, work / place / "port")
        done = build(side, work / place / part, steps, 300, Alike.GENERATOR if name in _ONE_GENERATOR else None)
        assert not isinstance(done, Missing), done.reason
        assert done.failed is None, done.said

    read = [HERE / f"{name}.cu", *(sorted(ONE_GENERATOR.rglob("*.h")) if name in _ONE_GENERATOR else ())]
    key = (place, *(word for one in steps for word in one), *(path.read_text() for path in read))
    return folder_made_by(fill, *key) / place / part / name


def _program(side: Side, name: str) -> Path:
    made = _made(side, name)
    if isinstance(made, str):
        pytest.skip(made)
    return made


@pytest.fixture
def cuda() -> Path:
    """modes.cu by nvcc."""
    return _program(CUDA, "modes")


@pytest.fixture
def hip() -> Path:
    """Its port by clang."""
    return _program(HIP, "modes")


@pytest.fixture
def absent() -> Path:
    """A program that calls what is not implemented."""
    return _program(CUDA, "absent")


@functools.cache
def _lacks_headers(*wanted: str) -> str | None:
    """Why programs that include these of CUDA's headers cannot be built; None when they can."""
    nvcc = find_nvcc()
    if isinstance(nvcc, Missing):
        return nvcc.reason
    folders = [*nvcc.include_dirs, *fetched_for_cuda(), Path(nvcc.path).resolve().parent.parent / "include"]
    absent = [name for name in wanted if not any((folder / name).exists() for folder in folders)]
    return f"no {', '.join(absent)}: porter headers --cuda" if absent else None


@functools.cache
def _lacks_rccl() -> str | None:
    """Why ports that include RCCL's header cannot be built; None when they can."""
    headers = find_headers()
    if isinstance(headers, Missing):
        return headers.reason
    return None if (headers / "rccl" / "rccl.h").exists() else "no rccl/rccl.h: porter headers"


@pytest.fixture(params=["cuda", "hip"])
def libraries(request: pytest.FixtureRequest) -> Path:
    """libraries.cu on either side."""
    wanted = ("cublas_v2.h", "cufft.h", "curand.h", "cusparse.h")
    missing = _lacks_headers(*wanted) if request.param == "cuda" else None
    if missing is not None:
        pytest.skip(missing)
    return _program(SIDES[request.param], "libraries")


@pytest.fixture
def drawn() -> tuple[Path, Path]:
    """drawn.cu, and its port."""
    missing = _lacks_headers("curand.h")
    if missing is not None:
        pytest.skip(missing)
    return _program(CUDA, "drawn"), _program(HIP, "drawn")


@pytest.fixture(params=["cuda", "hip"])
def collectives(request: pytest.FixtureRequest) -> Path:
    """collectives.cu on either side."""
    missing = _lacks_headers("nccl.h") if request.param == "cuda" else _lacks_rccl()
    if missing is not None:
        pytest.skip(missing)
    return _program(SIDES[request.param], "collectives")


@pytest.fixture(params=["cuda", "hip"])
def driver(request: pytest.FixtureRequest) -> Path:
    """driver.cu on either side."""
    missing = _lacks_headers("nvrtc.h") if request.param == "cuda" else None
    if missing is not None:
        pytest.skip(missing)
    return _program(SIDES[request.param], "driver")


@pytest.fixture(params=["cuda", "hip"])
def textures(request: pytest.FixtureRequest) -> Path:
    """textures.cu on either side."""
    return _program(SIDES[request.param], "textures")


@pytest.fixture(params=["cuda", "hip"])
def ways(request: pytest.FixtureRequest) -> Path:
    """ways.cu on either side; the library made of it lies beside."""
    return _program(SIDES[request.param], "ways")


@pytest.fixture(params=["cuda", "hip"])
def program(request: pytest.FixtureRequest) -> Path:
    """Either side."""
    found: Path = request.getfixturevalue(request.param)
    return found


@pytest.fixture(params=["cuda", "hip"])
def streams(request: pytest.FixtureRequest) -> Path:
    """streams.cu on either side."""
    return _program(SIDES[request.param], "streams")


@pytest.fixture(params=["cuda", "hip"])
def careless(request: pytest.FixtureRequest) -> Path:
    """careless.cu on either side."""
    return _program(SIDES[request.param], "careless")


@pytest.fixture
def planted() -> tuple[Path, Path]:
    """The folders of planted.cu's original and of its wrong port."""
    return _program(CUDA, "planted").parent, _program(HIP, "planted").parent
