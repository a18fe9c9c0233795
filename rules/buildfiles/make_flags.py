"""K301: nvcc's flags in Makefiles and scripts."""

from __future__ import annotations

from collections.abc import Iterator

from porter.buildfiles.rule import BuildRule, BuildUnit, Effort, Finding, Kind, clean, fixes, reports


class MakeFlags(BuildRule):
    """Flags of nvcc in a Makefile or script

    Flags in command lines that call nvcc, and in the variables that these use, are those of hipcc afterwards;
    rules/buildfiles/flags.toml is the table. Flags that no other compiler has are rewritten wherever they stand.
    """

    code = "K301"
    kinds = frozenset({Kind.MAKE, Kind.SHELL})
    hazards = ("nvcc-flags-rejected", "nvcc-flags-silently-misread", "fast-math-flag", "makefile-nvcc")
    examples = (
        fixes(
            "NVCC = hipcc\nNVCCFLAGS = -O2 -arch=sm_80 -Xcompiler -Wall",
            "NVCC = hipcc\nNVCCFLAGS = -O2 --offload-arch=gfx942 -Wall",
            path="Makefile",
        ),
        fixes("a:\n\t$(NVCC) -G a.c -o a", "a:\n\t$(NVCC) -g -Xarch_device -O0 a.c -o a", path="Makefile"),
        fixes(
            "nvcc -dc -ftz=true a.c\n",
            "nvcc -fgpu-rdc -c -fgpu-flush-denormals-to-zero a.c\n",
            path="build.sh",
            effort=Effort.REVIEW,
        ),
        fixes(
            "F = -gencode=arch=compute_70,code=sm_70 \\\n\t-gencode=arch=compute_80,code=sm_80\nifdef A\nendif\n"
            "a:\n\tnvcc $(F)",
            "F = --offload-arch=gfx942 \\\n\t\nifdef A\nendif\na:\n\tnvcc $(F)",
            path="Makefile",
        ),
        reports("a:\n\t$(NVCC) --frobnicate a.c", path="Makefile", effort=Effort.REVIEW),
        clean("CXX = g++\na:\n\t$(CXX) -G a.c", path="Makefile"),
        clean("# nvcc -arch=sm_80\nall:", path="Makefile"),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """Yields findings; changes nothing."""
        make = unit.makefile
        for assignment in make.assignments:
            certain = assignment.name in make.flag_variables
            for words in make.words(assignment.start, assignment.end):
                yield from self.flags(unit, words, all_known=certain, arch_flags=True)
        for line in make.lines:
            if unit.kind is Kind.SHELL and any(a.start <= line.start < a.end for a in make.assignments):
                continue
            certain = make.calls_nvcc(*line)
            for words in make.words(*line):
                yield from self.flags(unit, words, all_known=certain, arch_flags=True)
