"""A Triton kernel that a case names: where it is, and what it is compiled with. Nothing is imported here."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from porter.validation.cases.expression import Expression, Number

from porter.system.reading import parsed_python, read_regular


@dataclass(frozen=True)
class Constant:
    """A `tl.constexpr`: an expression, a text, or a type of Triton's (`tl.float16`)."""

    name: str
    expression: Expression | None = None
    text: str | None = None
    dtype: str | None = None

    def value(self, symbols: Mapping[str, Number]) -> Number | str:
        """What it is for one trial; a type as `tl.float16`."""
        if self.expression is not None:
            return self.expression.value(dict(symbols))
        return f"tl.{self.dtype}" if self.dtype is not None else self.text or ""


@dataclass(frozen=True)
class TritonSource:
    """One kernel and its compilation."""

    root: Path
    """What its module is imported from."""
    module: str
    kernel: str
    constants: tuple[Constant, ...] = ()
    warps: int = 4
    stages: int | None = None
    parameters: tuple[tuple[str, str], ...] = ()
    """Those that are passed, in order, with the element type of arrays and scalars."""

    @property
    def file(self) -> Path:
        """Where the module is."""
        path = self.root.joinpath(*self.module.split("."))
        return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@dataclass(frozen=True)
class Written:
    """A kernel as its file has it."""

    name: str
    line: int
    parameters: tuple[str, ...]
    constants: tuple[str, ...]
    """Parameters that are `tl.constexpr`."""
    optional: frozenset[str] = frozenset()
    """Parameters that have a default."""
    decorators: tuple[ast.expr, ...] = ()
    body: tuple[ast.stmt, ...] = ()


def kernels_of(path: Path) -> dict[str, Written]:
    """The functions of a file that `triton.jit` decorates, by name; raises OSError, ValueError."""
    found: dict[str, Written] = {}
    for node in ast.walk(parsed_python(read_regular(path))):
        if isinstance(node, ast.FunctionDef) and any(_is_jit(decorator) for decorator in node.decorator_list):
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            constants = tuple(
                a.arg for a in arguments if a.annotation is not None and "constexpr" in ast.dump(a.annotation)
            )
            plain = [*node.args.posonlyargs, *node.args.args]
            optional = {a.arg for a in plain[len(plain) - len(node.args.defaults) :]}
            names = tuple(a.arg for a in arguments)
            found[node.name] = Written(
                *(node.name, node.lineno, names, constants, frozenset(optional)),
                *(tuple(node.decorator_list), tuple(node.body)),
            )
    return found


def _is_jit(node: ast.expr) -> bool:
    function = node.func if isinstance(node, ast.Call) else node
    return (function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")) == "jit"
