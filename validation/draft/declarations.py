"""What a text declares: functions, macros, types and structures, read without a compiler."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from porter.validation.draft.expression import Unknown, split_arguments
from porter.validation.draft.torch import split_types

from porter.cpp.constants import number as integer

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|(\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+')", re.DOTALL)
_FUNCTION = re.compile(r"([A-Za-z_]\w*)\s*\(([^;{}]*)\)\s*(?:const\s*)?(?:noexcept\s*)?\{")
_NO_FUNCTIONS = frozenset({"if", "for", "while", "switch", "catch", "return", "defined", "__launch_bounds__"})
_SIZES = {
    "float": 4, "double": 8, "int": 4, "unsigned": 4, "unsigned int": 4, "char": 1, "unsigned char": 1, "bool": 1,
    "signed char": 1, "short": 2, "unsigned short": 2, "long": 8, "unsigned long": 8, "long long": 8, "uint": 4,
    "unsigned long long": 8, "long long int": 8, "unsigned long long int": 8, "long int": 8, "short int": 2,
    "size_t": 8, "ssize_t": 8, "ptrdiff_t": 8, "half": 2, "__half": 2, "half2": 4, "__half2": 4, "uchar": 1,
    "__nv_bfloat16": 2, "nv_bfloat16": 2, "__nv_bfloat162": 4, "ushort": 2, "ulong": 8, "intptr_t": 8,
    "uintptr_t": 8, "uint_fast32_t": 8,
    **{f"{sign}int{bits}_t": bits // 8 for sign in ("", "u") for bits in (8, 16, 32, 64)},
    **{f"{kind}{lanes}": size * (4 if lanes == 3 and size == 0 else lanes)
       for kind, size in (("float", 4), ("double", 8), ("int", 4), ("uint", 4), ("char", 1), ("uchar", 1),
                          ("short", 2), ("ushort", 2), ("longlong", 8), ("ulonglong", 8)) for lanes in (1, 2, 3, 4)},
}  # fmt: skip
_DEEPEST = 6
_WORDS = re.compile(r"\b(?:const|constexpr|static|struct|std::|volatile|typename|inline|extern)\b\s*|std::|&")


@dataclass(frozen=True)
class Function:
    """A function of the host: [start, end) is its body."""

    name: str
    parameters: tuple[tuple[str, str], ...]
    """Type and name."""
    head: int
    start: int
    end: int
    template: tuple[str, ...] = ()
    """Names of its template parameters."""


@dataclass(frozen=True)
class Member:
    """One member of a structure; those of structures in it stand in their place."""

    kind: str
    count: int
    name: str
    offset: int


@dataclass(frozen=True)
class Layout:
    """A plain structure in memory."""

    members: tuple[Member, ...]
    size: int
    align: int


_WITH_BODY = re.compile(
    r"\b(?:struct|class)\s+(?:(?:__align__|alignas)\s*\([^)]*\)\s*)?(\w+)\s*(?:final\s*)?(?::[^;{}()]*)?\{"
    r"|\}\s*(\w+)\s*;"
)


@dataclass
class Declarations:
    """A flat text, comments blanked."""

    text: str

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        """Every function with a body, in order."""
        found: list[Function] = []
        for match in _FUNCTION.finditer(self.text):
            if match[1] in _NO_FUNCTIONS:
                continue
            opening = _opening(self.text, match.start(1) + len(match[1]))
            start = match.end() - 1
            end = matching(self.text, start)
            if opening is None or end is None:
                continue
            parameters = tuple(
                _parameter(part) for part in split_arguments(self.text[opening + 1 : start].rpartition(")")[0])
            )
            template = _template_names(self.text[max(0, match.start() - 400) : match.start()])
            found.append(Function(match[1], parameters, match.start(), start, end, template))
        return tuple(found)

    @cached_property
    def macros(self) -> dict[str, tuple[tuple[str, ...] | None, str]]:
        """Parameters (None: there are none) and body of each macro."""
        found: dict[str, tuple[tuple[str, ...] | None, str]] = {}
        joined = self.text.replace("\\\n", "  ")
        for match in re.finditer(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(\(([^)]*)\))?[ \t]*([^\n]*)$", joined, re.MULTILINE):
            body = match[4].strip()
            if match[2] is not None:
                found[match[1]] = tuple(part.strip() for part in match[3].split(",")), body
            elif body and not (match[1] in found and re.search(rf"ifndef\s+{match[1]}\b", joined)):
                found[match[1]] = None, body
        return found

    @cached_property
    def types(self) -> dict[str, str]:
        """What `typedef` and `using` stand for."""
        found: dict[str, str] = {}
        chosen: set[str] = set()
        for match in re.finditer(r"\btypedef\s+([\w:<> ]+?)\s+(\w+)\s*;", self.text):
            kind, name = match[1], match[2]
            if name in chosen or (name in found and kind == "long double"):
                continue
            found[name] = kind
            if self._is_asked_for(match.start()):
                chosen.add(name)
        return found | dict(re.findall(r"\busing\s+(\w+)\s*=\s*([\w:<> ]+?)\s*;", self.text))

    def _is_asked_for(self, place: int) -> bool:
        """Whether the condition right above a place is a macro that something defines."""
        above = _CONDITION.findall(self.text, max(0, place - _LONGEST), place)
        words = re.findall(r"\w+", above[-1][1]) if above and above[-1][0] in ("if", "ifdef", "elif") else []
        named = [word for word in words if word != "defined"]
        return (
            len(named) == 1
            and re.search(rf"^[ \t]*#[ \t]*define[ \t]+{named[0]}\b", self.text, re.MULTILINE) is not None
        )

    def function_at(self, position: int) -> Function | None:
        """The innermost function around a place."""
        around = [f for f in self.functions if f.start < position < f.end]
        return around[-1] if around else None

    def plain_type(self, kind: str, depth: int = 0) -> str:
        """A type without qualifiers, typedefs and macros."""
        words = " ".join(_WORDS.sub(" ", kind).split())
        if depth < 6 and words not in _SIZES:
            if self.types.get(words, words) != words:
                return self.plain_type(self.types[words], depth + 1)
            short = words.rpartition("::")[2]
            if short != words and not words.startswith("std::") and self.types.get(short, short) != short:
                return self.plain_type(self.types[short], depth + 1)
            if words in self.macros and self.macros[words][0] is None:
                return self.plain_type(self.macros[words][1], depth + 1)
        return words

    def names_a_type(self, kind: str) -> bool:
        """Whether words are a type that is known."""
        words = " ".join(_WORDS.sub(" ", kind).split())
        return words in _SIZES or words in self.types or words in ("long double", "signed", "long unsigned int")

    def is_enumeration(self, name: str) -> bool:
        """Whether a type is an `enum` of the text."""
        last = name.rpartition("::")[2]
        if last not in self._enumerations:
            word = re.escape(last)
            made = rf"\benum\s+(?:class\s+)?{word}\b|\btypedef\s+enum\b[^;{{}}]*\{{[^{{}}]*\}}\s*{word}\s*;"
            self._enumerations[last] = last in self._words and re.search(made, self.text) is not None
        return self._enumerations[last]

    @cached_property
    def _enumerations(self) -> dict[str, bool]:
        """Those that were asked for."""
        return {}

    def has_class(self, name: str) -> bool:
        """Whether the text has a class of that name, with its body."""
        return name in self._class_names

    @cached_property
    def _class_names(self) -> frozenset[str]:
        """Of the classes with a body, and of what stands after one."""
        return frozenset(one or other for one, other in _WITH_BODY.findall(self.text))

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(re.findall(r"\w+", self.text))

    def size_of(self, kind: str, position: int, depth: int = 0) -> int:
        """Bytes of a type or a variable; raises Unknown."""
        plain = self.plain_type(kind)
        if "*" in plain:
            return 8
        if plain in _SIZES:
            return _SIZES[plain]
        record = self.record(plain)
        if record is not None:
            return record[1]
        here = self.function_at(position)
        told = self.template_argument(here, plain) if here is not None and plain in here.template else None
        if told is not None and depth < 4:
            return self.size_of(told[0], told[1], depth + 1)
        declared = self.declared_type(plain, position)
        if declared is not None and declared != kind and depth < 4:
            return self.size_of(declared, position, depth + 1)
        raise Unknown(f"sizeof({kind})")

    def record(self, name: str) -> tuple[tuple[tuple[str, int, str], ...], int] | None:
        """Types, counts and names of the members of a plain structure, and its size; None when it is none."""
        found = self.layout(name)
        return None if found is None else (tuple((m.kind, m.count, m.name) for m in found.members), found.size)

    def layout(self, name: str, depth: int = 0) -> Layout | None:
        """The members of a plain structure at their places; None when it is none."""
        body = self._members(name)
        if body is None or "(" in body or "*" in body or depth > _DEEPEST:
            return None
        members: list[Member] = []
        end, widest = 0, 1
        for line in re.sub(r"\b(?:public|private)\s*:|\s*=[^,;{}()]*(?=[,;])", "", body).split(";"):
            found = re.fullmatch(r"\s*((?:[\w:]+\s+)+)([\w\s,\[\]]+)", line)
            if not line.strip():
                continue
            if found is None:
                return None
            kind = self.plain_type(found[1])
            inner = self.layout(kind, depth + 1) if kind not in _SIZES and kind != name else None
            if kind not in _SIZES and inner is None:
                return None
            unit, align = (inner.size, inner.align) if inner is not None else (_SIZES[kind], _alignment(kind))
            for part in split_arguments(found[2]):
                sizes = re.findall(r"\[\s*(\w+)\s*\]", part)
                counts = [self._count(size) for size in sizes]
                if None in counts:
                    return None
                total = 1
                for count in counts:
                    total *= count or 1
                start, word = -(-end // align) * align, re.split(r"[\s\[]", part.strip())[0]
                end, widest = start + unit * total, max(widest, align)
                if inner is None:
                    members.append(Member(kind, total, word, start))
                    continue
                for place in range(total):
                    at = start + place * unit
                    members += [Member(m.kind, m.count, m.name, at + m.offset) for m in inner.members]
        return Layout(tuple(members), -(-end // widest) * widest, widest) if members else None

    def _members(self, name: str) -> str | None:
        """The inside of a structure without its functions."""
        if name.rpartition("::")[2] not in self._class_names:
            return None
        word = re.escape(name.rpartition("::")[2])
        aligned = r"(?:__align__\s*\([^)]*\)\s*|alignas\s*\([^)]*\)\s*)?"
        match = re.search(rf"\b(?:struct|class)\s+{aligned}{word}\s*(?=\{{)", self.text)
        end = matching(self.text, match.end()) if match else None
        if match is None or end is None:
            short = re.search(rf"\btypedef\s+struct\s*\w*\s*\{{([^{{}}]*)\}}\s*{word}\s*;", self.text)
            return short[1] if short else None
        inside = self.text[match.end() + 1 : end - 1]
        while (function := re.search(r"[\w~:&*\s]+\([^()]*\)\s*(?:const\s*)?(?::[^;]*?)?\{", inside)) is not None:
            last = matching(inside, function.end() - 1)
            if last is None:
                return None
            while function[0].count(":") and inside[last:].lstrip()[:1] in (",", "{"):  # pos{}, vel{} {}
                follow = inside.find("{", last)
                last = matching(inside, follow) or len(inside)
            inside = inside[: function.start()] + ";" + inside[last:]
        return inside

    def _count(self, text: str, depth: int = 0) -> int | None:
        """A number, or a constant that is one."""
        if (known := integer(text)) is not None:
            return known
        macro = self.macros.get(text)
        if macro is not None and depth < 6:
            return self._count(macro[1].strip("() "), depth + 1) if macro[0] is None else None
        constant = re.search(rf"\bconst(?:expr)?\s+(?:\w+\s+)+{re.escape(text)}\s*=\s*(\d+)\s*;", self.text)
        return int(constant[1]) if constant else None

    def _declared_before(self, place: int) -> str | None:
        """The type in front of a name, where its statement or parameter is a declaration."""
        begin = max(self.text.rfind(mark, max(0, place - _LONGEST), place) for mark in ";{}(") + 1
        for start in (begin, max(begin, self.text.rfind(",", begin, place) + 1)):
            match = _DECLARED.fullmatch(self.text, start, place)
            if match is not None and match[2] and match[2][-1] in " \n\t*&,":
                first = match[1].split()[-1]
                if first not in _NO_TYPES and "=" not in match[2].rpartition(",")[2]:
                    return match[1] + "*" * _stars_at_end(match[2])
        return None

    def declared_type(self, name: str, position: int) -> str | None:
        """The type that a variable is declared with, a `*` for each pointer."""
        word = re.escape(name)
        here = self.function_at(position)
        for kind, other in here.parameters if here else ():
            if other == name:
                return kind
        low = here.start if here else 0
        uses = list(re.finditer(rf"(?<![\w.>]){word}\s*(?=[=;,\[({{)])", self.text))
        before = [use for use in uses if low <= use.start() < position]
        for use in (*reversed(before), *reversed(uses)):
            found = self._declared_before(use.start())
            if found is not None:
                return found
        return None

    def template_argument(self, function: Function, name: str) -> tuple[str, int] | None:
        """What the first caller that says so gives for a template parameter of a function, and where."""
        place = function.template.index(name)
        for match in re.finditer(rf"(?<![\w.>]){function.name}\s*<([^;{{}}()]*)>\s*\(", self.text):
            parts = split_types(match[1])
            if place < len(parts):
                return parts[place], match.start()
        return None

    def calls(self, function: Function) -> list[tuple[int, tuple[str, ...]]]:
        """Where a function is called from another one, and with what."""
        found: list[tuple[int, tuple[str, ...]]] = []
        for match in re.finditer(rf"(?<![\w.>]){function.name}\s*(?:<[^;{{}}()]*>)?\s*\(", self.text):
            here = self.function_at(match.start())
            end = matching(self.text, match.end() - 1)
            if here is None or here == function or end is None:
                continue
            found.append((match.start(), split_arguments(self.text[match.end() : end - 1])))
        return found


_DECLARED = re.compile(
    r"\s*((?:(?:const|static|unsigned|signed|long|struct|volatile)\s+|std::)*[A-Za-z_][\w:]*(?:<[^;{}()]*>)?)([\s*&][^;{}()]*|[*&])?"
)
_CONDITION = re.compile(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b([^\n]*)$", re.MULTILINE)
_LONGEST = 400
_NO_TYPES = frozenset({"return", "delete", "else", "new", "case", "goto", "throw"})


def _stars_at_end(text: str) -> int:
    plain = text.replace(" ", "")
    return len(plain) - len(plain.rstrip("*"))


def without_comments(text: str) -> str:
    """The same text with comments blanked: every place stays where it is."""
    return _COMMENT.sub(lambda m: m[0] if m[1] else re.sub(r"[^\n]", " ", m[0]), text)


def matching(text: str, opening: int) -> int | None:
    """After the bracket that closes the one at a place."""
    pairs = {"(": ")", "{": "}", "[": "]"}
    first, last = text[opening], pairs[text[opening]]
    depth = 0
    for match in re.finditer(rf"[{re.escape(first + last)}]|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'", text[opening:]):
        depth += (match[0] == first) - (match[0] == last)
        if depth == 0:
            return opening + match.end()
    return None


def _template_names(before: str) -> tuple[str, ...]:
    """The parameters of the `template <...>` at the end of a text."""
    head = re.search(r"template\s*<([^;{}]*)>[^;{}<>]*$", before)
    words = [re.findall(r"\w+", part.partition("=")[0]) for part in split_types(head[1])] if head else []
    return tuple(word[-1] for word in words if word)


def _opening(text: str, position: int) -> int | None:
    found = text.find("(", position)
    return found if found >= 0 else None


def _parameter(text: str) -> tuple[str, str]:
    """Type and name of a parameter as written."""
    plain = text.partition("=")[0].strip()
    match = re.fullmatch(r"(.*?)(\w+)\s*((?:\[[^\]]*\]\s*)*)", plain, re.DOTALL)
    if match is None:
        return plain, ""
    return " ".join(match[1].split()) + ("*" if match[3] else ""), match[2]


def _alignment(kind: str) -> int:
    """Of a plain type or a vector: three values are aligned like one."""
    unit = _SIZES[kind]
    return min(16, unit // 3 if kind[-1:] == "3" else unit)
