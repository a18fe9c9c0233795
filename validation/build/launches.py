"""Block sizes of kernels: what the launches and launch bounds of the ported sources say, where they are constants."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from porter.validation.build.includes import shared_folders
from porter.validation.build.model import Block
from porter.validation.cases.expression import BadExpression, Expression

from porter.cpp.kernels import find_kernels, find_launches
from porter.cpp.launches import base_name
from porter.cpp.lex import Tokens, lex
from porter.model import Launch
from porter.source import SourceFile
from porter.system.reading import read_regular

LARGEST_BLOCK = 1024

_CONSTANT = re.compile(
    r"\b(?:constexpr|const)\s+(?:static\s+|inline\s+)?(?:(?:unsigned|signed|long|short|int|size_t|auto|u?int\d+_t|std::size_t)\s+)+"
    r"(\w+)\s*[={]([^;{}]+)(?:\}\s*)?;"
    r"|^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]([^\n]+)$",
    re.MULTILINE,
)
_DIM3 = re.compile(r"\b(?:const\s+|constexpr\s+)?dim3\s+(\w+)\s*(?:=\s*dim3\s*)?[({]([^;{}]*)[)}]\s*;")
_SUFFIX = re.compile(r"\b(\d+|0x[0-9a-fA-F]+)[uUlL]+\b")
_CAST = re.compile(r"\bstatic_cast\s*<[^<>]*>\s*|\((?:unsigned|int|size_t|unsigned int)\)\s*(?=[\w(])")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


@dataclass(frozen=True)
class KnownKernel:
    """A kernel of the ported sources."""

    path: str
    line: int
    qualified: str
    bounds: tuple[str, ...]


@dataclass(frozen=True)
class _Launched:
    path: str
    line: int
    block: str
    shared: str
    arguments: str


@dataclass
class Sources:
    """Kernels and launches of the tree, found by their names."""

    root: Path
    kernels: dict[str, list[KnownKernel]] = field(default_factory=dict)
    launches: dict[str, list[_Launched]] = field(default_factory=dict)
    constants: dict[str, dict[str, str]] = field(default_factory=dict)
    dims: dict[str, dict[str, str]] = field(default_factory=dict)

    @cached_property
    def shared(self) -> dict[str, str]:
        """Constants that mean the same in every file that has them."""
        found: dict[str, set[str]] = {}
        for constants in self.constants.values():
            for name, value in constants.items():
                found.setdefault(name, set()).add(value)
        return {name: next(iter(values)) for name, values in found.items() if len(values) == 1}

    def kernel(self, name: str, unit: str) -> KnownKernel | None:
        """The kernel that a demangled name of a unit stands for, the nearest of those; None when that leaves more."""
        bare = name.partition("<")[0]
        found = self.kernels.get(bare.rpartition("::")[2], [])
        exact = [kernel for kernel in found if kernel.qualified.partition("<")[0] == bare] or found
        nearest = _nearest(exact, unit)
        return nearest[0] if len(nearest) == 1 else None

    def blocks(self, name: str, unit: str) -> tuple[Block, ...]:
        """Block sizes of the launches of a kernel, as far as they are constants; programs beside it do not count."""
        launches = _nearest(self.launches.get(name.partition("<")[0].rpartition("::")[2], []), unit)
        wanted = _template_arguments(name)
        exact = [launch for launch in launches if self._values(launch) == wanted]
        found: dict[tuple[int, int], Block] = {}
        for launch in exact or launches:
            threads = self._threads(launch)
            if threads is None or not 1 <= threads <= LARGEST_BLOCK:
                continue
            shared = self._number(launch.path, launch.shared) or 0
            block = Block(threads, shared, "launch", launch.line, launch.path, bool(exact))
            found.setdefault((threads, shared), block)
        return tuple(found.values())

    def _values(self, launch: _Launched) -> str:
        """Its template arguments, with constants of integers as numbers: `int,256,true`."""
        parts = _split(launch.arguments) if launch.arguments else []
        values = [None if part in ("true", "false") else self._number(launch.path, part) for part in parts]
        return ",".join(part if value is None else str(value) for part, value in zip(parts, values, strict=True))

    def bounds(self, kernel: KnownKernel) -> int | None:
        """The first number of `__launch_bounds__`, when it is a constant."""
        return self._number(kernel.path, kernel.bounds[0]) if kernel.bounds else None

    def _threads(self, launch: _Launched) -> int | None:
        text = launch.block.strip()
        text = self.dims.get(launch.path, {}).get(text, text)
        called = re.fullmatch(r"dim3\s*[({](.*)[)}]", text, re.DOTALL)
        parts = _split(called[1] if called else text)
        sizes = [self._number(launch.path, part) for part in parts]
        return None if None in sizes or not sizes else math.prod(size or 1 for size in sizes)

    def _number(self, path: str, text: str, depth: int = 0) -> int | None:
        """The value of a constant expression of integers."""
        constants = {**self.shared, **self.constants.get(path, {})}
        expression = Expression(_pythonic(text))
        try:
            values: Mapping[str, int | None] = {
                name: self._number(path, constants[name], depth + 1)
                for name in expression.names
                if name in constants and depth < 8
            }
            known = {name: value for name, value in values.items() if value is not None}
            return expression.integer(known)
        except BadExpression:
            return None


_Placed = TypeVar("_Placed", KnownKernel, _Launched)


def _nearest(found: list[_Placed], unit: str) -> list[_Placed]:
    """Those in the unit itself, else those that have most folders in common with it."""
    own = [one for one in found if one.path == unit]
    most = max((shared_folders(one.path, unit) for one in found), default=0)
    return own or [one for one in found if shared_folders(one.path, unit) == most]


def _pythonic(text: str) -> str:
    plain = _SUFFIX.sub(r"\1", _CAST.sub("", _COMMENT.sub("", text)))
    return re.sub(r"(?<!/)/(?!/)", "//", re.sub(r"\b\w+::|^::", "", plain)).strip() or "0 0"


def _split(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for index, char in enumerate(text):
        depth += {"(": 1, "<": 1, "[": 1, ")": -1, ">": -1, "]": -1}.get(char, 0)
        if char == "," and depth == 0:
            parts.append(text[start:index])
            start = index + 1
    return [*parts, text[start:]]


def _template_arguments(name: str) -> str:
    _, opened, rest = name.partition("<")
    plain = re.sub(r"\s+", "", rest.rpartition(">")[0]) if opened else ""
    return _SUFFIX.sub(r"\1", plain)


def read_sources(root: Path, paths: Iterable[str]) -> Sources:
    """Kernels, launches and constants of files below the root; what cannot be read is left out."""
    sources = Sources(root)
    for path in paths:
        try:
            data = read_regular(root / path)
        except OSError:
            continue
        source = SourceFile(path, data)
        if b"__global__" in data or b"<<<" in data or b"hipLaunch" in data:
            _read(sources, path, source)
        plain = _COMMENT.sub("", source.text)
        sources.constants[path] = {m[1] or m[3]: (m[2] or m[4]).strip() for m in _CONSTANT.finditer(plain)}
        sources.dims[path] = {m[1]: f"dim3({m[2]})" for m in _DIM3.finditer(plain)}
    return sources


def _read(sources: Sources, path: str, source: SourceFile) -> None:
    tokens: Tokens = lex(source.text)
    for kernel in find_kernels(tokens, path, source):
        known = KnownKernel(path, kernel.line, kernel.qualified, kernel.launch_bounds)
        sources.kernels.setdefault(kernel.name.partition("<")[0], []).append(known)
        for launch in kernel.launches:
            _add(sources, path, kernel.name.partition("<")[0], launch)
    for launch in find_launches(tokens, path, source):
        _add(sources, path, base_name(launch.kernel), launch)


def _add(sources: Sources, path: str, name: str, launch: Launch) -> None:
    one = _Launched(path, launch.line, launch.block, launch.shared, _template_arguments(launch.kernel))
    known = sources.launches.setdefault(name, [])
    if one not in known:
        known.append(one)
