"""Tools for assistants (Model Context Protocol): the commands with their JSON; `porter mcp`.

Each tool is a process of its own: nothing that it prints gets into the protocol, and nothing it does ends the server.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from porter.commands.border import DONE, UNUSABLE, WORK_LEFT
from porter.system.asked import Answer, asked

if TYPE_CHECKING:
    from mcp.server.fastmcp import FastMCP

_MOST = 200
"""Findings in one answer: more would not be read."""
_MOST_PRINTED = 20_000
"""Characters of what a program printed: its end."""
_SECONDS = 3600
ABOUT = (
    "porter ports CUDA code to HIP for AMD MI300X and runs original and port on virtual devices, without a GPU. "
    "Scan or port first; what is left by hand has `explain`; after an edit of the port, build, then validate: an edit "
    "counts as right only when validate says `passed`."
)


def server() -> FastMCP:
    """The server, with one tool per command."""
    from mcp.server.fastmcp import FastMCP

    made = FastMCP("porter", instructions=ABOUT)
    for tool in (scan, explain, port, build, draft_cases, validate, run, compare_programs):
        made.tool()(tool)
    return made


async def scan(source: str) -> dict[str, Any]:
    """What a port of a CUDA file or folder would rewrite and what it would leave; writes nothing."""
    return _short(await _document("scan", source))


async def explain(what: str) -> str:
    """Why a finding (a code such as W102) is one and what to do, or what becomes of a CUDA name by ROCm version."""
    return await _said("explain", "--", *what.split())


async def port(source: str, output: str) -> dict[str, Any]:
    """Port a file or folder to HIP into another folder; the source is not changed."""
    return _short(await _document("port", source, "--output", output))


async def build(port: str, target: str = "gfx942") -> dict[str, Any]:
    """Compile a ported tree: what does not build and why, and registers, LDS and occupancy per kernel."""
    document = await _document("build", port, "--target", target)
    for unit in document["units"]:
        unit.pop("command", None)
    return document


async def draft_cases(source: str) -> str:
    """A case file (TOML) for the kernels of a CUDA file; what is marked TODO has to be filled in before validating."""
    return await _said("cases", "init", "--stdout", "--", source)


async def validate(cases: str, port: str | None = None) -> dict[str, Any]:
    """Run originals and ports of a case file or folder on the virtual devices, and compare what they compute."""
    document = await _document("validate", cases, *(("--port", port) if port else ()))
    for case in document["cases"]:
        for side in case["sides"]:
            side.pop("counters", None)
            side.pop("command", None)
    return document


async def run(command: list[str], folder: str = ".") -> dict[str, Any]:
    """Run a CUDA or HIP program (path and arguments) on the virtual device that fits it: launches, faults, output."""
    with tempfile.TemporaryDirectory(prefix="porter-mcp-") as scratch:
        told = Path(scratch, "run.json")
        done = await _porter("run", "--format", "json", "--output", str(told), "--", *command, folder=Path(folder))
        if not told.is_file():
            raise ValueError(done.stderr.strip() or f"porter run ended with {done.code}")
        document: dict[str, Any] = json.loads(told.read_text("utf-8"))
    printed = {"stdout": done.stdout[-_MOST_PRINTED:], "stderr": done.stderr[-_MOST_PRINTED:]}
    return {**document, **printed}


async def compare_programs(source: str) -> dict[str, Any]:
    """Build and run the programs that a project's porter.toml names, original and port, and compare what they print."""
    document: dict[str, Any] = json.loads(await _said("run", "--compare", "--source", source, "--format", "json"))
    return document


async def _document(command: str, path: str, *options: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(await _said(command, *options, "--format", "json", "--", path))
    return document


async def _said(*words: str) -> str:
    """What a command prints; ValueError with its message where it could not do its work."""
    done = await _porter(*words)
    has_document = done.code == UNUSABLE and done.stdout  # it says which case files cannot be used, and why
    if done.code not in (DONE, WORK_LEFT) and not has_document:
        raise ValueError(done.stderr.strip() or f"porter {words[0]} ended with {done.code}")
    return done.stdout


async def _porter(*words: str, folder: Path = Path()) -> Answer:
    return await asked(*words, folder=folder, seconds=_SECONDS)


def _short(document: dict[str, Any]) -> dict[str, Any]:
    """The report, of its findings those that leave work."""
    left = [finding for finding in document["findings"] if finding["effort"] != "none"]
    order = sorted(left, key=lambda finding: finding["effort"] != "manual")
    kernels = [
        {name: kernel[name] for name in ("path", "qualified", "line", "left", "manual", "review")}
        for kernel in document["kernels"]
    ]
    kept = {name: document[name] for name in ("porter", "command", "source", "output", "totals", "gaps")}
    return {**kept, "kernels": kernels, "findings": order[:_MOST], "findings_left_out": max(0, len(order) - _MOST)}
