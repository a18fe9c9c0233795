"""A program on both virtual devices: what it prints, how it ends, what is told of it."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from porter.validation.devices.core.hostcc import HostCompiler, find_host_compiler
from porter.validation.programs.agreement import compare_runs
from porter.validation.programs.building import Built, build
from porter.validation.programs.compare import ComparedProject
from porter.validation.programs.launch import Options, run_program
from porter.validation.programs.outcome import ProgramRun, Verdict
from porter.validation.programs.output import Tolerance
from porter.validation.programs.show import run_json, run_text
from porter.validation.programs.show_compared import compared_json, compared_text
from porter.validation.programs.sides import SIDES
from porter.validation.programs.store import libraries, name_hash

from porter.report.schemas import load

pytestmark = pytest.mark.slow
FAULT_LINE = next(
    number
    for number, line in enumerate((Path(__file__).parent / "modes.cu").read_text().splitlines(), 1)
    if "the line of the fault" in line
)


def run(program: Path, *arguments: str, options: Options | None = None) -> ProgramRun:
    return run_program([str(program), *arguments], options, keep=True)


def test_passes(program: Path) -> None:
    done = run(program)
    assert (done.verdict, done.code, done.reason) == (Verdict.PASSED, 0, "")
    assert done.output == b"1000 numbers, 1000 counted: PASS\n"
    assert done.account.launches == 1 and done.account.lane_instructions > 1000
    assert [kernel.name for kernel in done.account.kernels] == ["scale(float const*, float*, int)"]


def test_documents(program: Path) -> None:
    import jsonschema

    for mode in ("pass", "fault", "ignored"):
        done = run(program, mode)
        jsonschema.validate(run_json(done), load("run"))
        report = ComparedProject((compare_runs("modes", done, done, Tolerance()),))
        jsonschema.validate(compared_json(report), load("programs"))
        assert done.verdict.value in run_text(done) and "modes" in compared_text(report)


def test_fails_by_its_own_words(program: Path) -> None:
    done = run(program, "wrong")
    assert (done.verdict, done.exit_code) == (Verdict.FAILED, 1)


def test_fault_with_place(program: Path) -> None:
    done = run(program, "fault")
    assert (done.verdict, done.exit_code) == (Verdict.FAULT, 120)
    (fault,) = done.account.faults
    assert fault.details["kind"] == "out-of-bounds" and fault.details["line"] == FAULT_LINE
    assert fault.details["block"] == [3, 0, 0] and fault.details["lane"] == 1000 % 256 % (
        32 if "cuda" in str(program) else 64
    )
    assert "0 bytes after the end of device memory 1 (4000 bytes)" in fault.text


def test_fault_given_to_the_program(program: Path) -> None:
    done = run(program, "fault", options=Options(go_on=True))
    assert done.output == b"an illegal memory access was encountered\n"
    assert (done.verdict, done.code) == (Verdict.FAULT, 3)


def test_freed(program: Path) -> None:
    done = run(program, "freed")
    assert done.verdict is Verdict.FAULT and "freed device memory" in done.reason


def test_nothing_launched(program: Path) -> None:
    done = run(program, "nothing")
    assert (done.verdict, done.code, done.exit_code) == (Verdict.NO_LAUNCH, 0, 122)


def test_prints_and_asserts(program: Path) -> None:
    assert run(program, "say", "9").output == b"thread 3 of 9,  4.50 done\n"
    done = run(program, "deny", "9")
    assert done.verdict is Verdict.FAULT and done.account.faults[0].details["kind"] == "assert"
    assert "n > 100" in done.reason


def test_barriers_at_two_places(program: Path) -> None:
    done = run(program, "meet")
    assert (done.verdict, done.output) == (Verdict.PASSED, b"PASS\n")
    (note,) = done.account.notes
    assert "waves of a block wait at different barriers: meet(int*)" in note.text


def test_ignored_errors(program: Path) -> None:
    for mode in ("ignored", "configuration", "shared"):
        done = run(program, mode)
        assert done.verdict in (Verdict.IGNORED_ERROR, Verdict.NO_LAUNCH), mode
        assert done.account.failed_calls, mode
    assert run(program, "ignored").exit_code == 123


def test_streams_events_managed_memory(program: Path) -> None:
    assert run(program, "managed").verdict is Verdict.PASSED


def test_work_that_nobody_waits_for(program: Path) -> None:
    """At once by default; delayed, a missing wait shows, and one that is there does not."""
    late = Options(delay=3)
    assert run(program, "unwaited").output == b"PASS\n"
    assert run(program, "unwaited", options=late).output == b"FAIL\n"
    for mode in ("waited", "pass", "managed"):
        assert run(program, mode, options=late).verdict is Verdict.PASSED, mode


def test_launches_whose_result_is_known(program: Path) -> None:
    """Eight of ten that are alike, three of four that start from the same memory again; none that only looks alike."""
    done = run(program, "repeat")
    assert (done.verdict, done.output) == (Verdict.PASSED, b"PASS\n")
    assert (done.account.launches, done.account.known) == (18, 8 + 3)
    assert sum(kernel.known for kernel in done.account.kernels) == 11 and "11 of them known" in run_text(done)


@pytest.mark.parametrize("options", [Options(every_launch=True), Options(schedule=5), Options(races=True)])
def test_every_launch_runs(program: Path, options: Options) -> None:
    done = run(program, "repeat", options=options)
    assert (done.verdict, done.account.launches, done.account.known) == (Verdict.PASSED, 18, 0)


def test_a_large_kernel_gets_better_code_while_it_runs(program: Path, own_cache: Path) -> None:
    """What takes long to optimise runs as it is at first (test_loaded.py)."""
    done = run_program([str(program), "stir", "1200"], Options(threads=1), keep=True)
    assert done.verdict is Verdict.PASSED and done.output == b"PASS\n", done.reason
    kernels = [path for path in own_cache.glob("programs/*-*/*/*") if path.is_file() and len(path.name) == 16]
    (text,) = (text for path in kernels if re.search(r"^shown\tstir\(", text := path.read_text(), re.M))
    assert int(re.findall(r"^level\t(\d)", text, re.M)[0]) > 0


def test_graph(program: Path) -> None:
    done = run(program, "graph")
    assert done.verdict is Verdict.PASSED and done.account.launches == 3


def test_graph_made_node_by_node(program: Path) -> None:
    done = run(program, "nodes")
    assert (done.verdict, done.output, done.account.launches) == (Verdict.PASSED, b"PASS\n", 4), done.reason


def test_block_size_by_occupancy(program: Path) -> None:
    done = run(program, "occupancy")
    assert (done.verdict, done.output.splitlines()[0]) == (Verdict.PASSED, b"block of 128"), done.reason


def test_fork(program: Path) -> None:
    done = run(program, "fork")
    assert done.verdict is Verdict.PASSED and done.account.launches == 2


def test_budget_and_clock(program: Path) -> None:
    done = run(program, options=Options(budget=100))
    assert (done.verdict, done.exit_code) == (Verdict.TOO_LONG, 124)


def test_a_kernel_that_never_ends(program: Path) -> None:
    done = run(program, "endless", options=Options(cpu_seconds=1))
    assert (done.verdict, done.exit_code) == (Verdict.TOO_LONG, 124)
    assert done.reason == "no end after 1 s of processor time, in endless(int volatile*)"


@pytest.fixture
def fresh(request: pytest.FixtureRequest, cuda: Path, tmp_path: Path) -> Path:
    """A program whose kernel no cache has; of so many lines, each of which is a hundred instructions and more."""
    lines = "\n".join(f"x = sinf(x * {i}.5f) + y[{i}] * cosf(x); y[{i} + t] = x;" for i in range(request.param))
    source = tmp_path / "fresh.cu"
    source.write_text(
        f"""#include <cstdio>
        __global__ void work(float *y) {{ int t = threadIdx.x; float x = {time.time_ns()}u; {lines} }}
        int main() {{
            float *y;
            if (cudaMalloc(&y, 4096) != cudaSuccess) return 1;
            work<<<1, 32>>>(y);
            return cudaDeviceSynchronize() != cudaSuccess;
        }}"""
    )
    done = build(SIDES["cuda"], tmp_path, [("nvcc", "-O1", "fresh.cu", "-o", "fresh")], 300)
    assert isinstance(done, Built) and done.failed is None, done
    return tmp_path / "fresh"


@pytest.mark.parametrize("fresh", [60], indirect=True)
def test_time_of_the_translator_is_not_the_programs(fresh: Path) -> None:
    """The kernel takes seconds to translate."""
    done = run(fresh, options=Options(cpu_seconds=1))
    assert (done.verdict, done.reason, done.account.launches) == (Verdict.PASSED, "", 1)


@pytest.mark.parametrize("fresh", [1], indirect=True)
def test_how_a_translator_ended_is_told(fresh: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = tmp_path / "python"
    monkeypatch.setattr(sys, "executable", str(python))
    for signal, verdict, words in (
        ("XCPU", Verdict.TOO_LONG, "no end of the translation within its processor time (module)"),
        ("KILL", Verdict.NOT_RUN, "the translator was ended by signal 9 (module)"),
    ):
        python.write_text(f"#!/bin/sh\nkill -{signal} $$\n")
        python.chmod(0o755)
        done = run(fresh)
        assert (done.verdict, done.reason) == (verdict, words)


def test_crash(program: Path) -> None:
    done = run(program, "crash")
    assert (done.verdict, done.code, done.exit_code) == (Verdict.CRASHED, -11, 139)
    assert done.account.launches == 1


def test_not_implemented(absent: Path) -> None:
    done = run(absent)
    assert (done.verdict, done.exit_code) == (Verdict.UNSUPPORTED, 121)
    assert done.reason == "cudaImportExternalMemory"


def test_static_runtime(cuda: Path, tmp_path: Path) -> None:
    source = Path(__file__).parent / "absent.cu"
    from porter.validation.toolchain.nvcc import Nvcc, find_nvcc

    nvcc = find_nvcc()
    assert isinstance(nvcc, Nvcc)
    folders = [f"-I{path}" for path in nvcc.include_dirs] + [f"-L{path}" for path in nvcc.library_dirs]
    command = [nvcc.path, "-arch=compute_80", *folders, str(source), "-o", str(tmp_path / "fixed")]
    subprocess.run(command, check=True)
    done = run(tmp_path / "fixed")
    assert done.verdict is Verdict.NOT_RUN and "-cudart shared" in done.reason


def test_host_code_that_nvcc_linked_is_not_a_static_runtime(cuda: Path, tmp_path: Path) -> None:
    """nvcc gives each program a section for device code; one that loads the driver by itself has nothing in it."""
    from porter.validation.programs.wanted import wanted
    from porter.validation.toolchain.nvcc import Nvcc, find_nvcc

    nvcc = find_nvcc()
    assert isinstance(nvcc, Nvcc)
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    folders = [f"-L{path}" for path in nvcc.library_dirs]
    command = [nvcc.path, "-cudart", "shared", *folders, str(tmp_path / "main.c"), "-o", str(tmp_path / "main")]
    subprocess.run(command, check=True)
    assert not wanted(tmp_path / "main").static


def test_no_python_when_all_is_cached(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(program)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert run(program).verdict is Verdict.PASSED


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own, but for the drop-in libraries, which take long to build."""
    from porter.validation.programs import dropin

    built = {side: libraries(side, compiler) for side in SIDES.values() if (compiler := host_compiler())}
    monkeypatch.setattr(dropin, "libraries", lambda side, compiler: built[side])
    monkeypatch.setenv("PORTER_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def host_compiler() -> HostCompiler:
    found = find_host_compiler()
    assert isinstance(found, HostCompiler)
    return found


@pytest.mark.parametrize("how", ["one byte", "half", "empty", "of another kernel", "gone"])
def test_damage_in_the_cache_is_noticed_and_mended(
    program: Path, how: str, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is in the files of a translated module and its kernels, the program does what it did."""
    assert run(program).verdict is Verdict.PASSED
    files = sorted(path for path in own_cache.rglob("*") if path.is_file())
    assert {"module", "data", "blob"} < {path.name for path in files}
    assert any(path.suffix == ".so" for path in files)
    for path in files:
        _damage(path, how)
    done = run(program)
    assert (done.verdict, done.output) == (Verdict.PASSED, b"1000 numbers, 1000 counted: PASS\n")
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert run(program).verdict is Verdict.PASSED, "all that it needs is mended"


def test_each_file_that_is_read_is_checked(program: Path, own_cache: Path) -> None:
    """One byte in one of them, and the helper is asked: without it nothing runs."""
    assert run(program).verdict is Verdict.PASSED
    folder = next(path.parent for path in own_cache.rglob("module"))
    kernel = folder / name_hash(next(name for name in _kernels(folder) if "scale" in name))
    library = Path(kernel.read_text().split("library\t")[1].split("\t")[0])
    for path in (folder / "module", folder / "data", kernel, library):
        whole = path.read_bytes()
        _damage(path, "one byte")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "executable", "/nowhere/python")
            assert run(program).verdict is Verdict.NOT_RUN, path
        path.write_bytes(whole)
    assert run(program).verdict is Verdict.PASSED


def _kernels(folder: Path) -> list[str]:
    lines = (folder / "module").read_text().splitlines()
    return [line.split("\t")[1] for line in lines if line.startswith("kernel\t")]


def _damage(path: Path, how: str) -> None:
    whole = path.read_bytes()
    middle = len(whole) // 2
    if how == "gone":
        path.unlink()
    elif how == "one byte":
        path.write_bytes(whole[:middle] + bytes([whole[middle] ^ 1 if whole else 1]) + whole[middle + 1 :])
    else:
        path.write_bytes({"half": whole[:middle], "empty": b""}.get(how, whole.replace(b"lanes\t", b"lanes\t1")))


def test_a_new_kernel_without_a_helper_is_said(program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(program)  # the libraries are built
    from porter.validation.programs import launch

    monkeypatch.setattr(launch, "translations", lambda side, compiler, *, wrapped: tmp_path / side.name)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    done = run(program)
    assert (done.verdict, done.exit_code) == (Verdict.NOT_RUN, 125)
    assert "/nowhere/python" in done.reason


def test_clock() -> None:
    done = run_program(["sleep", "60"], Options(seconds=0.5), keep=True)
    assert (done.verdict, done.exit_code) == (Verdict.TOO_LONG, 124) and done.seconds < 30


def test_no_such_program() -> None:
    assert run_program(["./no-such-program"], keep=True).verdict is Verdict.NOT_RUN


def test_the_short_way_and_the_long_way_say_the_same(program: Path) -> None:
    """`porter run -- X` does not read the command line's library, which takes longer than a small program."""
    short = (str(program), "ignored")
    start = (
        "import sys\nfrom porter.__main__ import main\n"
        "try:\n    main()\nfinally:\n"
        "    print(sorted({'typer', 'pydantic', 'elftools'} & sys.modules.keys()))"
    )
    run_program(short, keep=True)
    shown = []
    for words in (("run", "--", *short), ("run", "--go-on", "--", *short)):
        done = subprocess.run([sys.executable, "-c", start, *words], capture_output=True, text=True, check=False)
        *output, modules = done.stdout.splitlines()
        shown.append((done.returncode, output, done.stderr))
        assert modules == ("[]" if words[1] == "--" else "['pydantic', 'typer']"), done.stderr
    assert shown[0] == shown[1]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux alone has these")
def test_a_program_ends_with_who_compares_it(program: Path) -> None:
    """Also by kill -9: one that never ends would go on for ever."""
    code = "import sys; from porter.validation.programs.launch import run_program; run_program(sys.argv[1:], keep=True)"
    parent = subprocess.Popen([sys.executable, "-c", code, str(program), "endless"])
    children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children")
    until, found = time.monotonic() + 60, ""
    while not found and time.monotonic() < until:
        time.sleep(0.05)
        found = next((one for one in children.read_text().split() if _name(one) == program.name), "")
    assert found
    parent.kill()
    parent.wait()
    while _name(found) and time.monotonic() < until:
        time.sleep(0.05)
    assert not _name(found)


def _name(process: str) -> str:
    try:
        name, _, rest = Path(f"/proc/{process}/stat").read_text().partition("(")[2].rpartition(")")
    except OSError:
        return ""
    return "" if rest.split()[0] == "Z" else name
