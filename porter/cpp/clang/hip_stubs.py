"""HIP's declarations, made from the CUDA stubs and the name tables."""

from __future__ import annotations

import re

from porter.names.table import NameTable, load_names

_WORD = re.compile(r"\b[A-Za-z_]\w*")
_DECLARATION = re.compile(rb"(?:template <[^>]*> |__device__ |[\w ]+ )+(\w+)\(.*\);$")
_AS_THEY_ARE = ("std/", "hip/", "all.h")
_NAMESPACES = {"cub": "hipcub", "CUB_NAMESPACE_BEGIN": "HIPCUB_NAMESPACE_BEGIN"}


def hip_stubs(files: dict[str, bytes]) -> dict[str, bytes]:
    """The same files with every CUDA name that has a HIP name replaced by it."""
    names = _mapping(load_names(None, {}), files)
    made = frozenset(names.values())
    return {path: _hip_text(path, data, names, made) for path, data in files.items()}


def _hip_text(path: str, data: bytes, names: dict[str, str], made: frozenset[str]) -> bytes:
    if path.startswith("hip/"):
        return b"".join(line for line in data.splitlines(keepends=True) if not _declares(line, made))
    return data if path.startswith(_AS_THEY_ARE) else _renamed(data, names)


def _declares(line: bytes, made: frozenset[str]) -> bool:
    """Whether a line of HIP's own stubs declares a function that a CUDA name has become already."""
    match = _DECLARATION.match(line)
    return match is not None and match.group(1).decode() in made


def _mapping(table: NameTable, files: dict[str, bytes]) -> dict[str, str]:
    """CUDA name -> HIP name; of several that would become the same name only the first does."""
    ours = [data for path, data in files.items() if not path.startswith(_AS_THEY_ARE)]
    words = {word for data in ours for word in _WORD.findall(data.decode())}
    found: dict[str, str] = dict(_NAMESPACES)
    taken = set(words)
    for word in sorted(words):
        row = table.get(word)
        if row is not None and row.hip and row.hip.isidentifier() and row.hip not in taken:
            found[word] = row.hip
            taken.add(row.hip)
    return found


def _renamed(data: bytes, names: dict[str, str]) -> bytes:
    return _WORD.sub(lambda match: names.get(match.group(), match.group()), data.decode()).encode()
