"""One source for both vendors: what CUDA sees is the original, what AMD sees is the port."""

from __future__ import annotations

import re
import subprocess

import pytest
from porter.rules.torch_extension.hipified_mark import MARK

from porter.cpp.lex import lex
from porter.dual.headers import NAMES, collect, earlier, generated, pack
from porter.dual.transform import GUARD, as_amd_sees, transform
from porter.engine.edits import apply
from porter.engine.file import port
from porter.engine.registry import all_rules
from porter.engine.rule import Example
from porter.model import Edit
from porter.source import SourceFile
from tests.outside import needs, require
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


PREPROCESSOR = ("-E", "-P", "-x", "c++", "-nostdinc", "-w", "-D__LINE__=0", "-")
CUDA = ("-D__CUDACC__", "-D__NVCC__", "-D__CUDACC_VER_MAJOR__=12", "-DCUDA_VERSION=12000")
AMD = (f"-D{GUARD}", "-D__HIPCC__", "-D__HIP_DEVICE_COMPILE__=1")
PASSES = ("-D__CUDA_ARCH__=800",), ("-DPORTER_CUDA_ARCH=700", "-DPORTER_CUDA_ARCH_SOLE=800")
INCLUDE = re.compile(r"^[ \t]*#[ \t]*(?:include|pragma)\b.*$|\b__has_include\w*\b", re.MULTILINE)


def seen(text: str, *defines: str) -> list[str]:
    """What a compiler sees of a text: the tokens, without what headers have, or the words of an error."""
    clang = require("clang++")
    done = subprocess.run(
        [clang, *defines, *PREPROCESSOR], input=INCLUDE.sub("", text), capture_output=True, text=True, check=False
    )
    texts = lex(done.stdout.replace("::porter::", "porter::")).texts
    return texts if done.returncode == 0 else ["error"]


@pytest.mark.slow
@needs("clang++")
@pytest.mark.parametrize("example", EXAMPLES)
def test_each_vendor_sees_its_own(example: Example) -> None:
    """CUDA's compilers the example, AMD's the port, conditions evaluated."""
    source = SourceFile(example.path, example.before.encode())
    ported = port(source, context(example, all_rules()), example.path)
    found = transform(source.data, ported.edits)
    dual_text = found.data.decode("latin-1")
    for passes in ((), PASSES[0]):
        assert seen(dual_text, *CUDA, *passes) == seen(source.text, *CUDA, *passes)
    macros = "".join(f"#define {old} {new}\n" for old, new in found.macros)
    for passes in ((), PASSES[1]):
        if "A020" not in {
            one.code for one in ported.findings
        }:  # what `##` makes of CUDA's names keeps them, where it is used as well
            assert seen(macros + dual_text, *AMD, *passes) == seen(ported.data.decode("latin-1"), *AMD, *passes)


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


@pytest.mark.parametrize(
    ("line", "old", "new", "wanted"),
    [
        (
            "#if __CUDA_ARCH__ >= 800",
            "__CUDA_ARCH__",
            "PORTER_CUDA_ARCH",
            "#if (__CUDA_ARCH__ + PORTER_CUDA_ARCH) >= 800",
        ),
        (
            "#ifdef __CUDA_ARCH__",
            "__CUDA_ARCH__",
            "PORTER_CUDA_ARCH",
            "#if defined(__CUDA_ARCH__) || defined(PORTER_CUDA_ARCH)",
        ),
        (
            "#ifdef __CUDACC_RTC__",
            "__CUDACC_RTC__",
            "__HIPCC_RTC__",
            f"#if (defined({GUARD}) && defined(__HIPCC_RTC__)) || (!defined({GUARD}) && defined(__CUDACC_RTC__))",
        ),
        (
            "#elif A > 1  // so",
            "A",
            "(B + 1)",
            f"#elif (defined({GUARD}) && ((B + 1) > 1)) || (!defined({GUARD}) && (A > 1))  // so",
        ),
    ],
)
def test_conditions_ask_each_vendor_for_its_own(line: str, old: str, new: str, wanted: str) -> None:
    once = dual(f"#if X\n{line}\nint a;\n#endif\n#endif\n", (old, new))
    assert once.splitlines()[1] == wanted
    assert dual(once, (old, new)) == once


