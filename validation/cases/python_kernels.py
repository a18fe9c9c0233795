"""Kernels around expressions: what CuPy and PyCUDA make of one for arrays without gaps, as source with its lines."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from porter.cpp.literals import Literal
from porter.engine.python_strings import PythonProgram, PythonSource
from porter.source import SourceFile

C_TYPES = {
    "bool": "bool", "bool_": "bool", "float16": "__half", "float32": "float", "float64": "double",
    "int8": "signed char", "int16": "short", "int32": "int", "int64": "long long",
    "uint8": "unsigned char", "uint16": "unsigned short", "uint32": "unsigned int", "uint64": "unsigned long long",
    "intp": "long long", "uintp": "unsigned long long", "float": "double", "int": "long long",
}  # fmt: skip
"""By numpy's name of an element type."""
_PARAMETER = re.compile(r"(?P<words>(?:(?:raw|const|__restrict__)\s+)*)(?P<type>\w+)\s+(?P<name>\w+)")
_ARRAY = """\
namespace porter_python {
template <typename T> struct Array {
  T* data; long long length;
  __device__ T& operator[](long long i) const { return data[i]; }
  __device__ long long size() const { return length; }
};
struct Index {
  long long length;
  __device__ long long size() const { return length; }
};
}
"""
_MOST_THREADS = 1024


class NotMade(Exception):
    """There is no kernel of ours for this, and why."""


@dataclass(frozen=True)
class Passed:
    """A parameter of an elementwise or reduction kernel of CuPy."""

    name: str
    type: str
    """In C++; a letter is a template parameter."""
    is_raw: bool
    is_result: bool
    is_scalar: bool = False
    """Used where there is no element: the call passes one value."""


def marked(source: SourceFile, text: PythonSource) -> str:
    """A text with the lines of the file that it stands in."""
    return "" if text.literal is None else lined(source, text.literal)


def lined(source: SourceFile, literal: Literal) -> str:
    """The text of a literal, with its lines numbered as in the file, as far as directives can stand there."""
    name = source.path.replace("\\", "\\\\").replace('"', '\\"')
    made: list[str] = []
    expected: int | None = None
    at = 0
    lines = literal.text.split("\n")
    while len(lines) > 1 and not lines[-1].strip():
        lines.pop()
    for number, line in enumerate(lines):
        is_free = not (number and lines[number - 1].rstrip().endswith("\\"))
        is_free = is_free and literal.text.rfind("/*", 0, at) <= literal.text.rfind("*/", 0, at)
        wanted = source.position(literal.position(at))[0]
        if wanted != expected and is_free and line.strip():
            made.append(f'#line {wanted} "{name}"\n')
            expected = wanted
        elif wanted != expected and not is_free:
            expected = None
        made.append(line + "\n")
        expected = None if expected is None else expected + 1
        at += len(line) + 1
    return "".join(made)


def parameters_of(program: PythonProgram) -> tuple[Passed, ...]:
    """Those of a kernel of CuPy; raises NotMade."""
    found: list[Passed] = []
    for word, is_result in (("in_params", False), ("out_params", True)):
        for part in filter(str.strip, program.words.get(word, "").split(",")):
            match = _PARAMETER.fullmatch(part.strip())
            if match is None:
                raise NotMade(f"{word} cannot be read: {' '.join(part.split())}")
            kind = match["type"]
            if len(kind) > 1 and kind not in C_TYPES:
                raise NotMade(f"{match['name']} is of type {kind}")
            is_raw = "raw" in match["words"]
            is_scalar = not is_result and _is_scalar(program, match["name"], is_raw=is_raw)
            found.append(Passed(match["name"], C_TYPES.get(kind, kind), is_raw and not is_scalar, is_result, is_scalar))
    if not found or not any(passed.is_result for passed in found):
        raise NotMade("it has no result")
    return tuple(found)


