"""K307: CMake's variables about CUDA that a script hands over."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.buildfiles.flags import ARCHITECTURE
from porter.buildfiles.rule import BuildRule, BuildUnit, Edit, Effort, Finding, Kind, clean, fixes
from porter.buildfiles.tables import language_variable, table

_DEFINED = re.compile(r"(?<![\w-])-D[ \t]*((?:CMAKE_)?CUDA\w*)(?::\w+)?=(\\?[\"']?)([\w;,\\-]*)(\2(?![\w$@{%]))?")
_ROOT = "ROCM_PATH"


class CmakeDefinition(BuildRule):
    """CMake variable of CUDA that a script hands over

    `cmake -DCMAKE_CUDA_ARCHITECTURES=80` says nothing to a build whose language is HIP: CMake names the variable among
    those that nobody used, and the target is another one. The variable is HIP's then, as in the CMake files (K102), and
    targets that are written out are gfx942. Targets that a variable holds, and flags, are for a person to look at.
    """

    code = "K307"
    kinds = frozenset({Kind.MAKE, Kind.SHELL, Kind.PYTHON})
    hazards = ("cmake-cuda-language",)
    examples = (
        fixes(
            "cmake -B b -DCMAKE_CUDA_ARCHITECTURES=80 -D CMAKE_CUDA_STANDARD=17 .",
            "cmake -B b -DCMAKE_HIP_ARCHITECTURES=gfx942 -D CMAKE_HIP_STANDARD=17 .",
            path="build.sh",
        ),
        fixes(
            'a:\n\tcmake -DCMAKE_CUDA_ARCHITECTURES="70;80" -DCUDA_TOOLKIT_ROOT_DIR=$(R) .',
            'a:\n\tcmake -DCMAKE_HIP_ARCHITECTURES="gfx942" -DROCM_PATH=$(R) .',
            path="Makefile",
        ),
        fixes(
            "cmake -DCMAKE_CUDA_ARCHITECTURES=$ARCH -DCMAKE_CUDA_FLAGS='-lineinfo' .",
            "cmake -DCMAKE_HIP_ARCHITECTURES=$ARCH -DCMAKE_HIP_FLAGS='-lineinfo' .",
            path="build.sh",
            effort=Effort.REVIEW,
        ),
        fixes('args = [f"-DCMAKE_CUDA_COMPILER={path}"]', 'args = [f"-DCMAKE_HIP_COMPILER={path}"]', path="setup.py"),
        clean("cmake -DUSE_CUDA=ON -DCUDA_ARCH=sm_80 -DMY_CMAKE_CUDA_FLAGS=1 .", path="build.sh"),
        clean("g++ -DCUDA_CHECK=1 -c a.cc", path="build.sh"),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """Yields findings; changes nothing."""
        for match in _DEFINED.finditer(unit.text):
            name = match[1]
            new = language_variable(name) or (_ROOT if _is_root(name) else None)
            if new is None:
                continue
            edits = [Edit(*match.span(1), new)]
            message, effort = f"{name} is {new} for HIP", Effort.NONE
            if name == "CMAKE_CUDA_ARCHITECTURES" and match[3] and match[4] is not None:
                edits.append(Edit(*match.span(3), ARCHITECTURE))
            elif name == "CMAKE_CUDA_ARCHITECTURES":
                message, effort = f"{message}: it must hold AMD targets such as {ARCHITECTURE}", Effort.REVIEW
            elif name.startswith("CMAKE_CUDA_FLAGS"):
                message, effort = f"{message}: its flags must be clang's", Effort.REVIEW
            yield self.finding(unit, *match.span(1), message, effort, tuple(edits))


def _is_root(name: str) -> bool:
    """Whether CMake files take ROCm's folder for the variable."""
    return bool(table("variables").get(name, {}).get("text") == f"${{{_ROOT}}}")
