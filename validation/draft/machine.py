"""Drafts of cases for the kernels of a library or code object: parameters from mangled names, else from sizes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from porter.validation.cases.argument_rows import TODO
from porter.validation.cases.case import SUFFIX
from porter.validation.cases.file import SCHEMA
from porter.validation.devices.listing import ListedKernel, list_objects
from porter.validation.draft.types import dtype_of
from porter.validation.toolchain.entry import demangle

from porter.errors import Unusable
from porter.system.reading import read_regular

_TARGETS = ("gfx942", "gfx90a")
_MANY = 20
_BY_SIZE = {1: "uint8", 2: "uint16", 4: "int32", 8: "int64"}


@dataclass(frozen=True)
class ObjectDraft:
    """A case file for machine code."""

    text: str
    cases: int

    @property
    def marks(self) -> int:
        """Places that have to be filled in."""
        return self.text.count(TODO)


def is_machine_code(path: Path) -> bool:
    """Whether a file is no source: an ELF file, an archive, a bundle, a wheel."""
    try:
        start = read_regular(path)[:24]
    except OSError:
        return False
    return start.startswith(
        (b"\x7fELF", b"!<arch>", b"__CLANG_OFFLOAD_BUNDLE__", b"CCOB", b"PK\3\4", b"\x10\xff\x10\xad")
    )


def draft_objects(path: Path, wanted: tuple[str, ...]) -> ObjectDraft:
    """A case per kernel that is named; raises Unusable."""
    chosen = _chosen(path, wanted)
    if not wanted and len(chosen) > _MANY:
        raise Unusable(f"{path}: {len(chosen)} kernels: name those that are wanted, --kernel NAME")
    head = [f'schema = "{SCHEMA}"', f'object = "{path.name}"', ""]
    return ObjectDraft("\n".join([*head, *(_case(kernel) for kernel in chosen)]), len(chosen))


def argument_rows(path: Path, wanted: str) -> list[str]:
    """What is known of one kernel's arguments, in the words of a case; raises Unusable."""
    return _rows(_chosen(path, (wanted,))[0])


def _chosen(path: Path, wanted: tuple[str, ...]) -> list[ListedKernel]:
    """The kernels of these names, or all."""
    kernels = {one.symbol: one for target in reversed(_TARGETS) for one in list_objects(path, target).kernels
               if one.target.startswith(target)}  # fmt: skip
    chosen = [k for k in kernels.values() if not wanted or k.name in wanted or k.symbol in wanted]
    if not chosen:
        there = f"{len(kernels)} others; see `porter objects {path}`" if kernels else "none"
        raise Unusable(f"{path}: no kernel {', '.join(wanted)} for {' or '.join(_TARGETS)}; there are {there}")
    return chosen


def place_beside(path: Path) -> Path:
    """Where the draft goes."""
    return path.with_name(path.name.partition(".")[0] + SUFFIX)


def _case(kernel: ListedKernel) -> str:
    lines = [
        "[[case]]",
        f'kernel = "{kernel.name if kernel.name.isprintable() else kernel.symbol}"',
        f'name = "{re.sub(chr(92) + "W+", "_", kernel.name.rpartition("::")[2]).strip("_")[:60]}"',
        "sweep = { n = [1, 64, 1000] }",
        f'grid = "{TODO}"',
        f'block = "{TODO}"  # at most {kernel.most_threads}',
        "arguments = [",
        *(f'  "{row}",' for row in _rows(kernel)),
        "]",
        f'reference = "{TODO}"  # file.py:function',
        "",
    ]
    return "\n".join(lines)


def _rows(kernel: ListedKernel) -> list[str]:
    types = _parameter_types(demangle(kernel.symbol))
    return [_argument(index, kind, size, types[index] if index < len(types) else None)
            for index, (kind, size) in enumerate(kernel.arguments)]  # fmt: skip


def _argument(index: int, kind: str, size: int, written: str | None) -> str:
    name = f"p{index}"
    if kind == "global_buffer":
        dtype = (dtype_of(written) if written else None) or TODO
        access = "in" if written and re.search(r"\bconst\s*\*", written) else "inout"
        return f"{access} {name}: {dtype}[n]"
    plain = (dtype_of(written) if written else None) or _BY_SIZE.get(size)
    return f"struct {name}: {TODO}, {size} bytes" if plain is None else f"scalar {name}: {plain} = {TODO}"


def _parameter_types(demangled: str) -> list[str]:
    """The types between the last pair of parentheses; none for a name that tells nothing."""
    text = demangled.rstrip()
    if not text.endswith(")"):
        return []
    depth, start = 0, len(text) - 1
    while start >= 0:
        depth += (text[start] == ")") - (text[start] == "(")
        if not depth:
            break
        start -= 1
    parts, current, depth = [], "", 0
    for char in text[start + 1 : -1]:
        depth += (char in "(<[") - (char in ")>]")
        if char == "," and not depth:
            parts.append(current.strip())
            current = ""
        else:
            current += char
    return [*parts, current.strip()] if current.strip() else parts
