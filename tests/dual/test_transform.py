"""One source for both vendors: what CUDA sees is the original, what AMD sees is the port."""

from __future__ import annotations

import re

import pytest
from porter.rules.torch_extension.hipified_mark import MARK

from porter.dual.headers import collect, generated, pack
from porter.dual.transform import GUARD, transform
from porter.engine.edits import apply
from porter.engine.file import port
from porter.engine.registry import all_rules
from porter.engine.rule import Example
from porter.model import Edit
from porter.source import SourceFile
from tests.rules.test_examples import context

GUARDED = re.compile(
    rf"#ifdef {GUARD}\r?\n(?P<hip>(?:#if(?s:.)*?#endif[^\n]*\n|(?s:.))*?)#else\r?\n(?P<cuda>(?s:.)*?)#endif(?:\r?\n|\Z)"
)
"""The part of HIP may have conditions of its own."""
CONDITION = re.compile(r"[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif|endif)\b")
EXAMPLES = [
    pytest.param(example, id=f"{rule.code}-{number}")
    for rule in all_rules()
    for number, example in enumerate(rule.examples)
    if example.effort is not None and example.after != example.before
]


def edit(text: str, old: str, new: str) -> Edit:
    start = text.index(old)
    return Edit(start, start + len(old), new)


def dual(text: str, *changes: tuple[str, str]) -> str:
    return transform(text.encode(), [edit(text, old, new) for old, new in changes]).data.decode()


def test_a_name_of_cudas_is_left_to_the_header() -> None:
    text = "#include <cuda_runtime.h>\nvoid f() { cudaFree(0); }\n"
    found = transform(
        text.encode(), [edit(text, "cuda_runtime.h", "hip/hip_runtime.h"), edit(text, "cudaFree", "hipFree")]
    )
    assert found.data.decode() == text
    assert found.macros == (("cudaFree", "hipFree"),)
    assert found.headers == (("cuda_runtime.h", ("<hip/hip_runtime.h>",)),)


def test_anything_else_is_guarded_by_whole_lines() -> None:
    text = "int a;\nint b = max(1, 2u);\nint c;\n"
    assert dual(text, ("max", "porter::max")) == (
        f"int a;\n#ifdef {GUARD}\nint b = porter::max(1, 2u);\n#else\nint b = max(1, 2u);\n#endif\nint c;\n"
    )


def test_a_guard_never_cuts_brackets_comments_or_macros() -> None:
    text = "f(max(a,\n      b) /* one\n two */ + 1);\n#define M(x) \\\n  min(x, 1)\n"
    found = dual(text, ("max", "porter::max"), ("min", "porter::min"))
    assert GUARDED.sub(lambda match: match["cuda"], found) == text
    assert GUARDED.sub(lambda match: match["hip"], found) == text.replace("max", "porter::max").replace(
        "min", "porter::min"
    )
    assert found.count("#ifdef") <= 2


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("#ifdef __CUDACC__", "#if defined(__CUDACC__) || defined(__HIPCC__)"),
        ("#ifndef __CUDACC__", "#if !defined(__CUDACC__) && !defined(__HIPCC__)"),
        ("#if defined(__CUDACC__) && A", "#if (defined(__CUDACC__) || defined(__HIPCC__)) && A"),
    ],
)
def test_conditions_on_the_compiler_ask_for_both(line: str, wanted: str) -> None:
    text = f"{line}\nint a;\n#endif\n"
    assert dual(text, ("__CUDACC__", "__HIPCC__")) == f"{wanted}\nint a;\n#endif\n"


def test_no_newline_at_the_end_and_crlf() -> None:
    assert dual("int a = max(1, 2);", ("max", "porter::max")).endswith("#else\nint a = max(1, 2);\n#endif")
    found = dual("int z;\r\nint a = max(1, 2);\r\n", ("max", "porter::max"))
    assert "\n" not in found.replace("\r\n", "")


def test_what_was_ported_before_stays() -> None:
    text = "int b = max(1, 2u);\n"
    once = dual(text, ("max", "porter::max"))
    start = once.rindex("max")
    assert transform(once.encode(), [Edit(start, start + 3, "porter::max")]).data.decode() == once


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_of_all_rules(example: Example) -> None:
    """The lines that CUDA sees are those of the example, but for conditions that ask for HIP as well."""
    source = SourceFile(example.path, example.before.encode())
    ported = port(source, context(example, all_rules()), example.path)
    assert apply(source.text, ported.edits).encode("latin-1") == ported.data
    found = transform(source.data, ported.edits)
    cuda = GUARDED.sub(lambda match: match["cuda"], found.data.decode())
    kept = [line for line in cuda.splitlines() if not CONDITION.match(line) and line != MARK]
    assert kept == [line for line in example.before.splitlines() if not CONDITION.match(line) and line != MARK]


def test_headers_supply_what_files_need() -> None:
    needs = collect(
        [
            pack(
                [("cudaFree", "hipFree"), ("__shfl_sync", "porter::shfl_sync")], [], ["porter/warp32.hpp"], device=True
            ),
            pack([], [("cub/cub.cuh", ("<hipcub/hipcub.hpp>",))], [], device=False),
        ]
    )
    files = {path: data.decode() for path, data in generated(needs).items()}
    assert set(files) == {f"porter/hip/{name}" for name in ("cuda_runtime.h", "cuda_to_hip.h", "cub/cub.cuh")}
    names = files["porter/hip/cuda_to_hip.h"]
    assert (
        names.index("#include <hip/hip_runtime.h>") < names.index('#include "../warp32.hpp"') < names.index("#define")
    )
    assert "#define cudaFree hipFree" in names
    cub = files["porter/hip/cub/cub.cuh"]
    assert '#include "../cuda_to_hip.h"' in cub
    assert cub.index("#undef __shfl_sync") < cub.index("<hipcub/hipcub.hpp>") < cub.index("#pragma pop_macro")
