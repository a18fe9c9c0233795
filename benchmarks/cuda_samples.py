"""CUDA's samples that need no graphics, original and port, built and run without a GPU: how many agree.

    python -m benchmarks.cuda_samples SAMPLES --count 40 --output samples.json
    python -m benchmarks.cuda_samples --show samples.json

SAMPLES is a checkout of cuda-samples. Each sample is copied beside `Common`, ported as `porter port` does, built from
the sources that its CMakeLists.txt names (files of kernels that it loads too), with the libraries that it names, and
run without arguments, on two virtual GPUs where one is not enough. A run that was cut off goes on where it ended.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import tempfile
from pathlib import Path

from porter.validation.programs.agreement import Agreement, Compared
from porter.validation.programs.compare import built, port_tree, settle
from porter.validation.programs.launch import Options, run_program
from porter.validation.programs.recipes import Program
from porter.validation.programs.sides import CUDA, HIP, Side

from benchmarks.both_sides import Row, agreeing, drawn, options, others, run_all, share

GRAPHICS = re.compile(r"opengl|glut|vulkan|EGL|d3d|GLES|nvsci|directx", re.IGNORECASE)
EXECUTABLE = re.compile(r"add_executable\s*\(\s*(\S+)([^)]*)\)")
PATHS = re.compile(r"set\s*\(\s*(\w+)\s+\"?\$\{[A-Z_]+\}/([\w./]+)\"?\s*\)")
KERNELS = re.compile(r"COMMAND[^\n]*-o \$\{(\w+)\} -(fatbin|ptx) \$\{(\w+)\}")
INCLUDED = re.compile(r"target_include_directories\s*\(([^)]*)\)")
HERE = re.compile(r"\$\{CMAKE_CURRENT_SOURCE_DIR\}([\w./-]*)")
LIBRARY = re.compile(r"CUDA::([a-z0-9A-Z_]+)")
BY_RUNTIME = {"cudart", "cudart_static"}
FOR_CUDA = {"cuda_driver": "cuda"}
FOR_HIP = {
    "cuda_driver": "amdhip64",
    "nvrtc": "hiprtc",
    "cublas": "hipblas",
    "cufft": "hipfft",
    "curand": "hiprand",
    "cusparse": "hipsparse",
    "cusolver": "hipsolver",
}


def main() -> None:
    """See the module's text."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, nargs="?", help="a checkout of cuda-samples")
    options(parser, "this sample", 60)
    parser.add_argument("--output", type=Path, default=Path("samples.json"))
    given = parser.parse_args()
    if given.show:
        print(summary(json.loads(given.show.read_text())))
        return
    folders = {path.name: path for path in without_graphics(given.source)}
    names = [name for name in folders if name in given.only] if given.only else drawn(folders, given.count, given.seed)
    print(summary(run_all(names, lambda name: one(given.source, folders[name], given.limit), given)))


def without_graphics(source: Path) -> list[Path]:
    """Folders of samples, by their CMake files; of the first seven groups, which are for any Linux machine."""
    files = sorted((source / "Samples").glob("[0-6]_*/*/CMakeLists.txt"))
    return [path.parent for path in files if not GRAPHICS.search(path.read_text("utf-8", "replace"))]


def one(source: Path, folder: Path, limit: int) -> Row:
    """Everything about one sample, as plain values."""
    with tempfile.TemporaryDirectory(prefix="porter-samples-") as temporary:
        compared = attempt(source, folder, Path(temporary), limit)
    runs = {"original": compared.original, "port": compared.port}
    accounts = {name: None if run is None else run.account for name, run in runs.items()}
    return {
        "verdict": compared.agreement.value,
        "reason": compared.reason,
        "side": compared.side,
        "launches": {name: None if account is None else account.launches for name, account in accounts.items()},
        "stand_ins": sorted({row.text for account in accounts.values() if account for row in account.stand_ins}),
        "cpu_seconds": {name: None if run is None else round(run.cpu_seconds, 1) for name, run in runs.items()},
    }


