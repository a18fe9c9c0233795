"""H002: `half2 = {}`."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.declared import declares
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
    could mean, which is ambiguous, so the type is written out. So it is where a template calls the type by an alias
    (`using T2 = typename Pair<T>::type;`): for all others it means the same.
    """

    code = "H002"
    triggers = frozenset(_TYPES)
    hazards = ()
    examples = (
        fixes(
            "__device__ void f() { half2 a, b; a = {}; b = {}; }",
            "__device__ void f() { half2 a, b; a = half2{}; b = half2{}; }",
        ),
        fixes(
            "template <class T> __device__ void f(half h) { using T2 = typename Two<T>::type; T2 a; a = {}; }",
            "template <class T> __device__ void f(half h) { using T2 = typename Two<T>::type; T2 a; a = T2{}; }",
        ),
        clean("template <class T> __device__ void f(half h) { using T2 = Two<int>; T2 a; a = {}; }"),
        clean("template <class T> __device__ void f(half h) { using T2 = typename Two<T>::type; T2 *a; a = {}; }"),
        clean("template <class T> __device__ void f() { using T2 = typename Two<T>::type; T2 a; a = {}; }"),
        clean("__device__ void f() { half2 a = {}; }"),
        clean("__device__ void f() { half2 a; float2 b; b = {}; s.a = {}; }"),
        clean("__device__ void f(half2 *a) { b = {}; half2 b; }"),
        clean("__device__ void f() { { half2 a; } { float2 a; a = {}; } { float2 b, a; a = {}; } }"),
        clean("__device__ void f() { if (x) { half2 a; } else { __hip_bfloat162 a = {}; } }"),
        clean("template <class T> __device__ void f() { { half2 a; } { T &a = *p; a = {}; } { vec<T> a = {}; } }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per assignment."""
        texts = unit.tokens.texts
        declared = {place: type_ for type_ in (*_TYPES, *_aliases(unit)) for place in self._declared(unit, type_)}
        for name in sorted({texts[place] for place in declared}):
            for index in unit.tokens.names[name]:
                if texts[index + 1 : index + 5] != ["=", "{", "}", ";"] or texts[index - 1] in (".", "->"):
                    continue
                known = (p for p in reversed(unit.tokens.names[name]) if p <= index and declares(unit.tokens, p))
                place = next(known, None)
                if place != index and place in declared:
                    type_ = declared[place]
                    span = unit.span(index + 2, index + 3)
                    edits = (Edit(span.start, span.start, type_),)
                    yield self.finding(unit, span, f"{type_} = {{}} is ambiguous in HIP", Effort.NONE, edits)

    @staticmethod
    def _declared(unit: Unit, type_: str) -> Iterator[int]:
        """Tokens of the plain variables declared in lists such as `half2 a, b;`."""
        texts, kinds = unit.tokens.texts, unit.tokens.kinds
        for index in unit.occurrences(type_) if type_ in _TYPES else unit.tokens.names[type_]:
            place = index + 1
            while kinds[place] == "i" and texts[place + 1] in (",", ";", "=", ")"):
                yield place
                if texts[place + 1] != ",":
                    break
                place += 2


def _aliases(unit: Unit) -> Iterator[str]:
    """What a template calls a type that hangs on its arguments."""
    texts = unit.tokens.texts
    for index in unit.tokens.names.get("using", ()):
        if texts[index + 2 : index + 4] == ["=", "typename"]:
            yield texts[index + 1]
