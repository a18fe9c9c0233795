"""R012: prefetches and advice with a memory location."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Edit, Effort, Finding, Rule, Span, Unit, clean, fixes

_SUPPORT = "porter/memory_location.hpp"
_PLACE = {"cudaMemPrefetchAsync": 2, "cudaMemAdvise": 3}
_LOCATION = "cudaMemLocation"


class MemoryLocation(Rule):
    """Memory location in place of a device number

    Since CUDA 13, `cudaMemPrefetchAsync` and `cudaMemAdvise` take a `cudaMemLocation`, and the
    prefetch has flags. HIP's functions take the number of a device, or `hipCpuDeviceId`.
    """

    code = "R012"
    triggers = frozenset(_PLACE)
    answers = triggers
    hazards = ("prefetch-advise-signature",)
    examples = (
        fixes(
            "void f(void *p, cudaMemLocation to) { cudaMemPrefetchAsync(p, 4, to, 0, stream); }",
            "void f(void *p, cudaMemLocation to) { cudaMemPrefetchAsync(p, 4, porter::device_of(to), stream); }",
        ),
        fixes(
            "void f(void *p, cudaMemLocation to) { cudaMemAdvise(p, 4, advice, to); }",
            "void f(void *p, cudaMemLocation to) { cudaMemAdvise(p, 4, advice, porter::device_of(to)); }",
        ),
        clean("void f(void *p, int device) { cudaMemPrefetchAsync(p, 4, device, stream); }"),
        clean("void f(void *p) { cudaMemPrefetchAsync(p, 4, cudaCpuDeviceId); }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per call with a location."""
        for name, place in _PLACE.items():
            for index in unit.occurrences(name):
                arguments = unit.arguments(index)
                if place < len(arguments) and self._is_location(unit, index, place, arguments[place]):
                    yield self._with_device(unit, index, name, arguments, place)

    def _with_device(self, unit: Unit, index: int, name: str, arguments: list[Span], place: int) -> Finding:
        start, end = arguments[place]
        braced = unit.slice(arguments[place]).startswith("{")
        edits = [
            Edit(start, start, f"porter::device_of({_LOCATION * braced}"),
            Edit(end, end, ")"),
        ]
        if name == "cudaMemPrefetchAsync" and place + 1 < len(arguments):
            edits.append(Edit(end, arguments[place + 1].end, ""))
        message = f"{name} takes the number of a device in HIP"
        return self.finding(unit, unit.span(index), message, Effort.NONE, tuple(edits), (_SUPPORT,))

    @staticmethod
    def _is_location(unit: Unit, index: int, place: int, argument: Span) -> bool:
        text = unit.slice(argument)
        if text.startswith(("{", _LOCATION)):
            return True
        texts = unit.tokens.texts
        declared = (texts[i - 1] for i in unit.tokens.names.get(text, ()) if i)
        if _LOCATION in declared:
            return True
        types = unit.semantics.call_argument_types(unit.tokens.starts[index]) if unit.semantics else None
        return types is not None and place < len(types) and _LOCATION in (types[place] or "")
