"""Index expressions as sums of terms, so that two of them can be subtracted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from porter.cpp.nodes import Node, spelled
from porter.warp.bodies import Bodies
from porter.warp.flow.spread import Spread, Value


@dataclass(frozen=True)
class Linear:
    """A sum: coefficient by term (a name or an expression as written), and a constant."""

    terms: Mapping[str, int]
    constant: int

    def minus(self, other: Linear) -> Linear:
        """The difference of two sums."""
        terms = dict(self.terms)
        for term, coefficient in other.terms.items():
            terms[term] = terms.get(term, 0) - coefficient
        return Linear({t: c for t, c in terms.items() if c}, self.constant - other.constant)

    @property
    def is_constant(self) -> bool:
        """Whether no term is left."""
        return not self.terms


def linear(node: Node, bodies: Bodies) -> Linear:
    """An expression as a sum; what is no sum becomes a term of its own."""
    value = bodies.constants.value(node)
    if value is not None:
        return Linear({}, value)
    if node.kind == "cast" and len(node.kids) == 1:
        return linear(node.kids[0], bodies)
    if node.kind == "binary" and node.text in ("+", "-"):
        left, right = (linear(kid, bodies) for kid in node.kids)
        return _added(left, right, 1 if node.text == "+" else -1)
    if node.kind == "binary" and node.text in ("*", "<<"):
        return _scaled(node, bodies)
    if node.kind == "unary" and node.text == "-":
        return _added(Linear({}, 0), linear(node.kids[0], bodies), -1)
    name = spelled(node)
    macros = bodies.macros.expressions.get(name, ()) if node.kind == "name" else ()
    if len(macros) == 1 and macros[0].kind != "name":
        return linear(macros[0], bodies)
    return Linear({name or _written(node, bodies): 1}, 0)


def _added(left: Linear, right: Linear, sign: int) -> Linear:
    terms = dict(left.terms)
    for term, coefficient in right.terms.items():
        terms[term] = terms.get(term, 0) + sign * coefficient
    return Linear({t: c for t, c in terms.items() if c}, left.constant + sign * right.constant)


def _scaled(node: Node, bodies: Bodies) -> Linear:
    for base, factor_node in (node.kids, tuple(reversed(node.kids))):
        factor = bodies.constants.value(factor_node)
        if factor is None or (node.text == "<<" and factor_node is not node.kids[1]):
            continue
        by = factor if node.text == "*" else 1 << min(max(factor, 0), 40)
        inner = linear(base, bodies)
        return Linear({t: c * by for t, c in inner.terms.items()}, inner.constant * by)
    return Linear({_written(node, bodies): 1}, 0)


def _written(node: Node, bodies: Bodies) -> str:
    return " ".join(bodies.tokens.texts[node.first : node.last + 1])


def stride(sum_: Linear, values: Mapping[str, Value]) -> int | None:
    """How far the index moves from one lane to the next; 0: not at all, None: unknown."""
    step = 0
    for term, coefficient in sum_.terms.items():
        value = values.get(term)
        if value is None:
            if "threadIdx" in term and term != "threadIdx.x":
                if term in ("threadIdx.y", "threadIdx.z"):
                    continue
                return None
            if term == "threadIdx.x":
                step += coefficient
            continue
        if value.spread is not Spread.LANE:
            continue
        if value.role not in ("thread", "lane"):
            return None
        step += coefficient
    return step
