"""K206: the suffix of renamed sources in Python, without its dot or counted in characters."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from porter.buildfiles.python import literal, nodes_of, place, tree
from porter.buildfiles.rule import BuildRule, BuildUnit, Edit, Effort, Finding, Kind, clean, fixes, reports

_OTHERS = frozenset({"c", "cc", "cpp", "cxx", "h", "hpp", "cuh"})


class PythonSuffix(BuildRule):
    """Suffix of sources without its dot, or by its length

    The port calls `a.cu` `a.hip`. A list of suffixes (`["cpp", "cu"]`) and a comparison with `"cu"` follow, and so
    does `name[-3:] == ".cu"`, whose suffix has one letter more. `name[:-3]`, which cuts a suffix off unseen, is
    reported where the file names such sources.
    """

    code = "K206"
    kinds = frozenset({Kind.PYTHON})
    hazards = ("makefile-nvcc",)
    examples = (
        fixes("for e in ('cpp', 'cu'): add(e)", "for e in ('cpp', 'hip'): add(e)", path="setup.py"),
        fixes("x = n.split('.')[-1] == 'cu'", "x = n.split('.')[-1] == 'hip'", path="setup.py", effort=Effort.REVIEW),
        fixes("x = n[-3:] == '.cu'", "x = n[-4:] == '.cu'", path="setup.py"),
        reports("s = 'a.cu'\nx = n[:-3]", path="setup.py", effort=Effort.REVIEW),
        clean("x = ['cu', 'nccl']", path="setup.py"),
        clean("s = 'a.cpp'\nx = n[:-3]", path="setup.py"),
        clean("x = n[-4:] == '.cpp'", path="setup.py"),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """Yields findings; changes nothing."""
        root = tree(unit)
        if root is None or not unit.sources.usual:
            return
        names_sources = ".cu'" in unit.text or '.cu"' in unit.text
        for node in nodes_of(root):
            if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
                yield from self._listed(unit, node)
            elif isinstance(node, ast.Compare):
                yield from self._compared(unit, node)
            elif names_sources and isinstance(node, ast.Subscript) and _cut_off(node) == 3:
                message = "cuts off three characters; where the name is that of a source, its suffix .hip has four"
                yield self.finding(unit, *place(unit, node), message, Effort.REVIEW)

    def _listed(self, unit: BuildUnit, node: ast.List | ast.Tuple | ast.Set) -> Iterator[Finding]:
        words = [element.value for element in node.elts if isinstance(element, ast.Constant)]
        if "cu" in words and not _OTHERS.isdisjoint(word for word in words if isinstance(word, str)):
            for element in node.elts:
                yield from self._renamed(unit, element, Effort.NONE)

    def _compared(self, unit: BuildUnit, node: ast.Compare) -> Iterator[Finding]:
        sides = (node.left, *node.comparators)
        if len(sides) != 2 or not isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
            return
        for side, other in (sides, sides[::-1]):
            yield from self._renamed(unit, side, Effort.REVIEW)
            written = literal(unit, side)
            length = _taken(other)
            if written is None or length is None or not written.value.endswith(".cu") or length != len(written.value):
                continue
            assert isinstance(other, ast.Subscript) and isinstance(other.slice, ast.Slice)
            assert other.slice.lower is not None
            start, end = place(unit, other.slice.lower)
            message = f"the last {length} characters become the last {length + 1}: the suffix is .hip"
            yield self.finding(unit, start, end, message, Effort.NONE, (Edit(start, end, f"-{length + 1}"),))

    def _renamed(self, unit: BuildUnit, node: ast.expr, effort: Effort) -> Iterator[Finding]:
        written = literal(unit, node)
        if written is not None and written.value == "cu":
            edit = Edit(written.inner, written.inner_end, "hip")
            message = f"{written.quote}cu{written.quote}: the suffix of sources becomes hip"
            yield self.finding(unit, written.start, written.end, message, effort, (edit,))


def _taken(node: ast.expr) -> int | None:
    """The n of `x[-n:]`."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Slice) or node.slice.upper is not None:
        return None
    return _negative(node.slice.lower)


def _cut_off(node: ast.Subscript) -> int | None:
    """The n of `x[:-n]`."""
    if not isinstance(node.slice, ast.Slice) or node.slice.lower is not None:
        return None
    return _negative(node.slice.upper)


def _negative(node: ast.expr | None) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        return node.operand.value if isinstance(node.operand.value, int) else None
    return None
