"""Python build files that ask nvcc for its version: where, and what depends on the answer."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from porter.buildfiles.python import nodes_of, parents_of
from porter.buildfiles.tables import is_compiler

_QUIET_CALLS = ("append", "extend", "warn", "print")


@dataclass(frozen=True)
class Question:
    """One statement that asks, and what is done with the answer."""

    ask: ast.Assign
    guard: ast.If | None
    """`if CUDA_HOME is not None:` around it, which does nothing else."""
    uses: tuple[ast.Compare, ...]
    """Comparisons with the answer outside of the guard, each in the test of an `if`."""


@dataclass(frozen=True)
class Questions:
    """Those of a file that can be left out as a whole, and the nvcc calls that nothing else makes."""

    known: tuple[Question, ...] = ()
    calls: frozenset[int] = frozenset()
    """Ids of the lists that are the command lines."""


def questions(root: ast.Module) -> Questions:
    """What a file asks nvcc, as far as all of it is understood; else nothing."""
    functions = {
        node.name: found
        for node in nodes_of(root)
        if isinstance(node, ast.FunctionDef) and (found := [one for one in ast.walk(node) if is_command(one)])
    }
    if not functions:
        return Questions()
    inside = {id(node) for one in nodes_of(root) if _is_named(one, functions) for node in ast.walk(one)}
    inside |= {id(node) for one in nodes_of(root) if _is_decided(one) for node in ast.walk(one)}
    calls = [node for node in nodes_of(root) if _asks(node, functions) and id(node) not in inside]
    asking = [node for node in nodes_of(root) if isinstance(node, ast.Assign) and node.value in calls]
    parents = parents_of(root)
    answers = (_question(root, node, parents, functions) for node in asking)
    known = tuple(question for question in answers if question is not None)
    if not known or len(known) != len(calls):
        return Questions()
    return Questions(known, frozenset(id(one) for own in functions.values() for one in own))


def is_command(node: ast.AST) -> TypeGuard[ast.List | ast.Tuple]:
    """Whether it is the words of a command whose first is nvcc."""
    if not isinstance(node, (ast.List, ast.Tuple)) or len(node.elts) < 2:
        return False
    first = node.elts[0]
    last = first.right if isinstance(first, ast.BinOp) else first
    return isinstance(last, ast.Constant) and isinstance(last.value, str) and is_compiler(last.value)


def _is_decided(node: ast.AST) -> bool:
    """Whether it is asked by what PyTorch is for already."""
    return isinstance(node, ast.IfExp) and "torch.version.hip" in ast.unparse(node.test)


def _is_named(node: ast.AST, functions: Mapping[str, Sequence[ast.AST]]) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name in functions


def _asks(node: ast.AST, functions: Mapping[str, Sequence[ast.AST]]) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in functions


def _question(
    root: ast.Module, ask: ast.Assign, parents: dict[int, ast.AST], functions: Mapping[str, Sequence[ast.AST]]
) -> Question | None:
    names = {node.id for target in ask.targets for node in ast.walk(target) if isinstance(node, ast.Name)}
    guard = _guard(parents.get(id(ask)))
    if guard is not None and not all(_is_quiet(statement, names) for statement in guard.body):
        return None
    within = {id(node) for node in ast.walk(guard or ask)}
    hidden = {id(node) for one in nodes_of(root) if _is_named(one, functions) for node in ast.walk(one)}
    uses: dict[int, ast.Compare] = {}
    for node in nodes_of(root):
        if not (isinstance(node, ast.Name) and node.id in names and isinstance(node.ctx, ast.Load)):
            continue
        if id(node) in within or id(node) in hidden or node.id == "_":
            continue
        compare = _decides(node, parents)
        if compare is None:
            return None
        uses[id(compare)] = compare
    return Question(ask, guard, tuple(uses.values()))


def _guard(node: ast.AST | None) -> ast.If | None:
    if not isinstance(node, ast.If) or node.orelse or not isinstance(node.test, ast.Compare):
        return None
    left, operators = ast.unparse(node.test.left), node.test.ops
    return node if left.rpartition(".")[2] == "CUDA_HOME" and isinstance(operators[0], ast.IsNot) else None


def _is_quiet(statement: ast.stmt, names: set[str]) -> bool:
    """Whether a statement is about the version alone: it asks, refuses, warns or adds flags."""
    if isinstance(statement, (ast.Raise, ast.Pass)):
        return True
    if isinstance(statement, ast.Assign):
        assigned = {node.id for target in statement.targets for node in ast.walk(target) if isinstance(node, ast.Name)}
        return assigned <= names
    if isinstance(statement, ast.If):
        return all(_is_quiet(one, names) for one in (*statement.body, *statement.orelse))
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return ast.unparse(statement.value.func).rpartition(".")[2] in _QUIET_CALLS
    return False


def _decides(node: ast.AST, parents: dict[int, ast.AST]) -> ast.Compare | None:
    """The comparison around a name that is (part of) the test of an `if`."""
    compare: ast.Compare | None = None
    while (parent := parents.get(id(node))) is not None:
        if compare is None and isinstance(parent, ast.Compare):
            compare = parent
        if isinstance(parent, ast.If):
            return compare if node is parent.test else None
        if isinstance(parent, ast.stmt):
            return None
        node = parent
    return None


def only_adds_targets(statements: Sequence[ast.stmt]) -> bool:
    """Whether statements add nothing but targets of nvcc's to lists of flags."""
    return all(_adds_target(one) for one in statements)


def _adds_target(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Pass):
        return True
    if isinstance(statement, ast.If):
        return only_adds_targets((*statement.body, *statement.orelse))
    if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)):
        return False
    words = [text for one in statement.value.args for text in _strings(one)]
    added = ast.unparse(statement.value.func).rpartition(".")[2] in ("append", "extend")
    return added and bool(words) and all(word.startswith(("-gencode", "arch=", "code=")) for word in words)


def _strings(node: ast.AST) -> Iterator[str]:
    for one in ast.walk(node):
        if isinstance(one, ast.Constant):
            yield str(one.value)
