"""Kernels in strings, for a draft: their text before the host code, and launches by name written as `<<<>>>`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from porter.validation.draft.declarations import matching, without_comments
from porter.validation.draft.expression import split_arguments
from porter.validation.draft.host import Host
from porter.validation.draft.unit import SourceText, kernels_of

from porter.cpp.lex import lex
from porter.cpp.runtime_strings import texts
from porter.system.reading import read_regular

_LAUNCH = re.compile(r"\b(?:cu|hipModule)LaunchKernel\s*\(")
_FUNCTION = re.compile(r"\b(?:cu|hip)ModuleGetFunction\s*\(\s*&\s*(\w+)\s*,[^;]*?,\s*\"(\w+)\"\s*\)")
_OPTION = re.compile(r'"-D\s?(\w+)(=?)([^"\n]*)"')
_SHARED, _STREAM, _ARGUMENTS = 7, 8, 9
_LAUNCH_ARGUMENTS = 11


@dataclass(frozen=True)
class StringUnit:
    """One string with kernels."""

    name: str | None
    """Of the variable; empty where there is none; None: no string, but the file itself."""
    unit: SourceText
    defines: tuple[str, ...]
    """Macros that the host gives as options; without a value where it is computed."""
    notes: tuple[str, ...] = ()
    """What is assumed of its kernels."""


def string_units(path: Path) -> Iterator[StringUnit]:
    """The strings of a file that hold kernels."""
    data = read_regular(path).decode("latin-1")
    host = without_comments(data)
    for name, literal in texts(lex(data)):
        own = without_comments(literal.text)
        text = f"{own}\n{_as_launches(host)}"
        inside = tuple(kernel for kernel in kernels_of(path, text) if kernel.span.start < len(own))
        if inside:
            yield StringUnit(name, SourceText(path, Host(text, ()), inside), tuple(_defines(own, host)))


def _defines(own: str, host: str) -> Iterator[str]:
    for match in _OPTION.finditer(host):
        name, given, value = match.groups()
        if re.search(rf"\b{name}\b", own):
            yield f"{name}={value}" if value or not given else f"{name}="


def _as_launches(host: str) -> str:
    """Host code with `cuLaunchKernel(f, ...)` as a launch of the kernel that `f` is."""
    kernels = dict(_FUNCTION.findall(host))
    made: list[str] = []
    position = 0
    for match in _LAUNCH.finditer(host):
        end = matching(host, match.end() - 1)
        arguments = split_arguments(host[match.end() : end - 1]) if end else []
        kernel = kernels.get(arguments[0].strip()) if len(arguments) == _LAUNCH_ARGUMENTS else None
        if kernel is None or end is None:
            continue
        sides = [", ".join(side.strip() for side in arguments[first : first + 3]) for first in (1, 4)]
        passed = ", ".join(_passed(host[: match.start()], arguments[_ARGUMENTS].strip()))
        launch = (
            f"{kernel}<<<dim3({sides[0]}), dim3({sides[1]}), {arguments[_SHARED]}, {arguments[_STREAM]}>>>({passed})"
        )
        made += [host[position : match.start()], launch]
        position = end
    return "".join([*made, host[position:]])


def _passed(host: str, name: str) -> list[str]:
    """What `void* name[] = {&a, &b};` points to."""
    found = re.findall(rf"\b{re.escape(name)}\s*\[[^\]]*\]\s*=\s*\{{([^}}]*)\}}", host) if name.isidentifier() else []
    pointers = split_arguments(found[-1]) if found else []
    return [re.sub(r"^\s*(?:\(\s*void\s*\*\s*\)\s*)?&\s*", "", pointer).strip() for pointer in pointers]