def test_a_version_is_asked_for_by_its_macro() -> None:
    text = "#if defined(CUDA_VERSION) && CUDA_VERSION > 11000\nint a;\n#endif\n"
    assert dual(text, ("CUDA_VERSION", "PORTER_CUDA_VERSION")) == text


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_second_port_changes_nothing(example: Example) -> None:
    """Not the file, and not the headers: what AMD's lines say already, the first port's headers still supply."""
    source = SourceFile(example.path, example.before.encode())
    rules = context(example, all_rules())
    first = transform(source.data, port(source, rules, example.path).edits)
    headers = generated(collect([pack(first.macros, first.headers, first.includes, device=True)]))
    again = SourceFile(example.path, as_amd_sees(first.data))
    second = transform(first.data, port(again, rules, example.path).edits)
    assert second.data == first.data
    needs = collect([pack(second.macros, second.headers, second.includes, device=True), earlier(headers)])
    assert generated(needs) == headers


def test_a_finding_across_both_halves_is_not_done_by_half() -> None:
    """The brace of CUDA's half opens nothing for AMD, where the block has its own."""
    text = f"#ifdef {GUARD}\nvoid f(int a) {{ wait();\n#else\nvoid f(int a) {{\n#endif\n  a = max(a, 2u);\n}}\n"
    seen = as_amd_sees(text.encode()).decode()
    assert len(seen) == len(text)
    assert seen.count("{") == seen.count("}")
    assert seen.splitlines()[3] == " " * len("void f(int a) {")
    assert [i for i, c in enumerate(seen) if c == "\n"] == [i for i, c in enumerate(text) if c == "\n"]


@pytest.mark.parametrize(
    "text",
    [
        "#ifdef __CUDACC__\nint a;\n#else\nint b;\n#endif\n",
        f"#if defined({GUARD}) || A\nint a;\n#else\nint b;\n#endif\n",
        f"// {GUARD}\n#ifdef A\nint a;\n#else\nint b;\n#endif\n",
        f"#ifdef {GUARD}\nint a;\n#elif A\nint b;\n#else\nint c;\n#endif\n",
    ],
)
def test_what_amd_builds_may_see_stays(text: str) -> None:
    assert as_amd_sees(text.encode()) == text.encode()


def test_amds_lines_have_hips_names_and_need_no_macro() -> None:
    text = "a(cudaFoo, max(1, 2u));\n"
    found = transform(text.encode(), [edit(text, "cudaFoo", "hipFoo"), edit(text, "max", "porter::max")])
    assert found.data.decode() == f"#ifdef {GUARD}\na(hipFoo, porter::max(1, 2u));\n#else\n{text}#endif\n"
    assert found.macros == ()
    text += "\n\n\ncudaFoo();\n"
    found = transform(
        text.encode(),
        [edit(text, "max", "porter::max"), *(Edit(m.start(), m.end(), "hipFoo") for m in re.finditer("cudaFoo", text))],
    )
    assert found.data.decode().endswith("#endif\n\n\n\ncudaFoo();\n")
    assert found.macros == (("cudaFoo", "hipFoo"),)


def test_headers_of_an_earlier_port_say_what_they_supply() -> None:
    needs = [
        pack(
            [("cudaFree", "hipFree")], [("cub/cub.cuh", ("<hipcub/hipcub.hpp>",))], ["porter/warp32.hpp"], device=True
        ),
        pack([], [("x.h", ("porter/texture.hpp",))], ["<hip/hip_fp16.h>"], device=False),
    ]
    headers = generated(collect(needs))
    assert generated(collect([earlier(headers)])) == headers
    newer = generated(collect([pack([("cudaFree", "hipFree2")], [], [], device=True), earlier(headers)]))
    assert b"#define cudaFree hipFree2\n" in newer[NAMES]
    assert newer[NAMES].count(b"#define") == 1
