"""V101: a mask of 64 lanes kept in 32 bits."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.syntax import EMPTY, Node, unwrapped
from porter.engine.rule import Dialect, Edit, Effort, Finding, Rule, Unit, clean, fixes, reports
from porter.warp.bodies import Function
from porter.warp.wave64.wavefronts import TRACE, View, is_width_free, views

_WHOLE = 64
_NARROW = frozenset({8, 16, 32})
_CASTS = frozenset({"unsigned", "int", "uint32_t", "int32_t", "uint", "uint16_t"})
_ATOMICS = frozenset({"atomicOr", "atomicAnd", "atomicXor", "atomicExch", "atomicAdd", "atomicCAS", "atomicMax"})
_KEPT_WORDS = frozenset({"const", "volatile", "constexpr", "static", "register"})


class LaneMaskIn32Bits(Rule):
    """Mask of 64 lanes kept in 32 bits

    On wavefronts of 64 lanes `__ballot`, `__activemask` and `__match_any` give 64 bits. In an `unsigned`, as the result
    of a function that returns 32 bits, or after a cast, lanes 32 to 63 are lost without a word from the compiler. A
    local variable that is only combined, compared and counted becomes `unsigned long long`; what leaves the function
    (stored, returned, passed on) is reported. A cut on purpose is left alone: `mask >> 32`, `mask >> (lane & 32)`,
    `mask & 0xffffffff`, and all of a function that takes both halves.
    """

    code = "V101"
    dialect = Dialect.BOTH
    text = TRACE
    hazards = ("ballot-truncated-u32", "mask-variable-unsigned")
    examples = (
        fixes(
            """
            __global__ void count(const int *x, int *n) {
              unsigned m = __ballot(x[threadIdx.x] > 0);
              if (threadIdx.x % 64 == 0) *n = __popcll(m);
            }
            """,
            """
            __global__ void count(const int *x, int *n) {
              unsigned long long m = __ballot(x[threadIdx.x] > 0);
              if (threadIdx.x % 64 == 0) *n = __popcll(m);
            }
            """,
            effort=Effort.REVIEW,
            path="a.hip",
        ),
        fixes(
            """
            __global__ void count(const int *x, int *n) {
              auto y = __shfl_up(x[threadIdx.x], 1);
              auto z = __shfl(y, 0);
              unsigned m = __ballot(z > 0);
              if (threadIdx.x % 64 == 0) *n = __popcll(m);
            }
            """,
            """
            __global__ void count(const int *x, int *n) {
              auto y = __shfl_up(x[threadIdx.x], 1);
              auto z = __shfl(y, 0);
              unsigned long long m = __ballot(z > 0);
              if (threadIdx.x % 64 == 0) *n = __popcll(m);
            }
            """,
            effort=Effort.REVIEW,
            path="a.hip",
        ),
        reports("__device__ unsigned live() { return __ballot(1); }", path="a.hip"),
        reports("__global__ void k(unsigned *m, int p) { m[blockIdx.x] = __ballot(p); }", path="a.hip"),
        reports("__device__ int first(int p) { return __ffs((unsigned)__ballot(p)); }", path="a.hip"),
        clean("__device__ unsigned long long live() { return __ballot(1); }", path="a.hip"),
        clean("__device__ bool any(int p) { return __ballot(p) != 0; }", path="a.hip"),
        clean("__device__ bool any(int p) { bool some = __ballot(p); return some; }", path="a.hip"),
        clean(
            "__device__ unsigned half(int p) { return (unsigned)(__ballot(p) >> (__lane_id() & 32)); }", path="a.hip"
        ),
        clean(
            """
            __device__ int below(int p) {
              unsigned long long m = __ballot(p);
              return __builtin_amdgcn_mbcnt_hi((unsigned)(m >> 32), __builtin_amdgcn_mbcnt_lo((unsigned)m, 0));
            }
            """,
            path="a.hip",
        ),
        clean("__device__ int n(int p) { int count = __popcll(__ballot(p)); return count; }", path="a.hip"),
        clean("__device__ unsigned live() { return __ballot(1); }"),
        clean(
            """
            #ifdef __HIP_PLATFORM_AMD__
            typedef unsigned long long mask_t;
            __device__ mask_t vote(bool p) { return __ballot(p); }
            #else
            typedef unsigned mask_t;
            __device__ mask_t vote(bool p) { return __ballot_sync(0xffffffffu, p); }
            #endif
            """
        ),
    )

    def applies(self, unit: Unit) -> bool:
        """A quick look at the names."""
        return any(
            "ballot" in name or "activemask" in name or "match_a" in name or "lane" in name.lower()
            for name in unit.identifiers
        )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per place."""
        for view in views(unit):
            for node in view.nodes:
                place = _narrowed(view, node)
                if place is not None and not view.takes_halves:
                    yield self._found(unit, view, node, place)

    def _found(self, unit: Unit, view: View, node: Node, what: str) -> Finding:
        variable = _local(view, node)
        edit = _widened(view, variable) if variable is not None and not view.shared else None
        span = unit.span(node.first, node.last if node.kind != "variable" else node.first)
        message = f"{what}: lanes 32 to 63 are lost{view.why} [ballot-truncated-u32]"
        if edit is None:
            return self.finding(unit, span, message, Effort.MANUAL)
        return self.finding(unit, span, f"{message}; made 64 bits wide", Effort.REVIEW, (edit,))


