"""What a program's Makefile says about compiling it: include folders, macros, source files."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

_ASSIGNMENT = re.compile(r"^\s*(?:export\s+|override\s+)?([A-Za-z_][\w.-]*)\s*(\+=|\?=|::?=|=)\s*(.*)$")
_CONDITION = re.compile(r"^\s*(ifeq|ifneq)\s*\((.*),(.*)\)\s*$")
_QUOTED_CONDITION = re.compile(r"""^\s*(ifeq|ifneq)\s+["'](.*)["']\s+["'](.*)["']\s*$""")
_DEFINED = re.compile(r"^\s*(ifdef|ifndef)\s+(\S+)\s*$")
_REFERENCE = re.compile(r"\$(?:\(([\w.-]+)\)|\{([\w.-]+)\})")
_SUFFIXES = (".cu", ".hip", ".cpp", ".cc", ".cxx", ".c")
_DEPTH = 10


@dataclass(frozen=True, slots=True)
class BuildFlags:
    """The part of a Makefile that a syntax check needs; sources are those that a variable lists."""

    includes: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


def read_makefile(path: Path) -> BuildFlags:
    """The flags of the default configuration; empty when there is no such file."""
    if not path.is_file():
        return BuildFlags()
    return parse_makefile(path.read_text(encoding="latin-1"))


def parse_makefile(text: str) -> BuildFlags:
    """Variables are expanded and plain conditionals followed; functions such as $(shell) are not run."""
    variables: dict[str, str] = {}
    lines = list(_active_lines(text, variables))
    words = [word for line in lines for word in _words(_expand(line, variables))]
    values = [word for value in variables.values() for word in _words(_expand(value, variables))]
    return BuildFlags(
        includes=_unique(_option_values(words, "-I")),
        defines=_unique(_option_values(words, "-D")),
        sources=_unique([word for word in values if word.endswith(_SUFFIXES) and "%" not in word]),
    )


def _active_lines(text: str, variables: dict[str, str]) -> list[str]:
    """Lines outside false conditionals; assignments among them are recorded in `variables`."""
    active: list[str] = []
    stack: list[bool] = []
    for raw in re.sub(r"\\\r?\n", " ", text).splitlines():
        line = raw.split("#", 1)[0]
        if _follow_conditional(line, stack, variables) or not all(stack):
            continue
        assignment = None if line.startswith("\t") else _ASSIGNMENT.match(line)
        if assignment:
            _assign(variables, *assignment.groups())
        active.append(line)
    return active


def _follow_conditional(line: str, stack: list[bool], variables: dict[str, str]) -> bool:
    word = line.strip()
    if word.startswith("endif"):
        if stack:
            stack.pop()
        return True
    if word.startswith("else"):
        if stack:
            stack[-1] = not stack[-1]
        return True
    match = _CONDITION.match(line) or _QUOTED_CONDITION.match(line)
    if match:
        same = _expand(match[2], variables).strip() == _expand(match[3], variables).strip()
        stack.append(same == (match[1] == "ifeq"))
        return True
    match = _DEFINED.match(line)
    if match:
        stack.append(bool(variables.get(match[2])) == (match[1] == "ifdef"))
        return True
    return False


def _assign(variables: dict[str, str], name: str, operator: str, value: str) -> None:
    if operator == "+=":
        variables[name] = f"{variables.get(name, '')} {value}".strip()
    elif operator != "?=" or name not in variables:
        variables[name] = value if operator == "=" else _expand(value, variables)


def _expand(text: str, variables: dict[str, str]) -> str:
    for _ in range(_DEPTH):
        expanded = _REFERENCE.sub(lambda match: variables.get(match[1] or match[2], ""), text)
        if expanded == text:
            break
        text = expanded
    return text


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()


def _option_values(words: list[str], option: str) -> list[str]:
    values = []
    for index, word in enumerate(words):
        if word == option and index + 1 < len(words):
            values.append(words[index + 1])
        elif word.startswith(option) and len(word) > len(option):
            values.append(word[len(option) :])
    return [value for value in values if "$" not in value]


def _unique(values: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))
