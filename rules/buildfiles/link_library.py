"""K303: CUDA's libraries on link lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.buildfiles.tables import is_nvidia_library, library
from porter.buildfiles.unit import BuildRule, BuildUnit, Kind, removal
from porter.engine.rule import Effort, Finding, clean, fixes, reports

_LIBRARY = re.compile(r"(?<![\w-])-l:?(\w[\w-]*)(?![\w.])")


class LinkLibrary(BuildRule):
    """CUDA library on a link line

    `-lcublas` is `-lhipblas`, `-lcudart` is `-lamdhip64`; rules/buildfiles/cmake.toml has the list. Libraries without a
    counterpart are reported.
    """

    code = "K303"
    kinds = frozenset({Kind.MAKE, Kind.SHELL})
    hazards = ("makefile-nvcc",)
    examples = (
        fixes("LIBS = -lcudart -lcublas -lm", "LIBS = -lamdhip64 -lhipblas -lm", path="Makefile"),
        fixes("LIBS = -lcudadevrt -lm", "LIBS = -lm", path="Makefile"),
        reports("LIBS = -lcudnn", path="Makefile"),
        clean("LIBS = -lcudaware # -lcublas", path="Makefile"),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """Yields findings; changes nothing."""
        for start, text in unit.makefile.code:
            for match in _LIBRARY.finditer(text):
                new = library(match[1])
                where = (start + match.start(), start + match.end())
                if new is None and is_nvidia_library(match[1]):
                    message = f"-l{match[1]} is NVIDIA's: no counterpart that could be linked"
                    yield self.finding(unit, *where, message, Effort.MANUAL)
                elif new == "":
                    edit = (removal(unit.text, *where),)
                    yield self.finding(unit, *where, f"{match[0]} is left out", Effort.NONE, edit)
                elif new is not None:
                    yield self.replaced(unit, *where, f"-l{new}")
