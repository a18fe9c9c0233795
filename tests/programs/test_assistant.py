"""Every tool of `porter mcp`, called by the protocol's own client in the order in which an assistant would."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.later import needs_installed
from tests.outside import needs

needs_installed("mcp")
pytestmark = [pytest.mark.slow, needs("nvcc", "clang++")]
KERNEL = """#include <cuda_runtime.h>
__global__ void turned(const float *given, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float other = __shfl_xor_sync(~0u, i < n ? given[i] : 0.0f, 1);
  if (i < n) out[i] = other;
}
void launch(const float *given, float *out, int n) { turned<<<(n + 63) / 64, 64>>>(given, out, n); }
"""
CASE = """schema = "porter-case/1"
source = "turned.cu"
[[case]]
name = "turned"
kernel = "turned"
sweep = { n = [128] }
grid = "ceil_div(n, 64)"
block = "64"
arguments = ["in given: float32[n]", "out out: float32[n]", "scalar n: int32 = n"]
reference = "reference.py:turned"
tolerance = "exact"
"""
REFERENCE = "def turned(given):\n    return given.reshape(-1, 2)[:, ::-1].reshape(-1)\n"
WRONG = (
    "porter::shfl_xor_sync(~0u, i < n ? given[i] : 0.0f, 1)",
    "porter::shfl_xor_sync(~0u, i < n ? given[i] : 0.0f, 2)",
)


def test_an_edit_by_hand_is_checked_by_execution(tmp_path: Path, cuda: Path) -> None:
    """What a tool answers is JSON of the commands; a wrong edit of the port is rejected, a run says what it printed."""
    import anyio
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    source, port = tmp_path / "src", tmp_path / "port"
    source.mkdir()
    for name, text in (("turned.cu", KERNEL), ("turned.case.toml", CASE), ("reference.py", REFERENCE)):
        (source / name).write_text(text)

    async def talk() -> None:
        parameters = StdioServerParameters(command=sys.executable, args=["-m", "porter", "mcp"])
        async with stdio_client(parameters) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            tools = (await session.list_tools()).tools
            called: set[str] = set()

            async def call(tool: str, **arguments: Any) -> Any:
                called.add(tool)
                done = await session.call_tool(tool, arguments)
                assert not done.isError, done.content[0].text
                text = done.content[0].text
                return json.loads(text) if text.startswith("{") else text

            assert (await call("scan", source=str(source)))["totals"]["rewritten"] > 0
            assert (await call("port", source=str(source), output=str(port)))["kernels"][0]["qualified"] == "turned"
            assert "porter::shfl_xor_sync" in await call("explain", what="__shfl_xor_sync")
            built = await call("build", port=str(port))
            assert [unit["status"] for unit in built["units"]] == ["built"], built["units"]
            assert "turned" in await call("draft_cases", source=str(source / "turned.cu"))
            (source / "half.case.toml").write_text("schema = ")
            half = await call("validate", cases=str(source / "half.case.toml"))
            assert "half.case.toml" in half["errors"][0]["path"]
            (source / "half.case.toml").unlink()
            good = await call("validate", cases=str(source), port=str(port))
            assert [case["status"] for case in good["cases"]] == ["passed"], good
            text = (port / "turned.hip").read_text()
            assert WRONG[0] in text
            (port / "turned.hip").write_text(text.replace(*WRONG))
            bad = await call("validate", cases=str(source), port=str(port))
            assert [case["status"] for case in bad["cases"]] != ["passed"]
            run = await call("run", command=[f"./{cuda.name}", "fault"], folder=str(cuda.parent))
            assert run["verdict"] == "fault" and "stderr" in run
            (source / "porter.toml").write_text('[[program]]\nname = "m"\nrun = "true"\n')
            compared = await call("compare_programs", source=str(source))
            assert [one["name"] for one in compared["programs"]] == ["m"]
            assert called == {tool.name for tool in tools}
            assert all(tool.description for tool in tools)

    anyio.run(talk)
