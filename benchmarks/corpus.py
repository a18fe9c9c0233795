"""Programs of a HeCBench-like tree (`X-cuda` beside `X-hip`): which to take, and their translation units."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmarks.makefile import BuildFlags, read_makefile

SOURCE_SUFFIXES = frozenset({".cu", ".hip", ".cpp", ".cc", ".cxx", ".c"})
HEADER_SUFFIXES = frozenset({".h", ".hh", ".hpp", ".hxx", ".cuh", ".inl", ".inc", ".tpp", ".hip.h"})
_GPU_SUFFIXES = frozenset({".cu", ".hip"})
_GPU_CODE = re.compile(
    rb"__global__|__device__|<<<|\b(?:cuda|hip)[A-Z]\w+\s*\(|\b(?:cub|hipcub|thrust)::"
    rb"|\b(?:cu|hip|roc)(?:blas|fft|rand|sparse|solver|dnn)\w*\s*\(|\bnccl[A-Z]\w+\s*\("
)
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.M)
_MAKEFILES = ("Makefile", "makefile", "GNUmakefile")


@dataclass(frozen=True, slots=True)
class Unit:
    """One translation unit, and the files of the tree it reaches through includes."""

    path: Path
    closure: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """One program folder with what is needed to compile its units."""

    name: str
    folder: Path
    include_folders: tuple[Path, ...]
    defines: tuple[str, ...]
    units: tuple[Unit, ...]


def program_names(corpus: Path, every: int = 4, offset: int = 0) -> list[str]:
    """Every n-th program that has both a CUDA and a HIP folder, in byte order, from the given offset."""
    pairs = sorted(
        (folder.name.removesuffix("-cuda") for folder in corpus.glob("*-cuda") if folder.is_dir()),
        key=lambda name: f"{name}-cuda".encode(),
    )
    both = [name for name in pairs if (corpus / f"{name}-hip").is_dir()]
    return sorted(both, key=str.encode)[offset::every]


def load_program(folder: Path, name: str) -> Program:
    """The units of one folder and the flags of its Makefile."""
    flags = _flags(folder)
    roots = tuple((folder / include) for include in flags.includes if (folder / include).is_dir())
    return Program(name, folder, roots, flags.defines, _units(folder, roots, flags))


def referenced_folders(folder: Path) -> set[str]:
    """Names of sibling folders that a program reaches through -I flags or includes."""
    texts = [include.encode() for include in _flags(folder).includes]
    texts += [name for path in code_files(folder) for name in included_names(path)]
    siblings = set()
    for text in texts:
        match = re.search(rb"(?:^|/)\.\./(\w[\w+.-]*)/?", text)
        if match and (folder.parent / match[1].decode()).is_dir():
            siblings.add(match[1].decode())
    return siblings - {folder.name}


def code_files(folder: Path) -> list[Path]:
    """Every source and header below a folder, in a fixed order; links are followed only to files."""
    found = []
    for root, folders, names in os.walk(folder):
        folders.sort()
        code = [Path(root, name) for name in sorted(names) if _suffix(name) in _CODE]
        found += [path for path in code if path.is_file()]
    return found


_CODE = SOURCE_SUFFIXES | HEADER_SUFFIXES


def _suffix(name: str) -> str:
    return Path(name).suffix.lower()


def _flags(folder: Path) -> BuildFlags:
    for name in _MAKEFILES:
        if (folder / name).is_file():
            return read_makefile(folder / name)
    return BuildFlags()


def _units(folder: Path, roots: tuple[Path, ...], flags: BuildFlags) -> tuple[Unit, ...]:
    sources = [path for path in code_files(folder) if path.suffix.lower() in SOURCE_SUFFIXES]
    listed = {path for name in flags.sources for path in _spellings(folder / name)}
    closures = {path: _closure(path, roots) for path in sources}
    included = {reached for closure in closures.values() for reached in closure[1:]}
    units = []
    for path, closure in closures.items():
        wanted = path.resolve() in listed or path.resolve() not in included
        if wanted and not _superseded(path) and _is_gpu_unit(path, closure):
            units.append(Unit(path, closure))
    return tuple(units)


def _spellings(path: Path) -> set[Path]:
    """A source named in a Makefile, under its own name or the one a porter gave it."""
    ported = {path, path.with_suffix(".hip"), path.with_suffix(".cu"), path.with_name(f"{path.name}.hip")}
    return {candidate.resolve() for candidate in ported if candidate.is_file()}


def _superseded(path: Path) -> bool:
    """Whether a `.cu` file lies beside its own port (some tools leave both)."""
    return path.suffix == ".cu" and path.with_suffix(".hip").is_file()


def _closure(path: Path, roots: tuple[Path, ...]) -> tuple[Path, ...]:
    seen: dict[Path, None] = {}
    pending = [path.resolve()]
    while pending:
        current = pending.pop()
        if current in seen:
            continue
        seen[current] = None
        for raw in included_names(current):
            name = os.fsdecode(raw)
            for base in (current.parent, path.parent, *roots):
                candidate = base / name
                if candidate.is_file():
                    pending.append(candidate.resolve())
                    break
    return tuple(seen)


@cache
def included_names(path: Path) -> tuple[bytes, ...]:
    """The targets of all include directives of a file, active or not."""
    return tuple(_INCLUDE.findall(path.read_bytes()))


def _is_gpu_unit(path: Path, closure: tuple[Path, ...]) -> bool:
    return path.suffix in _GPU_SUFFIXES or any(_has_gpu_code(reached) for reached in closure)


@cache
def _has_gpu_code(path: Path) -> bool:
    return bool(_GPU_CODE.search(path.read_bytes()))
