"""R024: `memoryType` of pointer attributes."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Edit, Effort, Example, Finding, Rule, Settings, Unit, clean, fixes
from porter.names.table import version_key

_TYPES = ("cudaPointerAttributes", "hipPointerAttribute_t")


class PointerMemoryType(Rule):
    """Old name of a pointer's memory type

    Until CUDA 10 `cudaPointerAttributes` had `memoryType`; since then, and in HIP since ROCm 6.0, the field is `type`.
    """

    code = "R024"
    triggers = frozenset({"memoryType"})
    examples = (
        fixes(
            "bool f(void *p) { cudaPointerAttributes a; return a.memoryType == cudaMemoryTypeDevice; }",
            "bool f(void *p) { cudaPointerAttributes a; return a.type == cudaMemoryTypeDevice; }",
        ),
        fixes(
            "int f(struct cudaPointerAttributes *a) { return a->memoryType; }",
            "int f(struct cudaPointerAttributes *a) { return a->type; }",
        ),
        clean("int f(P a) { cudaFree(0); return a.memoryType; }"),
        Example(
            "int f(cudaPointerAttributes a) { return a.memoryType; }", None, None, "example.cu", Settings(rocm="5.7")
        ),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per use."""
        rocm = unit.settings.rocm
        if rocm is not None and version_key(rocm) < version_key("6.0"):
            return
        tokens = unit.tokens
        declared = {
            tokens.texts[place]
            for name in _TYPES
            for index in tokens.names.get(name, ())
            for place in (index + 1, index + 2)
            if tokens.kinds[place] == "i"
        }
        for index in tokens.names.get("memoryType", ()):
            if tokens.texts[index - 1] in (".", "->") and tokens.texts[index - 2] in declared:
                span = unit.span(index)
                message = "memoryType is type since CUDA 10 and ROCm 6.0"
                yield self.finding(unit, span, message, Effort.NONE, (Edit(*span, "type"),))