def _narrowed(view: View, node: Node) -> str | None:
    """What keeps a mask in fewer than 64 bits at a node."""
    if node.kind == "variable" and node.initial is not None:
        return _initialised(view, node)
    if node.kind == "assign" and node.text in ("=", "|=", "^=", "&=") and view.is_mask(node.kids[1]):
        name, bits = _target(view, node.kids[0])
        if bits is not None and bits < _WHOLE:
            return f"{name} keeps a mask of 64 lanes in {bits} bits"
    if node.kind == "return" and node.kids and view.is_mask(node.kids[0]):
        bits = _returned(view, node)
        return f"a mask of 64 lanes is returned in {bits} bits" if bits is not None and bits < _WHOLE else None
    if node.kind == "cast" and node.text and view.is_mask(node.kids[0]) and view.cast_bits(node) in _NARROW:
        return f"a mask of 64 lanes is cast to {node.text}"
    return _passed(view, node) if node.kind == "call" else None


def _initialised(view: View, node: Node) -> str | None:
    initial = node.initial or EMPTY
    values, bits = initial.kids if initial.kind == "list" else (initial,), view.types.get(node.text)
    if bits is not None and bits < _WHOLE and any(map(view.is_mask, values)):
        return f"{node.text} keeps a mask of 64 lanes in {bits} bits"
    return None


def _target(view: View, target: Node) -> tuple[str, int | None]:
    """What an assignment sets, and how many bits that has."""
    bits_by_name = view.types
    while target.kind == "index" or (target.kind == "unary" and target.text == "*"):
        target, bits_by_name = target.kids[0], view.elements
    if target.kind == "member":
        return target.text, view.member_bits(target.text)
    return target.text, bits_by_name.get(target.text) if target.kind == "name" else None


def _returned(view: View, node: Node) -> int | None:
    """Bits of what the function around a `return`, or the lambda, is declared to give."""
    above = view.parents.get(id(node), EMPTY)
    while above is not EMPTY and above.kind != "lambda":
        above = view.parents.get(id(above), EMPTY)
    if above is EMPTY:
        return view.returns
    texts = view.function.tokens.texts[above.first : above.kids[-1].first] if above.kids else []
    return view.bits(texts[texts.index("->") + 1 :]) if "->" in texts else None


def _passed(view: View, call: Node) -> str | None:
    """`unsigned(mask)`, `atomicOr(&narrow, mask)`, a helper in sight whose parameter has 32 bits."""
    name = call.callee.rpartition("::")[2]
    arguments = call.arguments
    if len(arguments) == 1 and view.is_mask(arguments[0]) and (name in _CASTS) and view.bits([name]) in _NARROW:
        return f"a mask of 64 lanes is cast to {name}"
    if name in _ATOMICS and len(arguments) > 1 and any(map(view.is_mask, arguments[1:])):
        into = unwrapped(arguments[0])
        _, bits = _target(view, into.kids[0]) if into.text == "&" else (name, view.elements.get(into.text))
        return f"{name} takes a mask of 64 lanes in {bits} bits" if bits in _NARROW else None
    if name in ("__builtin_amdgcn_readfirstlane", "__builtin_amdgcn_readlane") and view.is_mask(arguments[0]):
        return f"{name} takes a mask of 64 lanes in 32 bits"
    helpers = [one for one in view.bodies.by_name.get(name, ()) if one.fewest <= len(arguments) <= len(one.parameters)]
    for place, argument in enumerate(arguments if helpers else ()):
        if view.is_mask(argument) and all(_takes_narrow(view, one, place) for one in helpers):
            return f"{name} takes a mask of 64 lanes in fewer bits"
    return None


def _takes_narrow(view: View, helper: Function, place: int) -> bool:
    written = helper.parameter_types.get(helper.parameters[place], "")
    return view.bits(written.replace("::", " ").replace("&", " ").split()) in _NARROW


def _local(view: View, node: Node) -> Node | None:
    """The one variable of the function that a declaration or an assignment is about."""
    if node.kind == "variable":
        return node
    if node.kind != "assign" or node.kids[0].kind != "name":
        return None
    found = [n for n in view.nodes if n.kind == "variable" and n.text == node.kids[0].text]
    return found[0] if len(found) == 1 and not found[0].dimensions else None


def _widened(view: View, variable: Node) -> Edit | None:
    """The edit that makes a local variable 64 bits wide; None where that changes more than the variable."""
    declaration = view.parents.get(id(variable), EMPTY)
    if declaration.kind != "declaration" or len(declaration.kids) != 1 or not is_width_free(view, variable.text):
        return None
    tokens = view.function.tokens
    words = [i for i in range(declaration.first, variable.first) if tokens.texts[i] not in _KEPT_WORDS]
    if not words or words != list(range(words[0], words[-1] + 1)) or tokens.texts[words[-1]] in ("*", "&"):
        return None
    return Edit(tokens.starts[words[0]], tokens.end(words[-1]), "unsigned long long")
