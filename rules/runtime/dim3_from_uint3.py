"""R013: uint3 where HIP wants dim3, and the other way round."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes

_INDICES = ("threadIdx", "blockIdx")


class Dim3FromUint3(Rule):
    """`uint3` and `dim3` in place of each other

    CUDA converts between `dim3` and `uint3` both ways, and `threadIdx` is a `uint3`. In HIP they are unrelated types:
    a `dim3` cannot be set from `make_uint3(...)`, nor a `uint3` from `threadIdx`.
    """

    code = "R013"
    triggers = frozenset({"make_uint3", "uint3", *_INDICES})
    hazards = ("threadidx-to-uint3",)
    examples = (
        fixes(
            "void f() { dim3 g, b = make_uint3(1, 2, 3); g = make_uint3(4, 1, 1); }",
            "void f() { dim3 g, b = dim3(1, 2, 3); g = dim3(4, 1, 1); }",
        ),
        fixes("void f() { k<<<make_uint3(2, 1, 1), 64>>>(); }", "void f() { k<<<dim3(2, 1, 1), 64>>>(); }"),
        fixes(
            "__device__ void f() { const uint3 t = threadIdx; }",
            "__device__ void f() { const uint3 t = make_uint3(threadIdx.x, threadIdx.y, threadIdx.z); }",
        ),
        fixes(
            "void f(const uint3 grid) { k<<<grid, 64>>>(); uint3 a, b; k<<<1, b, 0, s>>>(a); }",
            "void f(const uint3 grid) { k<<<dim3(grid.x, grid.y, grid.z), 64>>>(); uint3 a, b; "
            "k<<<1, dim3(b.x, b.y, b.z), 0, s>>>(a); }",
        ),
        clean("void f(uint3 u) { dim3 grid(u.x); k<<<grid, u.x>>>(u); }"),
        clean("void f(uint3 g) { } void h(dim3 g) { k<<<g, 64>>>(); }"),
        clean("void f() { uint3 u = make_uint3(1, 2, 3); g(u); }"),
        clean("__device__ void f() { dim3 t = threadIdx; auto b = blockIdx; int x = threadIdx.x; }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per value of the wrong type."""
        for index in unit.occurrences("make_uint3"):
            if self._wants_dim3(unit, index):
                span = unit.span(index)
                yield self.finding(unit, span, "a dim3 is wanted here", Effort.NONE, (Edit(*span, "dim3"),))
        for name in _INDICES:
            for index in unit.occurrences(name):
                if not unit.next_is(index, ".") and _type_of_target(unit, index) == "uint3":
                    span = unit.span(index)
                    text = f"make_uint3({name}.x, {name}.y, {name}.z)"
                    yield self.finding(unit, span, f"{name} is no uint3 in HIP", Effort.NONE, (Edit(*span, text),))

        if "uint3" in unit.identifiers:
            for index in _launch_sizes(unit):
                if _nearest_type(unit, index) == "uint3":
                    span, name = unit.span(index), unit.tokens.texts[index]
                    text = f"dim3({name}.x, {name}.y, {name}.z)"
                    yield self.finding(unit, span, "a launch takes dim3 in HIP", Effort.NONE, (Edit(*span, text),))

    @staticmethod
    def _wants_dim3(unit: Unit, index: int) -> bool:
        texts = unit.tokens.texts
        if index == 0:
            return False
        if texts[index - 1] == "<<<":
            return True
        closed = unit.tokens.partner.get(index + 1, index)
        if texts[index - 1] == "," and texts[closed + 1] in (">>>", ","):
            opened = next((i for i in range(index - 1, max(0, index - 60), -1) if texts[i] in ("<<<", ";")), 0)
            return texts[opened] == "<<<"
        return _type_of_target(unit, index) == "dim3"


def _type_of_target(unit: Unit, index: int) -> str:
    """`T` where the value at a token initialises `T name` or is assigned to a name declared so in this file."""
    tokens = unit.tokens
    texts = tokens.texts
    if index < 2 or texts[index - 1] not in ("=", "(") or tokens.kinds[index - 2] != "i":
        return ""
    name = texts[index - 2]
    places = [place for place in tokens.names[name] if place < index and _declared_type(unit, place)]
    if texts[index - 1] == "(" and index - 2 not in places:
        return ""
    return _declared_type(unit, places[-1]) if places else ""


def _declared_type(unit: Unit, place: int) -> str:
    """The type word of the declaration that a variable stands in, for `dim3 a, b` and `uint3 a`."""
    texts = unit.tokens.texts
    while place > 1:
        before = texts[place - 1]
        if before in ("dim3", "uint3"):
            return before
        if before != "," or unit.tokens.kinds[place - 2] != "i":
            return ""
        place -= 2
    return texts[0] if place == 1 and texts[0] in ("dim3", "uint3") else ""


def _launch_sizes(unit: Unit) -> Iterator[int]:
    """Plain variables that are the grid or the block of a launch."""
    texts, kinds = unit.tokens.texts, unit.tokens.kinds
    for index, text in enumerate(texts):
        if text != "<<<":
            continue
        if kinds[index + 1] == "i" and texts[index + 2] == ",":
            yield index + 1
        comma = index
        while comma < len(unit.tokens) and texts[comma] not in (",", ">>>", ";"):
            comma = max(comma, unit.tokens.partner.get(comma, comma)) + 1
        if kinds[comma + 1] == "i" and texts[comma + 2] in (",", ">>>"):
            yield comma + 1


def _nearest_type(unit: Unit, index: int) -> str:
    """`uint3` or `dim3` for a variable, by its last declaration before a use."""
    places = (place for place in reversed(unit.tokens.names[unit.tokens.texts[index]]) if place < index)
    return next((type_ for place in places if (type_ := _declared_type(unit, place))), "")
