"""K303: CUDA's libraries on link lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.buildfiles.tables import is_nvidia_library, library, linked_files
from porter.buildfiles.unit import BuildRule, BuildUnit, Kind, removal
from porter.engine.rule import Edit, Effort, Finding, clean, fixes, reports

_LIBRARY = re.compile(r"(?<![\w-])-l:?(\w[\w-]*)(?![\w.])")


class LinkLibrary(BuildRule):
    """CUDA library on a link line

    `-lcublas` is `-lhipblas`, `-lcudart` is `-lamdhip64`; rules/buildfiles/cmake.toml has the list. Libraries without a
    counterpart are reported. A file is the same (`$(CUDA_DIR)/lib64/libcudart.so`): a Makefile that asks whether it is
    there would go on without a GPU.
    """

    code = "K303"
    kinds = frozenset({Kind.MAKE, Kind.SHELL})
    hazards = ("makefile-nvcc",)
    examples = (
        fixes("LIBS = -lcudart -lcublas -lm", "LIBS = -lamdhip64 -lhipblas -lm", path="Makefile"),
        fixes("LIBS = -lcudadevrt -lm", "LIBS = -lm", path="Makefile"),
        fixes(
            "L := $(wildcard $(CUDA_DIR)/libcudart.${SO_EXT} /a/libcublas.so)",
            "L := $(wildcard $(CUDA_DIR)/libamdhip64.${SO_EXT} /a/libhipblas.so)",
            path="Makefile",
        ),
        fixes("test -e /a/libcuda.so.1", "test -e /a/libamdhip64.so.1", path="a.sh", effort=Effort.REVIEW),
        fixes("L = /a/libcudart_static.a", "L = /a/libamdhip64.so", path="Makefile", effort=Effort.REVIEW),
        reports("L = /a/libcudadevrt.a", path="Makefile"),
        reports("L = /a/libcudnn.so", path="Makefile"),
        clean("L = /a/libcudart.txt libmycublas.so -lcudaware.so lib.so # libcudart.so", path="Makefile"),
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
            for file in linked_files(text):
                where = (start + file.start, start + file.end)
                edits = (Edit(*where, file.new),) if file.new is not None else ()
                yield self.finding(unit, *where, file.message, file.effort, edits)
