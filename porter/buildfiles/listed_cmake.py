"""The sources in a CMake file, each with the builds for which its command runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from porter.buildfiles.cmake import Command, parse_cmake
from porter.buildfiles.vendor import ALWAYS, UNKNOWN, Answer, of_name, of_value

_FILE = re.compile(r"(?:\$\{\w*(?:SOURCE_DIR|LIST_DIR)\}/)?([\w./+*-]+\.\w+)")
_KEYWORD = re.compile(r"[A-Z][A-Z0-9_]+")
_TOKEN = re.compile(r'\(|\)|"[^"]*"|[^\s()"]+')
_COMPARES = frozenset({"STREQUAL", "MATCHES", "EQUAL"})
_TAKES_TWO = re.compile(r"STR\w+|MATCHES|(?:VERSION_)?(?:EQUAL|LESS|GREATER)\w*|IN_LIST|IS_NEWER_THAN|PATH_EQUAL")
_TAKES_ONE = frozenset({"DEFINED", "TARGET", "EXISTS", "COMMAND", "POLICY", "TEST", "IS_DIRECTORY", "IS_ABSOLUTE"})
_HIP_COMMANDS = frozenset({"hip_add_library", "hip_add_executable"})
_NO_LISTS = frozenset({"message", "find_package", "find_path", "install", "include", "configure_file", "hipify"})


@dataclass
class _Branches:
    """An `if` that is open: where it stands, and what was not yet so."""

    outer: Answer
    left: Answer


def cmake_mentions(data: bytes) -> Iterator[tuple[str, Answer]]:
    """File names and patterns in commands, with the builds that come to them."""
    where, open_ones = ALWAYS, list[_Branches]()
    text = data.decode("latin-1")
    for command in parse_cmake(data)[0]:
        if command.name == "if":
            asked = condition(text[command.name_end : command.end])
            open_ones.append(_Branches(where, where.and_(asked.inverted())))
            where = where.and_(asked)
        elif command.name in ("elseif", "else") and open_ones:
            last = open_ones[-1]
            asked = condition(text[command.name_end : command.end]) if command.name == "elseif" else ALWAYS
            where, last.left = last.left.and_(asked), last.left.and_(asked.inverted())
        elif command.name == "endif" and open_ones:
            where = open_ones.pop().outer
        elif command.name not in _NO_LISTS:
            yield from _files(command, where)


def _files(command: Command, where: Answer) -> Iterator[tuple[str, Answer]]:
    """A keyword or the name of a variable may say whose the files after it are: `HIP_SPECIFIC_SRCS a.hip`."""
    inner = where.and_(of_name("HIP")) if command.name in _HIP_COMMANDS or _is_for_hip(command) else where
    if command.name == "set_source_files_properties" and inner is where:
        return
    current = inner
    for argument in command.arguments:
        found = _FILE.fullmatch(argument.text)
        if found is not None:
            yield found[1], current
        elif _KEYWORD.fullmatch(argument.text) and not argument.quoted:
            named = of_name(argument.text)
            current = inner if named is UNKNOWN else inner.and_(named)


def _is_for_hip(command: Command) -> bool:
    words = [argument.text for argument in command.arguments]
    named = command.name == "set_source_files_properties" and "LANGUAGE" in words
    return named and words[words.index("LANGUAGE") + 1 :][:1] == ["HIP"]


def condition(text: str) -> Answer:
    """What a condition comes to; `text` with the brackets around it or without."""
    return _Condition(_TOKEN.findall(text)).read()


class _Condition:
    """A condition, by its precedence: NOT, AND, OR."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._place = 0

    def read(self) -> Answer:
        found = self._and()
        while self._next() == "OR":
            self._place += 1
            found = found.or_(self._and())
        return found

    def _and(self) -> Answer:
        found = self._not()
        while self._next() == "AND":
            self._place += 1
            found = found.and_(self._not())
        return found

    def _not(self) -> Answer:
        token = self._next()
        self._place += 1
        if token == "NOT":
            return self._not().inverted()
        if token == "(":
            found = self.read()
            self._place += self._next() == ")"
            return found
        if token in _TAKES_ONE:
            name = self._next()
            self._place += 1
            return of_name(name) if name and token == "DEFINED" else UNKNOWN
        operator = self._next()
        if _TAKES_TWO.fullmatch(operator):
            value = self._tokens[self._place + 1 : self._place + 2]
            self._place += 2
            return of_value(value[0]) if operator in _COMPARES and value else UNKNOWN
        return of_name(token.strip('"${}'))

    def _next(self) -> str:
        return self._tokens[self._place] if self._place < len(self._tokens) else ""
