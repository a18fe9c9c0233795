"""The support headers that go into ported trees, and the names they supply."""

from __future__ import annotations

import functools
import importlib.resources
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from porter.names.table import version_key
from porter.system.reading import read_toml

FOLDER = "porter"
"""Folder of the support headers in a ported tree."""

_OWN_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)

_TAKEN_IF_THERE = re.compile(rb'__has_include\("([^"\n]+)"\)')
"""A header that another one includes where a port has it: it does not bring it."""
_SYSTEM_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*include[ \t]*<([^>\n]+)>", re.MULTILINE)
_BUILT_IN = frozenset({b"hip/hip_runtime.h", b"hip/hip_fp16.h", b"hip/hip_bf16.h"})
"""What hiprtc has without a file; the last one is included only where there is one."""
_RTC_HEADERS = f"{FOLDER}/rtc_headers.hpp"
_LAST_ROW = "      {nullptr, nullptr},\n"
_AS_IT_STANDS = "As it stands here it has none: porter writes it anew for each tree."


@dataclass(frozen=True, slots=True)
class SupportRow:
    """A CUDA name that one of our headers supplies."""

    cuda: str
    name: str
    header: str
    call: bool = False
    """Whether the name is replaced only where it is called."""
    types: frozenset[str] = frozenset()
    """If not empty: HIP lacks the name for these argument types only; files that name none of them are left alone."""


@dataclass(frozen=True)
class SupportTable:
    """Names, and PTX special registers (`%laneid` -> a C++ expression), that our headers supply."""

    names: Mapping[str, SupportRow] = field(default_factory=dict)
    registers: Mapping[str, SupportRow] = field(default_factory=dict)

    def get(self, name: str) -> SupportRow | None:
        """The row of a CUDA name."""
        return self.names.get(name)


@functools.cache
def load_support(rocm: str | None) -> SupportTable:
    """Rows of `include/*.toml` that apply to a ROCm version (None: the newest)."""
    names: dict[str, SupportRow] = {}
    registers: dict[str, SupportRow] = {}
    for cuda, row in _rows():
        if cuda.startswith("%"):
            registers[cuda] = SupportRow(cuda, row["expression"], _header(row))
        elif _applies(row, rocm):
            types = frozenset(row.get("types", ()))
            names[cuda] = SupportRow(cuda, row["name"], _header(row), row.get("call", False), types)
    return SupportTable(names, registers)


def include_folder() -> Path:
    """Where the support headers are, below `porter`."""
    return Path(str(importlib.resources.files("porter"))) / "include"


def _rows() -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted(include_folder().iterdir(), key=lambda entry: entry.name):
        if path.name.endswith(".toml"):
            yield from read_toml(path).items()


def _header(row: Mapping[str, Any]) -> str:
    return f"{FOLDER}/{row['header']}"


def _applies(row: Mapping[str, Any], rocm: str | None) -> bool:
    """Whether HIP lacks the name in a version; ours also works beside HIP's own, so the newest counts as lacking."""
    until = row.get("until")
    return bool(row.get("always", True) or rocm is None or version_key(rocm) < version_key(until or "9999"))


@functools.cache
def header_bytes(include: str) -> bytes:
    """Content of a support header, named as it is included (`porter/warp32.hpp`)."""
    return (include_folder() / include).read_bytes()


def contents(needed: Iterable[str]) -> dict[str, bytes]:
    """The support headers that a tree gets, by name: those needed, and those that these include."""
    made = {name: header_bytes(name) for name in closure(needed)}
    if _RTC_HEADERS in made:
        texts = {name: data.decode() for name, data in made.items() if _is_for_kernels(name)}
        made[_RTC_HEADERS] = _with_texts(made[_RTC_HEADERS].decode(), texts).encode()
    return made


def _is_for_kernels(name: str) -> bool:
    """Whether a header is of use to a kernel that is compiled at run time, where there are no libraries."""
    needed = closure({name})
    system = {include for one in needed for include in _SYSTEM_INCLUDE.findall(header_bytes(one))}
    return _RTC_HEADERS not in needed and system <= _BUILT_IN


def _with_texts(empty: str, texts: Mapping[str, str]) -> str:
    """rtc_headers.hpp with the texts of other headers."""
    rows = "".join(f'      {{"{name}", R"porter({text})porter"}},\n' for name, text in texts.items())
    made = empty.replace(_LAST_ROW, rows + _LAST_ROW)
    return made.replace(_AS_IT_STANDS, "Written by porter, anew with each port.")


@functools.cache
def header_names() -> frozenset[str]:
    """All support headers, named as they are included."""
    return frozenset(f"{FOLDER}/{path.name}" for path in (include_folder() / FOLDER).iterdir())


def closure(includes: Iterable[str]) -> tuple[str, ...]:
    """The support headers and those that they include themselves, sorted."""
    found: set[str] = set()
    waiting = list(includes)
    while waiting:
        include = waiting.pop()
        if include in found:
            continue
        found.add(include)
        text = header_bytes(include)
        own = set(_OWN_INCLUDE.findall(text)).difference(_TAKEN_IF_THERE.findall(text))
        waiting += [f"{FOLDER}/{name.decode()}" for name in own if not name.startswith(b"hip/")]
    return tuple(sorted(found))
