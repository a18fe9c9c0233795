"""Imports point down: rules know the rule protocol only, nothing but the CLI knows the CLI, clang has one user."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ALLOWED_IN_RULES = {
    "porter.rule",
    "porter.edits",
    "porter.model",
    "porter.unit",
    "porter.lex",
    "porter.runtime_source",
    "porter.literals",
    "porter.renames",
    "porter.warp",
    "porter.names",
    "porter.support",
    "porter.rules",
    "porter.functions",
    "porter.kernels",
    "porter.headers",
    "porter.launches",
    "porter.written",
    "porter.conditionals",
    "porter.operators",
    "porter.buildfiles",
}
FILES = sorted(path for folder in ("porter", "rules", "validation") for path in (ROOT / folder).rglob("*.py"))


def imports(path: Path) -> set[str]:
    """Absolute module names that a file imports, wherever the statement stands."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found.add(node.module or "")
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def below(name: str, package: str) -> bool:
    """Whether a module is a package or inside it."""
    return name == package or name.startswith(package + ".")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_down(path: Path) -> None:
    """One file's imports respect the layers."""
    found = imports(path)
    relative = path.relative_to(ROOT)
    if relative.parts[0] == "rules":
        ours = {name for name in found if name.startswith("porter.")}
        assert all(any(below(name, allowed) for allowed in ALLOWED_IN_RULES) for name in ours), ours
    if relative.parts[0] != "validation":
        assert not {name for name in found if below(name, "torch")}
    if relative.parts[0] == "validation" or relative.parts[1:2] != ("cli.py",):
        assert not {name for name in found if below(name, "porter.cli")} or relative.name == "__main__.py"
    if any(below(name, "clang") for name in found):
        assert "pars" in str(relative) or "derive" in str(relative), "clang.cindex has one user"
