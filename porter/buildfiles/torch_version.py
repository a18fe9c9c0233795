"""What Python asks about the version of CUDA that PyTorch was built with."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from porter.buildfiles.python import nodes_of


def is_version(node: ast.AST) -> bool:
    """Whether it is `torch.version.cuda`, which is None on ROCm."""
    return isinstance(node, ast.Attribute) and node.attr == "cuda" and ast.unparse(node) == "torch.version.cuda"


def asks_for_none(node: ast.AST | None) -> bool:
    """Whether it is a comparison with None."""
    return isinstance(node, ast.Compare) and any(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops)


def for_cuda(root: ast.Module) -> Iterator[ast.AST]:
    """What is only reached where torch.version.cuda is not None: never on ROCm."""
    for node in nodes_of(root):
        if isinstance(node, (ast.If, ast.IfExp)):
            tests = node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]
            is_and = not isinstance(node.test, ast.BoolOp) or isinstance(node.test.op, ast.And)
            if is_and and any(_is_there(test) for test in tests):
                yield from node.body if isinstance(node, ast.If) else [node.body]


def _is_there(test: ast.expr) -> bool:
    if isinstance(test, ast.Compare):
        return is_version(test.left) and isinstance(test.ops[0], ast.IsNot)
    return is_version(test)


def is_truth(node: ast.AST, parent: ast.AST | None) -> bool:
    """Whether only the truth of a value is asked for, and not beside torch.version.hip."""
    if isinstance(parent, (ast.If, ast.IfExp, ast.While)):
        return parent.test is node
    if isinstance(parent, ast.BoolOp):
        return "torch.version.hip" not in ast.unparse(parent)
    return isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)