def attempt(source: Path, folder: Path, work: Path, limit: int) -> Compared:
    """Copy, port, build, run, compare."""
    original, port = work / "original", work / "port"
    where = folder.relative_to(source)
    shutil.copytree(source / "Common", original / "Common", ignore=shutil.ignore_patterns("lib"))
    shutil.copytree(folder, original / where)
    text = (folder / "CMakeLists.txt").read_text("utf-8", "replace")
    target = EXECUTABLE.search(re.sub(r"#.*", "", text))
    if target is None:
        return Compared(folder.name, Agreement.NOT_RUN, "no add_executable", "original")
    name, sources = target[1], target[2].split()
    libraries = sorted(set(LIBRARY.findall(text)) - BY_RUNTIME)
    separate, folders = kernels(text), included(text)
    steps = [*separate[CUDA.name], command(CUDA, name, sources, libraries, original / where, folders)]
    failed = built(name, CUDA, original / where, steps)
    if failed is not None:
        return failed
    how = Options(seconds=900, cpu_seconds=limit)
    first = run_program([f"./{name}"], how, original / where, keep=True)
    if first.verdict.value == "no-launch":  # perhaps it wants peers
        how = Options(seconds=900, cpu_seconds=limit, devices=2)
        first = run_program([f"./{name}"], how, original / where, keep=True)
    if first.verdict.value not in ("passed", "failed"):
        return Compared(name, Agreement(first.verdict.value), f"original: {first.reason}", "original", first)
    port_tree(original, port)
    steps = [*(present(step, port / where) for step in separate[HIP.name])]
    failed = built(name, HIP, port / where, [*steps, command(HIP, name, sources, libraries, port / where, folders)])
    if failed is not None:
        return failed
    program = Program(name, (f"./{name}",), where.as_posix())
    second = run_program(program.run, how, port / where, keep=True)
    return settle(program, first, second, original, port, how)


def kernels(text: str) -> dict[str, list[tuple[str, ...]]]:
    """The steps that make files of kernels, which the program loads, for each side; the names are the original's."""
    paths = dict(PATHS.findall(text))
    asked = [(paths.get(made), how, paths.get(source)) for made, how, source in KERNELS.findall(text)]
    found = [(made, how, source) for made, how, source in asked if made and source]
    return {
        CUDA.name: [("nvcc", f"-{how}", "-o", made, source) for made, how, source in found],
        HIP.name: [("hipcc", "--cuda-device-only", "-O3", "-o", made, source) for made, _, source in found],
    }


def present(step: tuple[str, ...], where: Path) -> tuple[str, ...]:
    """The step with the name that the port's file has."""
    renamed = re.sub(r"\.cu$", ".hip", step[-1])
    return (*step[:-1], renamed if (where / renamed).exists() else step[-1])


def included(text: str) -> list[str]:
    """The sample's own folders of headers, as its CMakeLists.txt adds them."""
    asked = " ".join(INCLUDED.findall(text))
    return [f".{folder}" for folder in HERE.findall(asked)]


def command(
    side: Side, name: str, sources: list[str], libraries: list[str], where: Path, folders: list[str]
) -> tuple[str, ...]:
    """The call of the compiler; a port's file may have another name."""
    depth = len(where.parts) - where.parts.index("Samples")
    files = [source if (where / source).exists() else re.sub(r"\.cu$", ".hip", source) for source in sources]
    common = [
        "-O2",
        f"-I{'../' * depth}Common",
        *(f"-I{folder}" for folder in folders),
        *(file for file in files if file.endswith((".cu", ".hip", ".cpp", ".c"))),
    ]
    linked = [f"-l{(FOR_HIP if side is HIP else FOR_CUDA).get(library, library)}" for library in libraries]
    if side is CUDA:
        return ("nvcc", "-std=c++17", "--extended-lambda", *common, "-o", name, *linked)
    return ("hipcc", *common, "-o", name, *linked)


def summary(results: dict[str, Row]) -> str:
    """How many of what."""
    silent = [name for name, row in agreeing(results).items() if not row["launches"]["original"]]
    return "\n".join([share(results), f"agree without a launch: {len(silent)}", *others(results)])


if __name__ == "__main__":
    sys.exit(main())
