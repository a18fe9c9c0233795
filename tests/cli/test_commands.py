"""Exit codes, streams and formats of every command."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]
import pytest

from porter.report import schemas
from tests.cli.command import porter
from tests.system.processes import number_of_the_dead
from tests.tree.trees import KERNEL, PORTED_KERNEL, listing, make_tree

MANUAL = KERNEL + b"int s = cudaSuccess;\nenum { x = cudaErrorMixedDeviceExecution };\n"
UNREADABLE = b"\xff\xfeu\0"
REVIEW = KERNEL + b"void g() { cudaFrobnicateQuite(0); }\n"
FINDING = re.compile(r"^\S+:\d+:\d+: [A-Z]\d{3} (none|review|manual) .+$", re.MULTILINE)


def validated(name: str, text: str) -> dict[str, object]:
    """A JSON document that fits its schema."""
    document = json.loads(text)
    jsonschema.validate(document, schemas.load(name), jsonschema.Draft202012Validator)
    assert isinstance(document, dict)
    return document


def test_port_of_a_clean_project(tmp_path: Path) -> None:
    """Exit code 0, the report on stdout, on stderr nothing but what comes next, no colour."""
    make_tree(tmp_path / "src", {"a.cu": KERNEL})
    result = porter("port", "src", "-o", "out", folder=tmp_path)
    assert (result.code, result.stderr.splitlines()[1:]) == (0, [])
    assert result.stderr.startswith("next: porter build out")
    assert "\x1b" not in result.stdout
    assert "src -> out" in result.stdout
    assert "A001" in result.stdout
    assert (tmp_path / "out" / "a.hip").read_bytes() == PORTED_KERNEL


def test_exit_codes_say_what_is_left(tmp_path: Path) -> None:
    """Manual work is 1; reviews are 1 only with --strict."""
    make_tree(tmp_path, {"manual/a.cu": UNREADABLE, "review/a.cu": REVIEW, "clean/a.cu": KERNEL})
    assert porter("scan", tmp_path / "manual").code == 1
    assert porter("scan", tmp_path / "review").code == 0
    assert porter("scan", tmp_path / "review", "--strict").code == 1
    assert porter("scan", tmp_path / "clean", "--strict").code == 0


def test_scan_writes_nothing(tmp_path: Path) -> None:
    """The tree is as before."""
    make_tree(tmp_path, {"a.cu": KERNEL, "b.h": MANUAL})
    before = listing(tmp_path)
    result = porter("scan", ".", folder=tmp_path)
    assert "files:" in result.stdout
    assert listing(tmp_path) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["port", "src"], "one of -o OUT, --in-place, --diff"),
        (["port", "src", "-o", "out", "--diff"], "one of -o OUT, --in-place, --diff"),
        (["port", "none", "-o", "out"], "none: No such file"),
        (["port", "src", "-o", "src"], "src: the output is the source itself"),
        (["port", "src/a.cu", "-o", "src/b.cu"], "src/b.cu: exists"),
        (["port", "src/a.cu", "-o", "src/a.cu"], "the output is the source itself"),
        (["port", "src", "--in-place"], "not in a git work tree"),
        (["port", "src", "--diff", "--format", "json"], "--diff"),
        (["scan", "src", "--rocm", "latest"], "--rocm must be a version"),
        (["scan", "src", "--warp", "wide"], "--warp must be one of"),
        (["scan", "src", "--format", "html"], "html"),
        (["scan", "src", "--config", "none.toml"], "none.toml: No such file"),
        (["scan", "src", "--jobs", "0"], "--jobs"),
        (["scan"], "SRC"),
        (["explain", "Z999"], "no rule and no name of CUDA's is or has 'Z999'"),
        (["frobnicate"], "frobnicate"),
    ],
)
def test_wrong_usage_is_2(tmp_path: Path, arguments: list[str], message: str) -> None:
    """One message on stderr that says what is wrong, nothing on stdout, nothing written."""
    make_tree(tmp_path, {"src/a.cu": KERNEL, "src/b.cu": KERNEL})
    before = listing(tmp_path)
    result = porter(*arguments, folder=tmp_path)
    assert (result.code, result.stdout) == (2, "")
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert listing(tmp_path) == before


def test_a_bug_of_ours_is_3_with_a_traceback_file(tmp_path: Path) -> None:
    """The user gets one line that names the file; the file has the traceback."""
    make_tree(tmp_path, {"src/a.cu": KERNEL})
    program = (
        "import porter.project.port, sys; from porter.__main__ import main\n"
        "def fail(*a): raise RuntimeError('oh no')\n"
        "porter.project.port.discover = fail\n"
        "sys.argv = ['porter', 'scan', 'src']; main()"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 3
    match = re.fullmatch(r"porter: bug in porter: RuntimeError: oh no; the traceback is in (\S+)\n", done.stderr)
    assert match is not None
    assert "Traceback" in Path(match[1]).read_text()
    Path(match[1]).unlink()


def test_a_rule_that_fails_on_a_file_is_3_after_everything_is_done(tmp_path: Path) -> None:
    """The other files are ported, the report is printed, the traceback is kept."""
    make_tree(tmp_path, {"src/a.cu": KERNEL, "src/b.cu": KERNEL})
    program = (
        "import sys; from porter.engine import file as engine; from porter.__main__ import main\n"
        "original = engine.port\n"
        "def port(source, *rest):\n"
        "    if source.path == 'a.cu': raise RuntimeError('oh no')\n"
        "    return original(source, *rest)\n"
        "engine.port = port\n"
        "sys.argv = ['porter', 'port', 'src', '-o', 'out']; main()"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 3, done.stderr
    assert "a.cu:1:1: E110 manual bug in porter: RuntimeError: oh no" in done.stdout
    assert (tmp_path / "out" / "b.hip").read_bytes() == PORTED_KERNEL
    match = re.search(r"the traceback is in (\S+)", done.stderr)
    assert match is not None, done.stderr
    Path(match[1]).unlink()


def test_text_lists_findings_in_one_form(tmp_path: Path) -> None:
    """`path:line:column: CODE effort message [kernel]`."""
    make_tree(tmp_path, {"a.cu": REVIEW})
    result = porter("scan", tmp_path, "--verbose")
    lines = FINDING.findall(result.stdout)
    assert {"none", "review"} <= set(lines)
    assert "a.cu:8:12: A005 review" in result.stdout


def test_json_fits_its_schema(tmp_path: Path) -> None:
    """scan, port, and the manifest; paths relative to the source."""
    make_tree(
        tmp_path / "src", {"x/a.cu": REVIEW, "b.cu": UNREADABLE, "c.txt": "", "l": "->c.txt", "CMakeLists.txt": "CUDA"}
    )
    scanned = validated("report", porter("scan", "src", "--format", "json", folder=tmp_path).stdout)
    ported = validated("report", porter("port", "src", "-o", "out", "--format", "json", folder=tmp_path).stdout)
    validated("manifest", (tmp_path / "out" / "porter-manifest.json").read_text())
    assert scanned["findings"] == ported["findings"]
    assert scanned["schema"] == "porter-report-1"
    finding = scanned["findings"][-1]  # type: ignore[index]
    assert {"code", "effort", "path", "line", "column", "kernel", "message"} <= finding.keys()
    again = porter("port", "src", "-o", "out", "--format", "json", folder=tmp_path)
    assert validated("report", again.stdout)["findings"] == ported["findings"]


def test_markdown(tmp_path: Path) -> None:
    """A heading, tables, and names that cannot break them."""
    make_tree(tmp_path, {"a|b.cu": REVIEW})
    text = porter("scan", tmp_path, "--format", "markdown").stdout
    assert text.startswith("# porter scan")
    assert r"a\|b.cu" in text


def test_a_diff_that_git_applies(tmp_path: Path) -> None:
    """Applied to the source it gives the ported tree: renames, new headers, odd line ends."""
    shuffle = b"#include <cuda_runtime.h>\r\n__global__ void k(int *x) { *x = __shfl_sync(~0u, *x, 1); }"
    files = {
        "a.cu": KERNEL,
        "x/b.cu": shuffle,
        "c.h": KERNEL.replace(b"\n", b"\r\n"),
        "d.txt": "same",
        "e.cu": "int x;\n",
    }
    make_tree(tmp_path / "src", files)
    diff = subprocess.run([sys.executable, "-m", "porter", "port", "src", "--diff"], cwd=tmp_path, capture_output=True)
    assert diff.returncode == 0
    assert b"files:" in diff.stderr
    assert listing(tmp_path / "src") == {
        name: data.encode() if isinstance(data, str) else data for name, data in files.items()
    }
    subprocess.run(["git", "init", "-q"], cwd=tmp_path / "src", check=True)
    subprocess.run(["git", "apply", "--whitespace=nowarn", "-"], cwd=tmp_path / "src", input=diff.stdout, check=True)
    porter("port", "src", "-o", "out", folder=tmp_path)
    applied, ported = (
        {n: d for n, d in listing(tmp_path / where).items() if ".git/" not in n} for where in ("src", "out")
    )
    ported.pop("porter-manifest.json")
    assert applied == ported


def test_a_single_file(tmp_path: Path) -> None:
    """To a file beside its support headers, to a folder, or in place."""
    shuffle = "#include <cuda_runtime.h>\n__global__ void k(int *x) { *x = __shfl_sync(~0u, *x, 1); }\n"
    make_tree(tmp_path, {"a.cu": shuffle, "there/keep": ""})
    assert porter("port", "a.cu", "-o", "there/b.hip", folder=tmp_path).code == 0
    assert sorted(listing(tmp_path / "there")) == ["b.hip", "keep", "porter/warp32.hpp"]
    assert '#include "porter/warp32.hpp"' in (tmp_path / "there/b.hip").read_text()
    assert porter("port", "a.cu", "-o", "folder", folder=tmp_path).code == 0
    assert (tmp_path / "folder/a.hip").read_bytes() == (tmp_path / "there/b.hip").read_bytes()
    assert porter("port", "a.cu", "--in-place", "--force", folder=tmp_path).code == 0
    assert (tmp_path / "a.hip").read_bytes() == (tmp_path / "there/b.hip").read_bytes()
    assert not (tmp_path / "a.cu").exists()


def test_a_terminal_that_knows_little(tmp_path: Path) -> None:
    """Text that the locale cannot show is escaped, not an error."""
    make_tree(tmp_path, {"Δ.cu": KERNEL + "void f() { cudaΔ(0); }\n".encode(), os.fsdecode(b"\xff.cu"): UNREADABLE})
    result = porter("scan", tmp_path, "--verbose", environment={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert result.code == 1, result.stderr
    assert "\\u0394.cu:1" in result.stdout
    assert "\\udcff.cu:1:1: E003" in result.stdout


def test_settings_and_options(tmp_path: Path) -> None:
    """porter.toml counts, the command line wins, and both are in the report."""
    make_tree(tmp_path, {"porter.toml": 'rocm = "6.3"\nexclude = ["b.cu"]\n', "a.cu": KERNEL, "b.cu": KERNEL})
    report = json.loads(porter("scan", ".", "--rocm", "6.4", "--format", "json", folder=tmp_path).stdout)
    assert (report["settings"]["rocm"], report["settings"]["exclude"]) == ("6.4", ["b.cu"])
    assert {file["path"]: file["status"] for file in report["files"]}["b.cu"] == "copied"


@pytest.mark.slow
def test_explain_rules_doctor_version() -> None:
    """What there is to read about porter itself."""
    assert "renamed-name" in porter("explain", "A001").stdout
    assert porter("explain", "renamed-name").stdout == porter("explain", "a001").stdout
    assert "E103" in porter("explain", "dangling-link").stdout
    rules = validated("rules", porter("rules", "--format", "json").stdout)
    listed = porter("rules").stdout
    assert all(rule["code"] in listed for rule in rules["rules"])  # type: ignore[attr-defined]
    doctor = porter("doctor", "--format", "json")
    assert doctor.code == 0
    validated("doctor", doctor.stdout)
    assert "libclang" in porter("doctor").stdout
    assert porter("--version").stdout.startswith("porter ")
    assert "scan" in porter("--help").stdout


def test_rules_derive_hands_its_options_on() -> None:
    """Its own help, and its own word on wrong usage."""
    helped = porter("rules", "derive", "--help")
    assert helped.code == 0
    assert "--cuda LABEL=DIR" in helped.stdout
    wrong = porter("rules", "derive", "--cuda", "13.0=/nowhere", "--hip", "x")
    assert wrong.code == 2
    assert "Traceback" not in wrong.stderr


def test_every_code_of_a_rule_and_notice_is_explained() -> None:
    """A finding that nobody can look up is worth little."""
    from porter.engine.notices import NOTICES
    from porter.engine.registry import all_rules
    from porter.explain import explanation

    codes = [rule.code for rule in all_rules()] + [notice.code for notice in NOTICES]
    assert len(set(codes)) == len(codes)
    assert all(code in explanation(code) for code in codes)


def test_engine_codes_have_a_notice() -> None:
    """Codes that the engine makes up are in the table of notices."""
    from porter.engine import file as engine
    from porter.engine.notices import notice_by_name

    codes = {value for value in vars(engine).values() if isinstance(value, str) and re.fullmatch(r"[A-Z]\d{3}", value)}
    assert codes
    assert not [code for code in codes if notice_by_name(code) is None]


def test_a_reader_that_goes_away(tmp_path: Path) -> None:
    """`porter scan | head -1` shows no traceback."""
    make_tree(tmp_path, {f"f{number}.cu": REVIEW * 200 for number in range(3)})
    command = f"'{sys.executable}' -m porter scan '{tmp_path}' --verbose | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert done.stdout.startswith("porter")
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


def test_progress_only_on_a_terminal(tmp_path: Path) -> None:
    """A bar on a terminal's stderr; stdout stays the same plain text."""
    make_tree(tmp_path / "src", {f"f{number}.cu": KERNEL for number in range(20)})
    plain = porter("scan", "src", folder=tmp_path)
    assert plain.stderr.startswith("next: porter port src") and plain.stderr.count("\n") == 1
    assert porter("--quiet", "scan", "src", folder=tmp_path).stderr == ""
    stdout, shown = on_terminal("stderr", tmp_path, "scan", "src")
    assert stdout == plain.stdout.encode()
    assert b"20/20" in shown


