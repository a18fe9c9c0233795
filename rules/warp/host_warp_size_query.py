"""W103: host code asks the device for its warp size."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.syntax import chain_start, is_printed
from porter.engine.rule import Edit, Effort, Finding, Rule, Span, Unit, clean, fixes
from porter.warp.device_properties import is_device_property

_ATTRIBUTES = {
    "cudaDevAttrWarpSize": frozenset({"cudaDeviceGetAttribute"}),
    "CU_DEVICE_ATTRIBUTE_WARP_SIZE": frozenset({"cuDeviceGetAttribute"}),
}


class HostWarpSizeQuery(Rule):
    """Host code that asks the device for its warp size

    On MI300X the answer is 64. The ported kernels keep logical warps of 32 lanes, so a launch or a buffer computed
    from the answer no longer fits them: half the rows are never computed, or a buffer is twice too small. The query is
    replaced by the width that the kernels use. A query that is only printed stays.
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
        if tokens.texts[index - 1] not in (".", "->") or unit.next_is(index, "="):
            return
        first = chain_start(tokens, index)
        if first == index or not is_device_property(unit, first, index) or is_printed(tokens, first):
            return
        span = unit.span(first, index)
        message = "the device answers 64, the kernels count warps of 32: replaced by their width [warpsize-host-use]"
        edit = Edit(span.start, span.end, "porter::warpSize")
        yield self.finding(unit, span, message, Effort.NONE, (edit,), ("porter/warp32.hpp",))

    def _attribute(self, unit: Unit, index: int, getters: frozenset[str]) -> Iterator[Finding]:
        tokens = unit.tokens
        callee = next((i for i in range(index, max(-1, index - 12), -1) if tokens.texts[i] in getters), None)
        arguments = unit.arguments(callee) if callee is not None else []
        if callee is None or len(arguments) != 3 or unit.slice(arguments[1]).strip() != tokens.texts[index]:
            return
        if self._only_printed(unit, arguments[0]):
            return
        closed = tokens.partner[callee + 1]
        span = Span(tokens.starts[callee], tokens.end(closed))
        new = f"porter::get_warp_size({unit.slice(arguments[0])}, {unit.slice(arguments[2])})"
        message = "the device answers 64, the kernels count warps of 32: the query gives 32 [warpsize-host-use]"
        edit = Edit(span.start, span.end, new)
        yield self.finding(unit, span, message, Effort.NONE, (edit,), ("porter/warp_query.hpp",))

    @staticmethod
    def _only_printed(unit: Unit, target: Span) -> bool:
        """Whether the variable that takes the answer is read by nothing but prints."""
        name = unit.slice(target).lstrip("&( ").rstrip(") ")
        places = [i for i in unit.tokens.names.get(name, ()) if unit.tokens.starts[i] > target.end]
        return bool(places) and all(is_printed(unit.tokens, place) for place in places)
