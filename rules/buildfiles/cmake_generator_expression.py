"""K108: generator expressions on the CUDA language."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.buildfiles.rule import BuildRule, BuildUnit, Edit, Effort, Finding, Kind, clean, fixes

_LANGUAGE = re.compile(r"\$<(COMPILE_LANGUAGE|LINK_LANGUAGE|COMPILE_LANG_AND_ID|LINK_LANG_AND_ID):([\w,+ ]*)>")
_COMPILER = re.compile(r"\$<CUDA_COMPILER_(ID|VERSION)(:[\w,.]*)?>")


class CMakeGeneratorExpression(BuildRule):
    """Generator expression on the CUDA language

    `$<COMPILE_LANGUAGE:CUDA>` is false for HIP, so that flags and definitions would vanish in silence. The compiler of
    HIP is a Clang.
    """

    code = "K108"
    kinds = frozenset({Kind.CMAKE})
    hazards = ("cmake-generator-expr",)
    examples = (
        fixes(
            "add_compile_options($<$<COMPILE_LANGUAGE:CXX,CUDA>:-O2>)",
            "add_compile_options($<$<COMPILE_LANGUAGE:CXX,HIP>:-O2>)",
            path="CMakeLists.txt",
        ),
        fixes(
            'add_compile_options("$<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:-O2>")',
            'add_compile_options("$<$<COMPILE_LANG_AND_ID:HIP,Clang>:-O2>")',
            path="CMakeLists.txt",
        ),
        clean("add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-DCUDA>)", path="CMakeLists.txt"),
        clean("# $<COMPILE_LANGUAGE:CUDA>", path="CMakeLists.txt"),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """Yields findings; changes nothing."""
        for command in unit.commands:
            if not command.arguments:
                continue
            first, last = command.arguments[0].start, command.arguments[-1].end
            for match in _LANGUAGE.finditer(unit.text, first, last):
                parts = match[2].split(",")
                new = [("HIP" if part.strip() == "CUDA" else part) for part in parts]
                if match[1].endswith("_ID") and new != parts:
                    new = ["Clang" if part == "NVIDIA" else part for part in new]
                if new != parts:
                    yield self.replaced(unit, match.start(2), match.end(2), ",".join(new))
            for match in _COMPILER.finditer(unit.text, first, last):
                value = (match[2] or "").replace("NVIDIA", "Clang")
                new_text = f"$<HIP_COMPILER_{match[1]}{value}>"
                edits = (Edit(match.start(), match.end(), new_text),)
                effort = Effort.REVIEW if match[1] == "VERSION" else Effort.NONE
                message = f"{match[0]} becomes {new_text}: the compiler is a Clang"
                yield self.finding(unit, match.start(), match.end(), message, effort, edits)
