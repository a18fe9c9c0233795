"""H002: `half2 = {}`."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes

_TYPES = (
    "half",
    "half2",
    "__half",
    "__half2",
    "nv_bfloat16",
    "nv_bfloat162",
    "__nv_bfloat16",
    "__nv_bfloat162",
)


class HalfFromEmptyBraces(Rule):
    """Half value assigned from empty braces

    `x = {};` resets a half to zero in CUDA. HIP's half types can be assigned from several types that empty braces
    could mean, which is ambiguous, so the type is written out.
    """

    code = "H002"
    triggers = frozenset(_TYPES)
    hazards = ()
    examples = (
        fixes(
            "__device__ void f() { half2 a, b; a = {}; b = {}; }",
            "__device__ void f() { half2 a, b; a = half2{}; b = half2{}; }",
        ),
        clean("__device__ void f() { half2 a = {}; }"),
        clean("__device__ void f() { half2 a; float2 b; b = {}; s.a = {}; }"),
        clean("__device__ void f(half2 *a) { b = {}; half2 b; }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per assignment."""
        texts = unit.tokens.texts
        declared = sorted(place for type_ in _TYPES for place in self._declared(unit, type_))
        names = {name for _, name, _ in declared}
        for name in names:
            for index in unit.tokens.names[name]:
                if texts[index + 1 : index + 5] != ["=", "{", "}", ";"] or texts[index - 1] in (".", "->"):
                    continue
                before = [type_ for place, other, type_ in declared if other == name and place < index]
                if before and not any(place == index for place, _, _ in declared):
                    span = unit.span(index + 2, index + 3)
                    edits = (Edit(span.start, span.start, before[-1]),)
                    yield self.finding(unit, span, f"{before[-1]} = {{}} is ambiguous in HIP", Effort.NONE, edits)

    @staticmethod
    def _declared(unit: Unit, type_: str) -> Iterator[tuple[int, str, str]]:
        """Token, name and type of the plain variables declared in lists such as `half2 a, b;`."""
        texts, kinds = unit.tokens.texts, unit.tokens.kinds
        for index in unit.occurrences(type_) if type_ in unit.tokens.names else ():
            place = index + 1
            while kinds[place] == "i" and texts[place + 1] in (",", ";", "=", ")"):
                yield place, texts[place], type_
                if texts[place + 1] != ",":
                    break
                place += 2
