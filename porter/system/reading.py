"""Reads files of a tree that somebody else made: regular files only, and never without end."""

from __future__ import annotations

import errno
import functools
import json
import operator
import os
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from porter.errors import Unusable

if TYPE_CHECKING:
    import ast

LARGEST = 1 << 30
"""No file that is held in memory is larger."""
LARGEST_DOCUMENT = 256 << 20
_PIECE = 1 << 16
_WAYS = ("O_NONBLOCK", "O_NOCTTY", "O_BINARY", "O_CLOEXEC")
_HOW = functools.reduce(operator.or_, (getattr(os, way, 0) for way in _WAYS), os.O_RDONLY)


def opened(path: str | os.PathLike[str]) -> int:
    """A descriptor of a regular file; OSError for anything else, which could block or never end."""
    return _opened(path)[0]


def _opened(path: str | os.PathLike[str]) -> tuple[int, int]:
    """The descriptor, and the size that the file has."""
    handle = os.open(path, _HOW)
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "not a regular file", os.fspath(path))
    return handle, status.st_size


def is_regular(path: Path) -> bool:
    """Whether a name that somebody wrote is that of a regular file; one that can be no name is not."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def regular_file(folder: Path, name: str) -> Path | None:
    """The real path of a regular file that a source names; None for everything else, what can be no name included."""
    try:
        found = (folder / name).resolve()
    except (OSError, ValueError, RuntimeError):  # RuntimeError: links in a circle, before Python 3.13
        return None
    return found if is_regular(found) else None


def read_regular(path: str | os.PathLike[str], most: int = LARGEST) -> bytes:
    """The bytes of a regular file; OSError for anything else and for more than `most` bytes."""
    handle, size = _opened(path)
    try:
        wanted = min(size, most) + 1
        data = os.read(handle, wanted)
        if len(data) >= wanted:  # it grew, or its size is not told; less is the end of the file
            while more := os.read(handle, min(most + 1 - len(data), _PIECE)):
                data += more
    finally:
        os.close(handle)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"more than {most >> 20} MiB", os.fspath(path))
    return data


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML document; Unusable says what is wrong with it."""
    if sys.version_info >= (3, 11):  # imported where it is used: a command that reads none starts sooner
        import tomllib
    else:  # pragma: no cover
        import tomli as tomllib

    try:
        document: dict[str, Any] = tomllib.loads(read_regular(path, LARGEST_DOCUMENT).decode("utf-8"))
        return document
    except OSError as error:
        raise Unusable(f"{path}: {error.strerror}") from None
    except RecursionError:
        raise Unusable(f"{path}: nested too deeply") from None
    except ValueError as error:
        raise Unusable(f"{path}: {error}") from None


def read_json(path: Path) -> Any:
    """A JSON document of a tree; ValueError for what is none, however it fails, and OSError where it cannot be read."""
    return parsed_json(read_regular(path, LARGEST_DOCUMENT))


def parsed_python(text: bytes | str) -> ast.Module:
    """A Python file as a tree; ValueError for what is none, however it fails, and no warnings about it."""
    import ast
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, RecursionError, MemoryError) as error:  # MemoryError: too many brackets
        raise ValueError(str(error)) from None


def parsed_json(text: bytes | str) -> Any:
    """The value of a JSON text; ValueError for what is none, one that nests too deeply included."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