def test_colour_only_on_a_terminal(tmp_path: Path) -> None:
    """The same text with colours on a terminal, and none with NO_COLOR."""
    make_tree(tmp_path / "src", {"a.cu": REVIEW})
    plain = porter("scan", "src", folder=tmp_path)
    _, shown = on_terminal("stdout", tmp_path, "scan", "src")
    assert b"\x1b[33mreview" in shown
    assert re.sub(rb"\x1b\[[\d;]*m", b"", shown).replace(b"\r\n", b"\n").decode() == plain.stdout
    _, shown = on_terminal("stdout", tmp_path, "scan", "src", NO_COLOR="1")
    assert b"\x1b[3" not in shown


def on_terminal(stream: str, folder: Path, *arguments: str, **environment: str) -> tuple[bytes, bytes]:
    """Runs the command with one of its streams on a terminal: what went to the other one, and to the terminal."""
    parent, child = pty.openpty()
    other = "stdout" if stream == "stderr" else "stderr"
    process = subprocess.Popen(
        [sys.executable, "-m", "porter", *arguments],
        cwd=folder,
        env={**os.environ, "TERM": "xterm", **environment},
        stdout=child if stream == "stdout" else subprocess.PIPE,
        stderr=child if stream == "stderr" else subprocess.PIPE,
    )
    os.close(child)
    shown = b""
    try:
        while chunk := os.read(parent, 4096):
            shown += chunk
    except OSError:
        pass
    os.close(parent)
    plain = getattr(process, other).read()
    process.communicate(timeout=60)
    return plain, shown