def _is_scalar(program: PythonProgram, name: str, *, is_raw: bool) -> bool:
    """Whether a parameter is used before the loop, or is raw and never indexed."""
    word = re.escape(name)
    texts = [(text.role, text.literal.text) for text in program.texts if text.literal is not None]
    if is_raw:
        return not any(re.search(rf"\b{word}\s*[\[.]", text) for _, text in texts)
    around = [text for role, text in texts if role in ("loop_prep", "after_loop", "post_map_expr")]
    return any(re.search(rf"(?<![\w.]){word}\b", text) for text in around)


def letters(passed: tuple[Passed, ...]) -> tuple[str, ...]:
    """Types that the call decides."""
    return tuple(dict.fromkeys(one.type for one in passed if len(one.type) == 1))


def name_of(program: PythonProgram) -> str:
    """The kernel's; raises NotMade."""
    usual = "reduce_kernel" if program.name == "ReductionKernel" else "kernel"
    name = program.words.get("name", usual)
    if not re.fullmatch(r"[A-Za-z_]\w*", name):
        raise NotMade(f"its name is made at run time: {name}")
    return name


def _head(program: PythonProgram, passed: tuple[Passed, ...]) -> str:
    kinds = letters(passed)
    template = f"template <{', '.join(f'typename {kind}' for kind in kinds)}>\n" if kinds else ""
    shown: list[str] = []
    for one in passed:
        if one.is_scalar:
            shown.append(f"{one.type} {one.name}")
            continue
        shown.append(f"{'' if one.is_result else 'const '}{one.type}* porter_{one.name}")
        shown += [f"long long {one.name}_size"] if one.is_raw else []
    return f"{template}__global__ void {name_of(program)}({', '.join(shown)}, long long porter_n) {{\n"


def _views(passed: tuple[Passed, ...]) -> str:
    """Arrays that an expression indexes itself."""
    return "".join(
        f"  porter_python::Array<{'' if one.is_result else 'const '}{one.type}> "
        f"{one.name}{{porter_{one.name}, {one.name}_size}};\n"
        for one in passed
        if one.is_raw
    )


def _elements(passed: tuple[Passed, ...], index: str) -> str:
    return "".join(
        f"    {'' if one.is_result else 'const '}{one.type}& {one.name} = porter_{one.name}[{index}];\n"
        for one in passed
        if not one.is_raw and not one.is_scalar
    )


def elementwise(program: PythonProgram, texts: Mapping[str, str]) -> str:
    """One thread per element, in a loop over the grid; raises NotMade."""
    preamble, before, after = (texts.get(role, "") for role in ("preamble", "loop_prep", "after_loop"))
    operation = texts.get("operation", "")
    if program.compiler.library == "PyCUDA":
        head = f"__global__ void {name_of(program)}({_declared(program)}, long n) {{\n"
        start = "  unsigned tid = threadIdx.x, total_threads = gridDim.x * blockDim.x;\n"
        start += "  unsigned cta_start = blockDim.x * blockIdx.x;\n"
        loop = "  for (unsigned i = cta_start + tid; i < n; i += total_threads) {\n"
        return f"{preamble}{head}{start}{before};\n{loop}{operation};\n  }}\n{after};\n}}\n"
    passed = parameters_of(program)
    start = f"{_views(passed)}  porter_python::Index _ind{{porter_n}};\n"
    loop = (
        "  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < porter_n;\n"
        "       i += gridDim.x * (long long)blockDim.x) {\n"
    )
    inside = f"{loop}{_elements(passed, 'i')}{operation};\n  }}\n"
    return f"{_ARRAY}{preamble}{_head(program, passed)}{start}{before};\n{inside}{after};\n}}\n"


def declared(program: PythonProgram) -> tuple[tuple[str, str, str], ...]:
    """Type, `*` or nothing, and name of the arguments of a kernel of PyCUDA; raises NotMade."""
    text = program.words.get("arguments", "")
    parts = (re.sub(r"\b(?:const|__restrict__)\b", "", part).strip() for part in text.split(","))
    found = [re.fullmatch(r"([\w\s:<>]+?)\s*(\*\s*|\s)(\w+)", part) for part in parts]
    if not text or None in found:
        raise NotMade(f"its arguments are made at run time: {text[:60]}")
    return tuple((match[1].strip(), match[2].strip(), match[3]) for match in found if match is not None)


