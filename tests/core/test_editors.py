"""Branches for an editor's parser, which no compiler takes, declare nothing."""

from __future__ import annotations

import pytest

from porter.cpp.editors import editor_spans
from porter.cpp.prescan import scan

NEAR_MISSES = [
    "#ifdef __INTELLISENSE__X\nx\n#endif\n",
    "#if defined(__INTELLISENSE__) || defined(B)\nx\n#endif\n",
    "#if defined(__INTELLISENSE__) || 1\nx\n#endif\n",
    "#if !defined(__INTELLISENSE__)\nx\n#elif B\ny\n#else\nz\n#endif\n",
    "#ifndef __INTELLISENSE__\nx\n#endif\n",
    "// __INTELLISENSE__\n#ifdef A\nx\n#endif\n",
]
BRANCHES = [
    ("#ifdef __INTELLISENSE__\nx\n#else\ny\n#endif\n", ["x"]),
    ("#ifdef __INTELLISENSE__ // for Visual Studio\r\nx\r\n#endif\r\ny\r\n", ["x"]),
    ("#ifndef __INTELLISENSE__\nx\n#else\ny\n#endif\n", ["y"]),
    ("#if !defined(__INTELLISENSE__)\nx\n#else\ny\n#endif\n", ["y"]),
    ("#if defined(__INTELLISENSE__) || defined __CDT_PARSER__ /* two */\nx\n#endif\n", ["x"]),
    ("#if defined(__INTELLISENSE__) && !defined(__CUDACC__)\nx\n#endif\n", ["x"]),
    ("#if A\n#ifdef __JETBRAINS_IDE__\nx\n#if B\n#else\nz\n#endif\n#endif\n#endif\n", ["x\n#if B\n#else\nz\n#endif"]),
    ("#endif\n#else\n#ifdef __INTELLISENSE__\nx\n#endif\n", ["x"]),
]  # fmt: skip


@pytest.mark.parametrize("text", NEAR_MISSES)
def test_what_a_compiler_may_take_is_no_branch_for_an_editor(text: str) -> None:
    assert editor_spans(text.encode()) == ()


@pytest.mark.parametrize(("text", "wanted"), BRANCHES)
def test_branches_for_an_editor(text: str, wanted: list[str]) -> None:
    assert [text[start:end].strip() for start, end in editor_spans(text.encode())] == wanted


def test_an_editor_s_declarations_are_not_the_project_s() -> None:
    text = (
        b"#ifdef __INTELLISENSE__\n#define __CUDA_ARCH__ 500\nvoid __syncthreads();\n#endif\n#define __shfl(v, l) v\n"
    )
    assert scan(text, lambda name: name.startswith("__")).declared == ("__shfl",)
