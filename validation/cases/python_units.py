"""What a Python file has compiled as CUDA, as sources that any compiler takes; nothing of the file is run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from porter.validation.cases.python_kernels import NotMade, elementwise, marked, reduction

from porter.engine.python_strings import PythonProgram, PythonSource, programs_of
from porter.source import SourceFile
from porter.system.reading import read_regular

_TORCH = re.compile(r"\b(?:torch|at|c10)::")


@dataclass(frozen=True)
class PythonUnit:
    """The texts that one call compiles together."""

    program: PythonProgram
    names: frozenset[str]
    """Variables that hold its texts."""
    lines: frozenset[int]
    """Of the call and its texts."""
    content: str = ""
    problem: str = ""

    @property
    def line(self) -> int:
        """Where the call is."""
        return self.program.call.lineno


def python_units(path: Path, *, for_hip: bool = False) -> tuple[PythonUnit, ...]:
    """Everything that a file has compiled, in order; raises OSError."""
    source = SourceFile(str(path.absolute()), read_regular(path))
    return tuple(_unit(source, program, for_hip) for program in programs_of(source))


def _unit(source: SourceFile, program: PythonProgram, for_hip: bool) -> PythonUnit:
    names = frozenset(text.name for text in program.texts if text.name)
    spans = [(program.call.lineno, program.call.end_lineno or program.call.lineno)]
    for text in program.texts:
        if text.literal is not None:
            first, last = (source.position(text.literal.position(at))[0] for at in (0, len(text.literal.text)))
            spans.append((first, last))
    lines = frozenset(line for first, last in spans for line in range(first, last + 1))
    problem = next((text.problem for text in program.texts if text.problem), "")
    try:
        content = "" if problem else _content(source, program, for_hip)
    except NotMade as error:
        content, problem = "", str(error)
    return PythonUnit(program, names, lines, content, problem)


def _content(source: SourceFile, program: PythonProgram, for_hip: bool) -> str:
    texts = {role: "".join(marked(source, text) for text in found) for role, found in _by_role(program).items()}
    if program.name == "ElementwiseKernel":
        return elementwise(program, texts)
    if program.name == "ReductionKernel":
        return reduction(program, texts)
    whole = "".join(texts.values())
    if program.name == "SourceModule" and program.words.get("no_extern_c", "False") not in ("True", "1"):
        return f'extern "C" {{\n{whole}}}\n'
    if program.name == "load_inline":
        runtime = "<hip/hip_runtime.h>" if for_hip else "<cuda_runtime.h>"
        return "".join(["#include <torch/types.h>\n"] * bool(_TORCH.search(whole)) + [f"#include {runtime}\n", whole])
    return whole


def _by_role(program: PythonProgram) -> Mapping[str, list[PythonSource]]:
    found: dict[str, list[PythonSource]] = {}
    for text in program.texts:
        found.setdefault(text.role, []).append(text)
    return found


def named(units: tuple[PythonUnit, ...], kernel: str, string: str) -> Iterator[int]:
    """The places of the units that have a kernel; `string` is a variable, a line, or empty."""
    word = re.compile(rf"\b{re.escape(kernel)}\b")
    for index, unit in enumerate(units):
        is_meant = not string or string in unit.names or (string.isdigit() and int(string) in unit.lines)
        if is_meant and word.search(unit.content):
            yield index