def _declared(program: PythonProgram) -> str:
    declared(program)
    return program.words["arguments"]


def reduction(program: PythonProgram, texts: Mapping[str, str]) -> str:
    """All elements to one result, by one block; raises NotMade."""
    if program.compiler.library == "PyCUDA":
        return _reduction_of_pycuda(program, texts)
    passed = parameters_of(program)
    results = tuple(one for one in passed if one.is_result)
    kind = program.words.get("reduce_type", "None")
    kind = results[0].type if kind == "None" else C_TYPES.get(kind, kind)
    neutral = program.words.get("identity", "None").replace("None", "")
    sizes = "  porter_python::Index _in_ind{porter_n}, _out_ind{1};\n"
    given = _elements(tuple(one for one in passed if not one.is_result), "i")
    tree = _tree(kind, neutral, texts["map_expr"], texts["reduce_expr"], "porter_n", given)
    post = f"    _type_reduce a = porter_sums[0];\n{_elements(results, '0')}{texts.get('post_map_expr', '')};\n"
    return (
        f"{_ARRAY}{texts.get('preamble', '')}{_head(program, passed)}{_views(passed)}{sizes}{tree}"
        f"  if (threadIdx.x == 0) {{\n{post}  }}\n}}\n"
    )


def _reduction_of_pycuda(program: PythonProgram, texts: Mapping[str, str]) -> str:
    arguments = _declared(program)
    kind = program.words.get("dtype_out", "").rpartition(".")[2]
    if kind not in C_TYPES:
        raise NotMade(f"its result is of type {program.words.get('dtype_out', 'unknown')}")
    arrays = [name for _, star, name in declared(program) if star]
    if "map_expr" not in texts and not arrays:
        raise NotMade("it has no array")
    mapped = texts.get("map_expr") or f"{arrays[0]}[i]"
    head = f"__global__ void {name_of(program)}({C_TYPES[kind]}* porter_out, {arguments}, long n) {{\n"
    tree = _tree(C_TYPES[kind], program.words.get("neutral", "0"), mapped, texts["reduce_expr"], "n", "")
    return f"{texts.get('preamble', '')}{head}{tree}  if (threadIdx.x == 0) porter_out[0] = porter_sums[0];\n}}\n"


def _tree(kind: str, neutral: str, mapped: str, reduced: str, count: str, elements: str) -> str:
    """Each thread its share, then halves of the block."""
    return (
        f"  typedef {kind} _type_reduce;\n"
        f"  __shared__ __align__(16) char porter_raw[{_MOST_THREADS} * sizeof(_type_reduce)];\n"
        "  _type_reduce* porter_sums = reinterpret_cast<_type_reduce*>(porter_raw);\n"
        f"  _type_reduce porter_sum = _type_reduce({neutral});\n"
        f"  for (long long i = threadIdx.x; i < {count}; i += blockDim.x) {{\n{elements}"
        f"    _type_reduce porter_value = static_cast<_type_reduce>(\n{mapped});\n"
        f"    {{ _type_reduce a = porter_sum, b = porter_value; porter_sum = (\n{reduced}); }}\n  }}\n"
        "  porter_sums[threadIdx.x] = porter_sum;\n  __syncthreads();\n"
        "  for (unsigned porter_half = blockDim.x / 2; porter_half; porter_half /= 2) {\n"
        "    if (threadIdx.x < porter_half) {\n"
        "      _type_reduce a = porter_sums[threadIdx.x], b = porter_sums[threadIdx.x + porter_half];\n"
        f"      porter_sums[threadIdx.x] = (\n{reduced});\n"
        "    }\n    __syncthreads();\n  }\n"
    )
