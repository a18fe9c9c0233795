"""Imports point down from room to room, no two modules need each other, and rules know little."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = {
    "porter.model": set(),
    "porter.errors": set(),
    "porter.source": set(),
    "porter.settings": {"model", "errors", "system", "cpp"},
    "porter.system": {"errors"},
    "porter.names": {"system", "model", "cpp"},
    "porter.cpp": {"model", "source", "system", "names"},
    "porter.engine": {"cpp", "names", "model", "source", "settings", "system", "buildfiles", "rules"},
    "porter.warp": {"cpp", "engine", "model", "source"},
    "porter.rules": {"engine", "cpp", "warp", "names", "buildfiles"},
    "porter.buildfiles": {"engine", "model", "source", "project", "rules", "system", "names"},
    "porter.dual": {"engine", "cpp", "model", "system", "project"},
    "porter.project": {
        *("engine", "cpp", "names", "model", "source", "settings", "errors", "system"),
        *("buildfiles", "dual", "report"),
    },
    "porter.report": {"engine", "project", "check", "model", "errors", "system"},
    "porter.whole": {"project", "report", "settings", "errors", "system", "validation"},
    "porter.check": {
        *("engine", "cpp", "names", "project", "report", "buildfiles", "settings", "source", "errors", "system"),
        "validation",
    },
    "porter.validation": {
        *("engine", "cpp", "names", "project", "report", "model", "source", "settings", "errors", "system"),
    },
}
"""What the modules of each room may import of porter's, besides their own room; the command line may import all."""
MOST_IN_A_RULE = 4
"""Modules of porter's that one rule imports."""
FILES = sorted(path for folder in ("porter", "rules", "validation") for path in (ROOT / folder).rglob("*.py"))


def module_name(path: Path) -> str:
    """The import name of a file."""
    parts = [*path.relative_to(ROOT).with_suffix("").parts]
    if parts[0] != "porter":
        parts.insert(0, "porter")
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in FILES}


def imports(path: Path) -> set[str]:
    """Absolute module names that a file imports, wherever the statement stands."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= names if names <= MODULES.keys() else {*names, node.module or ""}
    return found


def below(name: str, package: str) -> bool:
    """Whether a module is a package or inside it."""
    return name == package or name.startswith(package + ".")


@functools.cache
def own_imports(name: str) -> frozenset[str]:
    """The modules of porter's that one imports."""
    return frozenset(found for found in imports(MODULES[name]) if found in MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_imports_point_down(name: str) -> None:
    """A module imports its own room and the rooms below; torch has one user, and so has clang."""
    found = imports(MODULES[name])
    room = next((room for room in ROOMS if below(name, room)), None)
    if room is not None:
        allowed = {room, "porter", *(f"porter.{other}" for other in ROOMS[room])}
        ours = {other for other in found if below(other, "porter") and other in MODULES}
        assert not {
            other for other in ours if other != "porter" and not any(below(other, a) for a in allowed - {"porter"})
        }
    if room != "porter.validation":
        assert not {other for other in found if below(other, "torch")}
    if any(below(other, "distributed") or below(other, "dask") for other in found):
        assert below(name, "porter.validation.cluster"), "Dask has one room"
    if any(below(other, "clang") for other in found):
        assert below(name, "porter.cpp.clang") or below(name, "porter.names.derive"), "clang.cindex has one room"


@pytest.mark.parametrize("name", [name for name in MODULES if below(name, "porter.rules")])
def test_a_rule_knows_few_modules(name: str) -> None:
    assert len(own_imports(name)) <= MOST_IN_A_RULE


def test_no_modules_import_each_other() -> None:
    """Groups of modules that need each other can only be read, tested and moved as one."""
    circles = {
        frozenset(group) for group in _components({name: own_imports(name) for name in MODULES}) if len(group) > 1
    }
    assert not circles


def _components(graph: dict[str, frozenset[str]]) -> list[list[str]]:
    """Strongly connected components of a graph, by Tarjan's algorithm."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        order[node] = low[node] = len(order)
        stack.append(node)
        for other in graph[node]:
            if other not in order:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], order[other])
        if low[node] == order[node]:
            at = stack.index(node)
            found.append(stack[at:])
            del stack[at:]

    for node in graph:
        if node not in order:
            visit(node)
    return found
