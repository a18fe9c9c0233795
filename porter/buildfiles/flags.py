"""nvcc's flags as those of hipcc and clang: one table (`rules/buildfiles/flags.toml`), and its use on words."""

from __future__ import annotations

import functools
import importlib.resources
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from porter.model import Effort

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover
    import tomli as tomllib

ARCHITECTURE = "gfx942"
_SM = re.compile(r"(?:sm|compute|lto)_\w+")
_REFERENCE = re.compile(r"\$(?:\([A-Za-z_]\w*\)|\{[A-Za-z_]\w*\})")


_ELSEWHERE = "the target is put behind it elsewhere, where it has to be gfx942"
"""Said of `ARCH_FLAG = -arch`, for `$(ARCH_FLAG)=sm_80`."""


@dataclass(frozen=True, slots=True)
class FlagRow:
    """One flag of nvcc: its spellings, its counterpart, and why."""

    name: str
    nvcc: tuple[str, ...]
    argument: str = "none"
    """`none`, `value` (the next word, or after `=`) or `joined` (glued to the flag, as in `-O3`)."""
    hip: tuple[str, ...] = ()
    """Replacement; `{}` stands for the value, `{arch}` for the target, `{host}` for each comma-separated part."""
    keep: bool = False
    """The flag means the same to clang."""
    values: Mapping[str, tuple[str, ...]] | None = None
    """Replacements that depend on the value. Without `*` the flag takes these values, as a list with commas, and no
    others: then it is clang's, which spells it the same way and has nothing behind it."""
    own: bool = False
    """Whether no other compiler has the flag, so that it is one of nvcc's wherever it stands."""
    effort: Effort = Effort.NONE
    why: str = ""
    example: tuple[str, str] = ("", "")


class Word(NamedTuple):
    """One word of a command line, and where it stands."""

    start: int
    end: int
    text: str


class Change(NamedTuple):
    """Words [first, last) become other words; `row` is None when no row knows the flag."""

    first: int
    last: int
    new: tuple[str, ...]
    row: FlagRow | None

    @property
    def known(self) -> bool:
        """Whether the table has the flag."""
        return self.row is not None


@functools.cache
def load_flags() -> tuple[FlagRow, ...]:
    """All rows of the table."""
    path = Path(str(importlib.resources.files("porter.rules"))) / "buildfiles" / "flags.toml"
    return tuple(_row(name, row) for name, row in tomllib.loads(path.read_text("utf-8")).items())


def _row(name: str, row: Mapping[str, Any]) -> FlagRow:
    values = row.get("values")
    return FlagRow(
        name,
        tuple(row["nvcc"]),
        row.get("argument", "none"),
        tuple(row.get("hip", ())),
        row.get("keep", False),
        {key: tuple(value) for key, value in values.items()} if values is not None else None,
        row.get("own", False),
        Effort(row.get("effort", "none")),
        row.get("why", ""),
        tuple(row["example"]),
    )


@functools.cache
def _spellings() -> Mapping[str, FlagRow]:
    return {spelling: row for row in load_flags() if row.argument != "joined" for spelling in row.nvcc}


@functools.cache
def _joined() -> tuple[tuple[str, FlagRow], ...]:
    found = [(spelling, row) for row in load_flags() if row.argument == "joined" for spelling in row.nvcc]
    return tuple(sorted(found, key=lambda pair: -len(pair[0])))


@functools.cache
def _joined_spellings() -> tuple[str, ...]:
    return tuple(spelling for spelling, _ in _joined())


def translate(words: Sequence[str], *, all_known: bool = True, arch_flags: bool = True) -> tuple[Change, ...]:
    """What becomes of the words of nvcc's command line; words that stay and leave no work are not in the list.

    `all_known`: the words are nvcc's for certain, so unknown flags are named too; otherwise only flags that no
    other compiler has are looked at. `arch_flags`: whether the target is a flag here, or set elsewhere (CMake, torch).
    """
    return _changes(tuple(words), all_known, arch_flags)


@functools.lru_cache(maxsize=1024)  # after edits most lines are as they were, and lines of one tree are much alike
def _changes(words: tuple[str, ...], all_known: bool, arch_flags: bool) -> tuple[Change, ...]:
    changes: list[Change] = []
    seen_arch = False
    index = 0
    while index < len(words):
        if words[index] == "-mllvm":
            index += 2  # what follows is LLVM's
            continue
        found = _match(words, index)
        if found is None:
            if all_known and _is_unknown_flag(words[index]):
                changes.append(Change(index, index + 1, (words[index],), None))
            index += 1
            continue
        row, value, last = found
        if not (all_known or row.own):
            index += 1
            continue
        new = _replacement(row, words[index], value)
        if new is not None:
            if value is None and new == (f"--offload-arch={ARCHITECTURE}",):
                row, new = replace(row, effort=Effort.REVIEW, why=_ELSEWHERE), ("--offload-arch",)
            is_arch = any(part.startswith("--offload-arch=") for part in new)
            if is_arch and (seen_arch or not arch_flags):
                row, new = replace(row, why=_SAID_BEFORE if arch_flags else _GIVEN_APART), ()
            elif is_arch and new != (f"--offload-arch={ARCHITECTURE}",):
                row = replace(row, why=_IN_VARIABLE)
            seen_arch |= is_arch
            if new != tuple(words[index:last]) or row.effort is not Effort.NONE:
                changes.append(Change(index, last, new, row))
        index = last
    return tuple(changes)


