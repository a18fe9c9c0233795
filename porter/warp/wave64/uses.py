"""Whether a variable's width may change: all that is done with it is bits of a mask."""

from __future__ import annotations

from porter.cpp.nodes import EMPTY, Node, unwrapped
from porter.warp.wave64.view import View

COUNTS = {
    "__popc": "__popcll",
    "__ffs": "__ffsll",
    "__brev": "__brevll",
    "__builtin_popcount": "__builtin_popcountll",
    "__builtin_ffs": "__builtin_ffsll",
    "__builtin_ctz": "__builtin_ctzll",
}
"""Functions of 32 bits, and what does the same for 64 with the same result where the upper bits are zero."""
_COUNTING = frozenset({*COUNTS, *COUNTS.values()})
_BITWISE = frozenset({"&", "|", "^", "<<", ">>", "+", "-"})
_ASKS = frozenset({"==", "!=", "<", ">", "<=", ">=", "&&", "||"})
_PASSES = frozenset({"__shfl", "__shfl_xor"})


def is_width_free(view: View, name: str) -> bool:
    """Whether nothing outside of the function sees the variable, and nothing in it depends on its 32 bits."""
    if name in view.function.parameters:
        return False
    uses = [node for node in view.function.body.walk() if node.kind == "name" and node.text == name]
    return all(_is_free(view, use, name) for use in uses)


def _is_free(view: View, node: Node, name: str) -> bool:
    above = view.parents.get(id(node), EMPTY)
    kind = above.kind
    if kind == "cast":
        return not above.text and _is_free(view, above, name)
    if kind == "binary" and above.text in _BITWISE:
        if above.text in ("<<", ">>") and above.kids[0] is not node:
            return False
        return _is_free(view, above, name)
    if kind == "unary":
        return above.text == "!" or (above.text == "~" and _is_free(view, above, name))
    if kind == "call":
        return above.callee.rpartition("::")[2] in _COUNTING and above.kids[0] is not node
    if kind == "assign":
        return above.kids[0] is node or unwrapped(above.kids[0]).text == name
    if kind == "variable":
        return view.types.get(above.text) == 64 or above.text in view.automatic
    if kind in ("binary", "statement", "if", "while", "for", "do"):
        return kind != "binary" or above.text in _ASKS
    return kind == "ternary" and above.kids[0] is node
