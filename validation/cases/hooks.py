"""Python beside a case file: references and inputs, called with the arguments that they name."""

from __future__ import annotations

import ast
import functools
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from porter.system.reading import parsed_python, read_regular


class HookFailed(Exception):
    """The function is not there, cannot be called, or raised: file, line and message."""

    def __init__(self, path: Path, line: int, message: str) -> None:
        super().__init__(f"{path}:{line}: {message}")
        self.path, self.line, self.message = path, line, message


@functools.cache
def _module(path: Path, stamp: int) -> ModuleType:
    name = f"porter_case_{abs(hash((path, stamp))):x}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise HookFailed(path, 1, "no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise _failed(path, error) from error
    return module


def _failed(path: Path, error: BaseException) -> HookFailed:
    """The error with the last line of the file itself that took part."""
    if isinstance(error, SyntaxError) and error.filename:
        return HookFailed(Path(error.filename), error.lineno or 1, f"SyntaxError: {error.msg}")
    line = 1
    for frame in traceback.extract_tb(error.__traceback__):
        if Path(frame.filename) == path:
            line = frame.lineno or 1
    return HookFailed(path, line, f"{type(error).__name__}: {error}")


def function_of(folder: Path, name: str) -> tuple[Any, Path]:
    """The function that `file.py:function` names, and its file; raises HookFailed."""
    file, _, wanted = name.partition(":")
    path = (folder / file).absolute()
    try:
        stamp = path.stat().st_mtime_ns
    except OSError as error:
        raise HookFailed(path, 1, error.strerror or str(error)) from None
    found = getattr(_module(path, stamp), wanted, None)
    if not callable(found):
        raise HookFailed(path, 1, f"no function {wanted!r}")
    return found, path


def call(folder: Path, name: str, known: Mapping[str, Any]) -> Any:
    """Call the function with those of the known values that its parameters name; raises HookFailed."""
    function, path = function_of(folder, name)
    line = getattr(getattr(function, "__code__", None), "co_firstlineno", 1)
    given: dict[str, Any] = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            continue
        if parameter.name in known:
            given[parameter.name] = known[parameter.name]
        elif parameter.default is inspect.Parameter.empty:
            there = ", ".join(sorted(known))
            raise HookFailed(path, line, f"parameter {parameter.name!r} is no argument or symbol; there are {there}")
    try:
        return function(**given)
    except Exception as error:
        raise _failed(path, error) from error


@functools.cache
def imports_torch(path: Path) -> bool:
    """Whether a Python file imports torch."""
    try:
        tree = parsed_python(read_regular(path))
    except (OSError, ValueError):
        return False  # who calls it says what is wrong with it
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        if any(name.partition(".")[0] == "torch" for name in names):
            return True
    return False
