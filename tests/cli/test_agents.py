"""`porter mcp` with a real client over stdin and stdout."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.cli.command import porter
from tests.tree.trees import make_tree

if find_spec("mcp") is None:  # to read it takes as long as a hundred tests
    pytest.skip("the extra mcp is not installed", allow_module_level=True)
INITIALIZE = (
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},'
    b'"clientInfo":{"name":"x","version":"1"}}}\n'
)
KERNEL = "#include <cuda_runtime.h>\n__global__ void k(float *x) { x[0] = __shfl_sync(~0u, x[1], 0); }\n"


@pytest.mark.slow
def test_an_assistant_ports_and_asks(tmp_path: Path) -> None:
    import anyio
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    make_tree(tmp_path / "src", {"a.cu": KERNEL})

    async def talk() -> tuple[set[str], dict[str, object], str, bool]:
        parameters = StdioServerParameters(command=sys.executable, args=["-m", "porter", "mcp"])
        async with stdio_client(parameters) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            tools = {tool.name for tool in (await session.list_tools()).tools}
            done = await session.call_tool("port", {"source": str(tmp_path / "src"), "output": str(tmp_path / "out")})
            told = await session.call_tool("explain", {"what": "cudaMalloc"})
            wrong = await session.call_tool("scan", {"source": str(tmp_path / "nothing")})
            return tools, json.loads(done.content[0].text), told.content[0].text, bool(wrong.isError)

    tools, report, told, is_error = anyio.run(talk)
    assert tools >= {"scan", "explain", "port", "build", "validate", "draft_cases"}
    assert report["kernels"] == [
        {"path": "a.cu", "qualified": "k", "line": 2, "left": "none", "manual": 0, "review": 0}
    ]
    assert "porter::shfl_sync" in (tmp_path / "out" / "a.hip").read_text()
    assert "hipMalloc" in told
    assert is_error


@pytest.mark.slow
def test_a_tool_that_takes_its_time_holds_nobody_up(tmp_path: Path) -> None:
    """A client asks for more meanwhile, or takes back what it asked for, and the program that runs ends."""
    import anyio
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    make_tree(tmp_path / "src", {"a.cu": KERNEL})
    program = tmp_path / "wait"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/begun\nsleep 600\n")
    program.chmod(0o755)

    async def talk() -> None:
        parameters = StdioServerParameters(command=sys.executable, args=["-m", "porter", "mcp"])
        async with stdio_client(parameters) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            async with anyio.create_task_group() as group:
                group.start_soon(session.call_tool, "run", {"command": [str(program)]})
                with anyio.fail_after(120):
                    while not (tmp_path / "begun").exists():
                        await anyio.sleep(0.1)
                    await session.send_ping()
                    done = await session.call_tool("scan", {"source": str(tmp_path / "src")})
                    assert not done.isError
                group.cancel_scope.cancel()

    anyio.run(talk)


@pytest.mark.slow
@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"garbage\n",
        b'{"jsonrpc":"2.0"}\n',
        b'{"a":',
        b"\xff\xfe\n" * 200,
        b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n' * 50,
        INITIALIZE,
    ],
    ids=["nothing", "words", "no-method", "half", "bytes", "uninitialised", "a-client-that-leaves"],
)
def test_whatever_a_client_says_before_it_leaves_is_no_bug(said: bytes) -> None:
    """The package closes stdout, and cannot log where nobody listens any more."""
    done = porter("mcp", given=said)
    assert done.code == 0, done.stderr
    assert "bug in porter" not in done.stderr


@pytest.mark.parametrize("extra", ["mcp", "lsp"])
def test_without_its_package_the_extra_is_named(extra: str) -> None:
    absent = dict.fromkeys(("mcp", "anyio", "pygls", "lsprotocol"))
    start = f"import sys; sys.modules.update({absent}); sys.argv[1:] = ['{extra}']"
    done = subprocess.run(
        [sys.executable, "-c", f"{start}\nfrom porter.__main__ import main; main()"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert f"pip install 'porter[{extra}]'" in done.stderr


def test_a_name_is_explained_by_version() -> None:
    assert "every ROCm since" in porter("explain", "cudaMalloc").stdout
    told = porter("explain", "__shfl_sync").stdout
    assert "since ROCm 7.0: __shfl_sync" in told
    assert "porter::shfl_sync" in told
    told = porter("explain", "cublasSgemmEx").stdout
    assert "no counterpart" in told and "B005" in told
    assert "Rewritten, for example" in told and "CUBLAS_COMPUTE_32F" in told.partition("becomes")[2]
    assert "Rewritten" not in porter("explain", "cudaMalloc").stdout


def test_words_are_searched_for_and_slips_are_answered() -> None:
    assert "W102" in porter("explain", "ballot").stdout
    assert "cudaMalloc?" in porter("explain", "cudaMaloc").stderr
    assert "port" in porter("prot", "x").stderr


def test_a_setting_that_was_nearly_written(tmp_path: Path) -> None:
    make_tree(tmp_path, {"a.cu": KERNEL, "porter.toml": "wrap = 'native'\n"})
    assert "did you mean 'warp'" in porter("scan", tmp_path).stderr


def test_a_build_is_recorded(tmp_path: Path) -> None:
    """The calls of a real make, with their macros; links and questions are no compilations."""
    makefile = "all: a.o\n\tcc --version > /dev/null\na.o: a.c\n\tcc -DX=2 -I include -c a.c -o a.o\n"
    make_tree(tmp_path, {"a.c": "int main(void) { return X; }\n", "Makefile": makefile})
    done = porter("record", "--", "make", folder=tmp_path)
    assert done.code == 0, done.stderr
    (entry,) = json.loads((tmp_path / "compile_commands.json").read_text())
    assert entry["arguments"] == ["cc", "-DX=2", "-I", "include", "-c", "a.c", "-o", "a.o"]
    assert (tmp_path / "a.o").is_file()
    again = porter("record", "--", "make", folder=tmp_path)
    assert again.code == 0 and "has 1 from before" in again.stdout + again.stderr
    assert json.loads((tmp_path / "compile_commands.json").read_text()) == [entry]
    assert porter("record", "--", "false", folder=tmp_path).code == 1


def test_quiet_says_nothing_of_what_comes_next(tmp_path: Path) -> None:
    make_tree(tmp_path / "src", {"a.cu": KERNEL})
    assert "next: porter build" in porter("port", tmp_path / "src", "-o", tmp_path / "a").stderr
    told = porter("--quiet", "port", tmp_path / "src", "-o", tmp_path / "b")
    assert told.stderr == "" and "1 ported" in told.stdout


@pytest.mark.parametrize("place", range(1, 4))
@pytest.mark.parametrize("form", ["text", "json"])
def test_quiet_means_the_same_before_and_after_a_command(tmp_path: Path, place: int, form: str) -> None:
    make_tree(tmp_path, {"src/a.cu": KERNEL})
    words = ["scan", "src", f"--format={form}"]
    before = porter("--quiet", *words, folder=tmp_path)
    assert before.stdout and before.stderr == ""
    assert porter(*words[:place], "-q", *words[place:], folder=tmp_path) == before
    assert porter(*words[:place], "--quiet", *words[place:], folder=tmp_path) == before


@pytest.mark.parametrize("command", ["doctor", "rules", "explain A001", "build out", "record -- true"])
def test_every_command_takes_quiet(tmp_path: Path, command: str) -> None:
    make_tree(tmp_path, {"out/a.hip": ""})
    name, *rest = command.split()
    told = porter(name, "-q", *rest, folder=tmp_path)
    assert "No such option" not in told.stderr and "next:" not in told.stderr


def test_a_draft_with_gaps_says_how_they_are_filled(tmp_path: Path) -> None:
    make_tree(tmp_path, {"a.cu": KERNEL})
    told = porter("cases", "init", tmp_path / "a.cu").stderr
    assert "--try --force   # looks for what is marked TODO" in told
    assert "porter validate" in told and "once no TODO is left" in told
