"""V102: a mask of 64 lanes counted or searched as 32 bits."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.syntax import Node, unwrapped
from porter.engine.rule import Dialect, Edit, Effort, Finding, Rule, Unit, clean, fixes, reports
from porter.warp.wave64.wavefronts import COUNTS, View, views

_ZEROS = {"__clz": "__clzll", "__builtin_clz": "__builtin_clzll"}


class LaneMaskCountedIn32Bits(Rule):
    """Mask of 64 lanes counted or searched as 32 bits

    `__popc`, `__ffs`, `__clz`, `__brev` and the builtins behind them take 32 bits: of a mask of 64 lanes they see the
    lower half, or the call is ambiguous. They become `__popcll`, `__ffsll` and so on, and `31 - __clz(mask)` becomes
    `63 - __clzll(mask)`; any other `__clz` is reported, for what is counted from changes with it.
    """

    code = "V102"
    dialect = Dialect.BOTH
    triggers = frozenset({*COUNTS, *_ZEROS, "__fns32"})
    hazards = ("popc-of-ballot", "ffs-of-ballot-ambiguous", "clz-brev-of-ballot", "fns-32bit")
    examples = (
        fixes(
            "__device__ int n(int p) { return __popc(__ballot(p)); }",
            "__device__ int n(int p) { return __popcll(__ballot(p)); }",
            effort=Effort.REVIEW,
            path="a.hip",
        ),
        fixes(
            "__device__ int last(int p) { auto m = __ballot(p); return 31 - __clz(m); }",
            "__device__ int last(int p) { auto m = __ballot(p); return 63 - __clzll(m); }",
            effort=Effort.REVIEW,
            path="a.hip",
        ),
        reports("__device__ int gap(int p) { return __clz(__ballot(p)); }", path="a.hip"),
        clean("__device__ int n(int p) { return __popcll(__ballot(p)); }", path="a.hip"),
        clean("__device__ int n(unsigned bits) { return __popc(bits); }", path="a.hip"),
        clean("__device__ int n(int p) { return __popc(__ballot(p) & 0xffffffff); }", path="a.hip"),
        clean("__device__ int high(int p) { return __popc(__ballot(p) >> 32); }", path="a.hip"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per call."""
        for view in views(unit):
            for node in view.nodes:
                name = node.callee.rpartition("::")[2] if node.arguments else ""
                if name in self.triggers and view.is_mask(node.arguments[0]) and view.is_hips(node):
                    yield self._found(unit, view, node, name)

    def _found(self, unit: Unit, view: View, node: Node, name: str) -> Finding:
        message = f"{name} sees the lower 32 bits of a mask of 64 lanes{view.why} [popc-of-ballot]"
        callee = node.kids[0]
        new = COUNTS.get(name)
        edits = [Edit(*unit.span(callee.last), new)] if new else []
        from_31 = _counted_from(view, node) if name in _ZEROS else None
        if from_31 is not None:
            edits = [Edit(*unit.span(callee.last), _ZEROS[name]), Edit(*unit.span(from_31.first), "63")]
        if not edits or view.shared:
            return self.finding(unit, unit.span(callee.last), message, Effort.MANUAL)
        done = f"{message}; it is {edits[0].text} now"
        return self.finding(unit, unit.span(callee.last), done, Effort.REVIEW, tuple(edits))


def _counted_from(view: View, call: Node) -> Node | None:
    """The 31 of `31 - __clz(mask)`."""
    above = view.around(call)
    if above.kind == "binary" and above.text == "-" and unwrapped(above.kids[1]) is call:
        left = unwrapped(above.kids[0])
        if left.kind == "number" and view.size(left) == 31:
            return left
    return None