def _match(words: Sequence[str], index: int) -> tuple[FlagRow, str | None, int] | None:
    """The row of the flag that begins at a word, its value, and the index after both."""
    word = words[index]
    rows = _spellings()
    row = rows.get(word)
    if row is not None and row.argument == "value":
        if index + 1 < len(words) and _takes(row, words[index + 1]):
            return row, words[index + 1], index + 2
        return row, None, index + 1
    if row is not None:
        return row, None, index + 1
    name, equals, value = word.partition("=")
    row = rows.get(name)
    if equals and row is not None and row.argument == "value":
        return row, value if _takes(row, value) else None, index + 1
    if not word.startswith(_joined_spellings()):
        return None
    for spelling, joined in _joined():
        if word.startswith(spelling):
            return joined, word[len(spelling) :], index + 1
    return None


def _is_closed(row: FlagRow) -> bool:
    return row.values is not None and "*" not in row.values


def _takes(row: FlagRow, value: str) -> bool:
    """Whether a word can be the value of a flag."""
    return not _is_closed(row) or all(part in (row.values or {}) for part in _bare(value).split(","))


def _is_unknown_flag(word: str) -> bool:
    return word.startswith("-") and len(word) > 1 and not word.startswith(("-$", "-<"))


def _replacement(row: FlagRow, word: str, value: str | None) -> tuple[str, ...] | None:
    """New words; None: they stay as they are."""
    if row.keep or (_is_closed(row) and value is None) or (row.name == "arch" and value in _OF_HOSTS):
        return None
    templates = row.hip
    if row.values is not None and _is_closed(row):
        parts = _bare(value or "").split(",")
        templates = tuple(dict.fromkeys(word for part in parts for word in row.values[part]))
    elif row.values is not None:
        templates = row.values.get(_bare(value or ""), row.values.get("*", row.hip))
    new: list[str] = []
    for template in templates:
        if "{arch}" in template:
            new.append(template.replace("{arch}", architecture(value or "")))
        elif template == "{host}":
            new += _host_flags(_bare(_bare(value or "")))
        else:
            new.append(template.replace("{}", value or "").replace("{word}", word))
    return tuple(part for part in new if part)


_GIVEN_APART = (
    f"the target is given apart: to PyTorch by PYTORCH_ROCM_ARCH={ARCHITECTURE}, to CMake by CMAKE_HIP_ARCHITECTURES"
)
_SAID_BEFORE = "one target is said before"
_IN_VARIABLE = f"the variable has to hold an AMD target such as {ARCHITECTURE}; sm_80 and the like become that here"
_OF_HOSTS = {"i386", "x86_64", "arm64", "ppc", "ppc64"}
"""`-arch x86_64` is a flag of Apple's compilers, which Makefiles of CUDA's old samples give to the host's."""
_STANDARD_OF_C = re.compile(r"-std=(?:c|gnu|iso9899:)\d\w*")
"""g++ warns of it and goes on, clang refuses it for HIP; what is C is compiled by clang's own, newer one."""
_FOR_TOOL = re.compile(r"-W[lap]")
"""`-Wl,-rpath,x` is one flag: its commas part what the linker, assembler or preprocessor gets."""
_OF_COMPILER = re.compile(r"-(?:W\w|std=|[fmDUIO])")


def _host_flags(value: str) -> list[str]:
    """The flags for the host's compiler that stand in a list with commas or blanks."""
    flags: list[str] = []
    for words in value.split():
        into = False
        for part in filter(None, words.split(",")):
            begins = _FOR_TOOL.fullmatch(part) is not None
            if into and not begins and _OF_COMPILER.match(part) is None:
                flags[-1] += "," + part
                continue
            into = begins
            if _STANDARD_OF_C.fullmatch(part) is None:
                flags.append(part)
    return flags


def _bare(value: str) -> str:
    """A value without the quotes around it."""
    for quote in ('\\"', '"', "'"):
        if len(value) > len(quote) and value.startswith(quote) and value.endswith(quote):
            return value[len(quote) : -len(quote)]
    return value


def architecture(value: str) -> str:
    """The target for the value of `-arch` or `-gencode`; a variable stays, and its own value is converted."""
    return value if _REFERENCE.fullmatch(value) else ARCHITECTURE


def may_name_architecture(text: str) -> bool:
    """Whether one of nvcc's targets may stand in a text: that of a whole file is quickly looked through."""
    return "sm_" in text or "compute_" in text or "lto_" in text


def is_architecture(text: str) -> bool:
    """Whether a text is nothing but one of nvcc's targets, such as `sm_80`."""
    return _SM.fullmatch(text) is not None
