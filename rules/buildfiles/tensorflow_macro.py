"""K306: TensorFlow's macro for CUDA among flags and definitions."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.buildfiles.rule import BuildRule, BuildUnit, Finding, Kind, clean, fixes

_ROCM = "TENSORFLOW_USE_ROCM"
_FLAG = re.compile(r"(?<![\w-])-D[ \t]*(GOOGLE_CUDA)\b")
_DEFINITIONS = frozenset({"add_compile_definitions", "target_compile_definitions", "add_definitions"})


class TensorflowMacro(BuildRule):
    """TensorFlow's macro for CUDA

    Whoever compiles an extension of TensorFlow with `-DGOOGLE_CUDA=1` makes TensorFlow's own headers ask for CUDA's.
    Its build for ROCm has `TENSORFLOW_USE_ROCM`; conditions in sources ask for both (P004).
    """

    code = "K306"
    kinds = frozenset({Kind.MAKE, Kind.SHELL, Kind.CMAKE, Kind.PYTHON})
    examples = (
        clean("CXXFLAGS += -DGOOGLE_CUDA_DIR=/x -DMY-DGOOGLE_CUDA", path="Makefile"),
        clean("option(GOOGLE_CUDA OFF)", path="CMakeLists.txt"),
        fixes("CXXFLAGS += -DGOOGLE_CUDA=1", "CXXFLAGS += -DTENSORFLOW_USE_ROCM=1", path="Makefile"),
        fixes("g++ -D GOOGLE_CUDA -c a.cc", "g++ -D TENSORFLOW_USE_ROCM -c a.cc", path="build.sh"),
        fixes(
            "target_compile_definitions(ops PRIVATE GOOGLE_CUDA=1)",
            "target_compile_definitions(ops PRIVATE TENSORFLOW_USE_ROCM=1)",
            path="CMakeLists.txt",
        ),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """Yields findings; changes nothing."""
        for match in _FLAG.finditer(unit.text):
            yield self.replaced(unit, *match.span(1), _ROCM)
        for command in unit.commands if unit.kind is Kind.CMAKE else ():
            for argument in command.arguments if command.name in _DEFINITIONS else ():
                if re.fullmatch(r"GOOGLE_CUDA(?:=\w*)?", argument.text):
                    yield self.replaced(unit, argument.inner, argument.inner + len("GOOGLE_CUDA"), _ROCM)