def test_a_killed_run_leaves_no_processes(tmp_path: Path) -> None:
    """Not even the kernel's out-of-memory killer makes workers wait for ever; the next run goes on."""
    source = make_tree(tmp_path / "src", {f"f{number:03}.cu": KERNEL for number in range(200)})
    out = tmp_path / "out"
    process = start_port(source, out)
    process.kill()
    process.communicate(timeout=60)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and _is_alive(process.pid):
        time.sleep(0.1)
    assert not _is_alive(process.pid)
    (out / f".porter-tmp-{number_of_the_dead()}").write_bytes(b"half")
    assert porter("port", source, "-o", out).code == 0
    assert len(listing(out)) == 201


def _is_alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def start_port(source: Path, out: Path) -> subprocess.Popen[bytes]:
    """A port in a process group of its own, some files of which are written."""
    process = subprocess.Popen(
        [sys.executable, "-m", "porter", "port", source, "-o", out, "--jobs", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and len(list(out.glob("*.hip"))) < 5:
        time.sleep(0.01)
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_whole_files_and_no_processes(tmp_path: Path, number: signal.Signals) -> None:
    """Exit code 130, a message, every output whole, nothing temporary, no worker left."""
    source = make_tree(tmp_path / "src", {f"f{number:03}.cu": KERNEL for number in range(300)})
    process = start_port(source, tmp_path / "out")
    if number is signal.SIGINT:
        os.killpg(process.pid, number)
    else:
        process.terminate()
    _, stderr = process.communicate(timeout=60)
    if process.returncode == 0:
        pytest.skip("the run was over before the interrupt came")
    assert process.returncode == 130, stderr
    assert b"interrupted" in stderr
    assert b"Traceback" not in stderr
    assert not _is_alive(process.pid)
    found = listing(tmp_path / "out")
    found.pop("porter-manifest.json")
    assert 5 <= len(found) < 300
    assert len(set(found.values())) == 1
    assert porter("port", source, "-o", tmp_path / "out").code == 0
    assert len(list((tmp_path / "out").glob("*.hip"))) == 300


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("words", [("scan", "a.cu"), ("rules",), ("check", "--help"), ("explain", "W102")])
def test_an_output_that_is_full(tmp_path: Path, words: tuple[str, ...]) -> None:
    """What the disk refuses is no bug of ours, whoever writes it."""
    (tmp_path / "a.cu").write_bytes(KERNEL)
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "porter", *words], cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 2
    assert done.stderr == "porter: the output: No space left on device\n"


def test_closed_streams_are_taken_for_nobody_elses(tmp_path: Path) -> None:
    """The first file that is opened would get the number of a closed stream, and what is printed with it."""
    make_tree(tmp_path / "src", {"a.cu": KERNEL})
    command = f"{sys.executable} -m porter port src -o out <&- >&- 2>&-"
    assert subprocess.run(["sh", "-c", command], cwd=tmp_path).returncode == 0
    assert (tmp_path / "out" / "a.hip").read_bytes() == PORTED_KERNEL


def test_the_next_command_does_not_take_a_name_for_an_option(tmp_path: Path) -> None:
    make_tree(tmp_path / "src", {"a.cu": KERNEL})
    assert "next: porter build ./-out " in porter("port", "src", "-o", "-out", folder=tmp_path).stderr


def test_documents_that_are_none(tmp_path: Path) -> None:
    """A file of somebody else's among the documents, and a case file that is not there."""
    make_tree(tmp_path / "src", {"a.cu": KERNEL})
    (tmp_path / "port.json").write_text(porter("scan", "src", "--format", "json", folder=tmp_path).stdout)
    (tmp_path / "foreign.json").write_text('{"schema": "theirs-1"}')
    result = porter("report", "port.json", "foreign.json", "-o", "x.html", folder=tmp_path)
    assert (result.code, (tmp_path / "x.html").exists()) == (2, False)
    assert result.stderr == "porter: foreign.json: no document that a report is made of (schema: 'theirs-1')\n"
    assert porter("bench", "nosuch", "--devices", "gfx942", folder=tmp_path).code == 2
    assert "a.cu: no kernel is defined here" in porter("cases", "init", "a.cu", folder=without_kernel(tmp_path)).stderr


def without_kernel(folder: Path) -> Path:
    """A file with nothing to describe."""
    make_tree(folder / "plain", {"a.cu": b"int f();\n"})
    return folder / "plain"
