"""What setup.py defines for the units of an extension: constants that hold in a build for AMD; nothing is executed."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

from porter.validation.build.conditions import truth

from porter.system.reading import parsed_python, read_regular

_MACRO = re.compile(r"-[DU][A-Za-z_]\w*(?:=[\w.+-]*)?$")
_NAME = re.compile(r"[A-Z_][A-Z0-9_]+$")


def setup_macros(source: Path, options: tuple[str, ...], is_torch: bool = True) -> tuple[str, ...]:
    """`-D` and `-U` as the nearest setup.py has them as constants; none that the options name already.

    `is_torch`: the source includes PyTorch's headers; else the script has to name it, for it may be for other things.
    """
    script = next((path for folder in source.parents if (path := folder / "setup.py").is_file()), None)
    if script is None or not (is_torch or _names(script, source.name)):
        return ()
    named = {re.split("=", word[2:])[0] for word in options if word.startswith(("-D", "-U"))}
    status = script.stat()
    found = _read_setup(str(script), (status.st_mtime_ns, status.st_size))
    return tuple(word for word in found if word[2:].partition("=")[0] not in named)


def _names(script: Path, name: str) -> bool:
    try:
        return name.encode() in read_regular(script)
    except (OSError, ValueError):
        return False


@functools.lru_cache(maxsize=64)
def _read_setup(path: str, stamp: tuple[int, int]) -> tuple[str, ...]:
    del stamp
    try:
        tree = parsed_python(read_regular(path))
    except (OSError, ValueError):
        return ()
    return tuple(dict.fromkeys(_macros(tree)))


def _macros(tree: ast.Module) -> Iterator[str]:
    """Words of lists, and pairs of a name and a constant or None, which is how distutils writes macros."""
    for node in _certain(tree):
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            yield from (
                _for_hip(word.value)
                for word in node.elts
                if isinstance(word, ast.Constant) and isinstance(word.value, str) and _MACRO.match(word.value)
            )
        if isinstance(node, ast.Tuple) and len(node.elts) == 2:
            yield from _pair(*node.elts)


def _certain(node: ast.AST) -> Iterator[ast.AST]:
    """What an ordinary build for AMD comes to: of conditions the branch that is on, and none where nobody knows."""
    yield node
    below: list[ast.AST] = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.If):
        on = truth(node.test)
        below = [] if on is None else [*(node.body if on else node.orelse)]
    elif isinstance(node, ast.IfExp):
        on = truth(node.test)
        below = [] if on is None else [node.body if on else node.orelse]
    for one in below:
        yield from _certain(one)


def _for_hip(word: str) -> str:
    """As PyTorch's builder changes `-U__CUDA_NO_HALF_OPERATORS__` on ROCm."""
    return word.replace("CUDA", "HIP", 1) if word[2:].startswith("__CUDA_NO_") else word


def _pair(name: ast.expr, value: ast.expr) -> Iterator[str]:
    if not (isinstance(name, ast.Constant) and isinstance(name.value, str) and _NAME.match(name.value)):
        return
    if isinstance(value, ast.Constant) and value.value is None:
        yield f"-D{name.value}"
    elif isinstance(value, ast.Constant) and isinstance(value.value, str) and re.fullmatch(r"[\w.]+", value.value):
        yield f"-D{name.value}={value.value}"
