"""W103: host code asks the device for its warp size."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.syntax import STRING, chain_start, is_printed
from porter.engine.rule import Edit, Effort, Finding, Rule, Span, Unit, clean, fixes, reports
from porter.warp.device_properties import is_device_property, speaks_of_properties

_ENUMERATIONS = frozenset({"cudaDeviceAttr", "CUdevice_attribute"})
_ROW = 6
"""Tokens of a table's row: the attribute and its description."""
_ATTRIBUTES = {
    "cudaDevAttrWarpSize": frozenset({"cudaDeviceGetAttribute"}),
    "CU_DEVICE_ATTRIBUTE_WARP_SIZE": frozenset({"cuDeviceGetAttribute"}),
}


class HostWarpSizeQuery(Rule):
    """Host code that asks the device for its warp size

    On MI300X the answer is 64. The ported kernels keep logical warps of 32 lanes, so a launch or a buffer computed
    from the answer no longer fits them: half the rows are never computed, or a buffer is twice too small. The query is
    replaced by the width that the kernels use. A query that is only printed stays. One that goes through a variable, a
    helper or a pointer to the member is reported.
    """

    code = "W103"
    triggers = frozenset({"warpSize", *_ATTRIBUTES})
    hazards = ("warpsize-host-use", "warp-size-macro-fallback-32")
    examples = (
        fixes(
            """
            dim3 shape(int device, int rows) {
              cudaDeviceProp prop;
              cudaGetDeviceProperties(&prop, device);
              return dim3(prop.warpSize, 256 / prop.warpSize);
            }
            """,
            """
            dim3 shape(int device, int rows) {
              cudaDeviceProp prop;
              cudaGetDeviceProperties(&prop, device);
              return dim3(porter::warpSize, 256 / porter::warpSize);
            }
            """,
        ),
        fixes(
            "void f(int d) { int w; CHECK(cudaDeviceGetAttribute(&w, cudaDevAttrWarpSize, d)); launch(w); }",
            "void f(int d) { int w; CHECK(porter::get_warp_size(&w, d)); launch(w); }",
        ),
        fixes(
            "int w() { return at::cuda::getCurrentDeviceProperties()->warpSize; }",
            "int w() { return porter::warpSize; }",
        ),
        fixes(
            "int f(int d) { std::vector<cudaDeviceProp> all = query(); return all[d].warpSize; }",
            "int f(int d) { std::vector<cudaDeviceProp> all = query(); return porter::warpSize; }",
        ),
        reports("int f(int d) { return ask(d, cudaDevAttrWarpSize); }", effort=Effort.REVIEW),
        reports("int f(Handle h) { return h.deviceProp->warpSize; }", effort=Effort.REVIEW),
        clean('Row rows[] = {{cudaDevAttrWarpSize, "warp size"}, {cudaDevAttrClockRate, "clock"}};'),
        clean('const char *f(cudaDeviceAttr a) { switch (a) { case cudaDevAttrWarpSize: return "warp"; } }'),
        clean('void show(cudaDeviceProp p) { printf("warp size %d\\n", p.warpSize); }'),
        clean("struct Config { int warpSize; }; int f(Config c) { return c.warpSize; }"),
        clean("void f(int d) { int n; cudaDeviceGetAttribute(&n, cudaDevAttrMaxThreadsPerBlock, d); }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per query."""
        for index in unit.tokens.names.get("warpSize", ()):
            yield from self._property(unit, index)
        for name, getters in _ATTRIBUTES.items():
            for index in unit.tokens.names.get(name, ()):
                yield from self._attribute(unit, index, getters)

    def _property(self, unit: Unit, index: int) -> Iterator[Finding]:
        tokens = unit.tokens
        before = tokens.texts[index - 1]
        if before == "::" and tokens.texts[index - 2] == "cudaDeviceProp":
            yield self._reported(unit, chain_start(tokens, index), index)
        if before not in (".", "->") or unit.next_is(index, "="):
            return
        first = chain_start(tokens, index)
        if tokens.defines(first) and unit.next_is(first, "("):
            first = tokens.partner[first + 1] + 1  # `#define WS(p) (p).warpSize`
        if first == index or is_printed(tokens, first):
            return
        if not is_device_property(unit, first, index):
            if speaks_of_properties(unit, first, index) and not _is_own_member(unit):
                yield self._reported(unit, first, index)
            return
        span = unit.span(first, index)
        message = "the device answers 64, the kernels count warps of 32: replaced by their width [warpsize-host-use]"
        edit = Edit(span.start, span.end, "porter::warpSize")
        yield self.finding(unit, span, message, Effort.NONE, (edit,), ("porter/warp32.hpp",))

    def _reported(self, unit: Unit, first: int, last: int) -> Finding:
        message = (
            "where this asks the device, it answers 64, and the kernels count warps of 32: use porter::warpSize unless "
            "it is only shown [warpsize-host-use]"
        )
        return self.finding(unit, unit.span(first, last), message, Effort.REVIEW)

    def _attribute(self, unit: Unit, index: int, getters: frozenset[str]) -> Iterator[Finding]:
        tokens = unit.tokens
        if not unit.is_free_of_amd(index) and tokens.texts[index - 2] not in _ENUMERATIONS:
            return
        callee = next((i for i in range(index, max(-1, index - 12), -1) if tokens.texts[i] in getters), None)
        arguments = unit.arguments(callee) if callee is not None else []
        asked = unit.slice(arguments[1]).rpartition("::")[2].strip() if len(arguments) == 3 else ""
        if callee is None or asked != tokens.texts[index]:
            if not _is_label_or_shown(unit, index) and not self._shown_by_helper(unit, index):
                yield self._reported(unit, chain_start(tokens, index), index)
            return
        if self._only_printed(unit, arguments[0]):
            return
        closed = tokens.partner[callee + 1]
        first = chain_start(tokens, callee)
        if tokens.texts[first:callee] not in ([], ["::"]):  # a table of functions, or a wrapper
            yield self._reported(unit, first, closed)
            return
        span = Span(tokens.starts[first], tokens.end(closed))
        new = f"porter::get_warp_size({unit.slice(arguments[0])}, {unit.slice(arguments[2])})"
        message = "the device answers 64, the kernels count warps of 32: the query gives 32 [warpsize-host-use]"
        edit = Edit(span.start, span.end, new)
        yield self.finding(unit, span, message, Effort.NONE, (edit,), ("porter/warp_query.hpp",))

    def _shown_by_helper(self, unit: Unit, index: int) -> bool:
        """`ask(&w, cudaDevAttrWarpSize, d)` of the project's own, where `w` is only printed."""
        tokens = unit.tokens
        opened = next((i for i in range(index - 1, max(-1, index - 12), -1) if tokens.texts[i] == "("), None)
        arguments = unit.arguments(opened - 1) if opened else []
        return bool(arguments) and arguments[0].end < tokens.starts[index] and self._only_printed(unit, arguments[0])

    @staticmethod
    def _only_printed(unit: Unit, target: Span) -> bool:
        """Whether the variable that takes the answer is read by nothing but prints."""
        name = unit.slice(target).lstrip("&( ").rstrip(") ")
        places = [i for i in unit.tokens.names.get(name, ()) if unit.tokens.starts[i] > target.end]
        return bool(places) and all(is_printed(unit.tokens, place) for place in places)


def _is_own_member(unit: Unit) -> bool:
    """Whether a class of the file or of a header in sight has a member of that name."""
    tokens = unit.tokens
    return any(tokens.texts[i - 1] not in (".", "->") and unit.declares(i) for i in tokens.names["warpSize"]) or (
        "warpSize" in unit.declared
    )


def _is_label_or_shown(unit: Unit, index: int) -> bool:
    """A case of a switch, a row of a table beside its description, something printed, an enumeration's own value."""
    tokens = unit.tokens
    first = chain_start(tokens, index)
    if tokens.texts[first - 1] in ("case", "#") or tokens.texts[index + 1] == "=" or is_printed(tokens, first):
        return True
    around = next(tokens.braces_around(index), None)
    row = range(around, tokens.partner[around]) if around is not None and index - around < _ROW else ()
    return any(tokens.kinds[place] == STRING for place in row if abs(place - index) <= _ROW)
