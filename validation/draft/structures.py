"""Where the members of a class lie, those that are pointers too: its bases, template arguments and own types read."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from porter.validation.cases.case import ADDRESS
from porter.validation.draft.declarations import matching
from porter.validation.draft.expression import Unknown, split_arguments
from porter.validation.draft.generators import members_of
from porter.validation.draft.host import Host
from porter.validation.draft.torch import split_types
from porter.validation.draft.types import Element, bare, bytes_of, dtype_of, elements_of

_CLASS = re.compile(
    r"\b(?:struct|class)\s+(?:(?:__align__|alignas)\s*\((?P<align>[^()]*)\)\s*)?(?P<name>\w+)\s*(?:final\s*)?"
    r"(?::(?P<bases>[^{};()]*))?(?=\{)"
)
_NAMED_AFTER = r"\btypedef\s+struct\s*\w*\s*(?=\{)"
_SKIPPED = re.compile(r"\s*(?:using|typedef|static|friend|template|enum|extern)\b|\s*(?:struct|class|union)\s+\w+\s*$")
_NESTED = re.compile(r"\s*(?:typedef\s+)?(?:struct|class|union|enum)\b[^()=]*$")
_NAMELESS = re.compile(r"\s*(?:union|struct)\s*$")
_TO_THE_END = re.compile(r"\s*(\w*)[^;{}]*;")
_LABEL = re.compile(r"^\s*(?:public|private|protected)\s*:(?!:)")
_ATTRIBUTES = re.compile(
    r"__attribute__\s*\(\(.*?\)\)|\[\[.*?\]\]|\b(?:mutable|volatile|const|typename|__restrict__|__restrict|RESTRICT)\b"
)
_DECLARATOR = re.compile(r"(?P<stars>(?:[*&]\s*)*)(?P<name>\w+)\s*(?P<sides>(?:\[[^\]]*\]\s*)*)")
_FIRST = re.compile(
    r"(?P<kind>(?:(?:unsigned|signed|long|short|struct|class) )*(?:::)?\w+(?:::\w+)* ?(?:<[^;]*>(?:::\w+)*)?"
    r"(?: (?:int|long|char))*) ?(?P<rest>[*& ] ?\w.*|[*&].*)"
)
_OF_THE_LIBRARY = re.compile(r"(?:thrust::|cuda::\s*)?(pair|array)\s*<(.*)>")
_DEEPEST = 6
_MOST = 192


@dataclass(frozen=True)
class Part:
    """One member, or so many of a type one after the other."""

    name: str
    at: int
    element: Element | None
    """None: it is a pointer."""
    count: int = 1
    pointed: str = ""
    """What a pointer points to, as written."""
    words: tuple[str, ...] = ()
    """What code calls it by, where that is known."""
    is_enumeration: bool = False


@dataclass(frozen=True)
class Structure:
    """A class in memory."""

    parts: tuple[Part, ...]
    size: int
    align: int

    @property
    def has_pointers(self) -> bool:
        """Whether a member is one."""
        return any(part.element is None for part in self.parts)

    @property
    def plain(self) -> Part | None:
        """What it is where it is no class: a number, or a pointer, behind a typedef."""
        return self.parts[0] if len(self.parts) == 1 and not self.parts[0].name else None


def structure(host: Host, kind: str, template: Mapping[str, str]) -> Structure | None:
    """The members of a class by its name as written, else as clang lays it out; None for one that is not plain."""
    return (
        _generator(_replaced(kind, template))
        or _of_the_library(host, _replaced(kind, template))
        or _by_text(host, kind, template)
        or _by_clang(host, _replaced(kind, template))
    )


def _generator(kind: str) -> Structure | None:
    """The state of one of cuRAND's generators, whose header need not be here."""
    made = members_of(bare(kind))
    if made is None:
        return None
    parts = tuple(Part(*one) for one in made[1])
    return Structure(parts, made[0], 16 if any(part.count == 4 for part in parts) else 8)  # uint4


def _of_the_library(host: Host, kind: str) -> Structure | None:
    """`std::pair` of two numbers, or `std::array` of some, whose headers the text does not have."""
    parts = _OF_THE_LIBRARY.fullmatch(bare(kind)) if "*" not in kind else None
    given = split_types(parts[2]) if parts else []
    if parts is None or len(given) != 2 or re.search(rf"\b(?:struct|class)\s+{parts[1]}\b", host.text):
        return None
    first = elements_of(host, given[0])
    if first is None:
        return None
    if parts[1] == "array":
        count = re.fullmatch(r"\d+", given[1])
        made = (Part("elements", 0, first, int(given[1])),) if count else ()
        return Structure(made, first.size * int(given[1]), bytes_of(first.dtype)) if made else None
    second = elements_of(host, given[1])
    if second is None:
        return None
    align = max(bytes_of(first.dtype), bytes_of(second.dtype))
    at = -(-first.size // bytes_of(second.dtype)) * bytes_of(second.dtype)
    whole = -(-(at + second.size) // align) * align
    return Structure((Part("first", 0, first), Part("second", at, second)), whole, align)


def _by_clang(host: Host, kind: str) -> Structure | None:
    made = host.ask(bare(kind)) if host.ask is not None else None
    if made is None or len(made.fields) > _MOST:
        return None
    parts: list[Part] = []
    for field in made.fields:
        dtype = dtype_of(field.kind) if field.kind else None
        if field.kind and dtype is None:
            return None
        element = Element(dtype) if dtype else None
        parts.append(Part(field.name, field.at, element, field.count, field.pointed, field.words, field.is_enumeration))
    return Structure(tuple(parts), made.size, made.align)


def _by_text(host: Host, kind: str, template: Mapping[str, str], depth: int = 0) -> Structure | None:
    words = bare(host.plain_type(_replaced(kind, template)))
    called = re.fullmatch(r"(?:\w+::)*(\w+)\s*(?:<(.*)>)?", words, re.DOTALL)
    found = _found(host.text, called[1]) if called and depth < _DEEPEST else None
    if called is None or found is None:
        return None
    body, bases, parameters, align = found
    given = dict(zip(parameters, split_types(called[2] or ""), strict=False))
    own = given | _own_types(body, given)
    parts: list[Part] = []
    end, widest = 0, align
    for base in bases:
        inner = _by_text(host, base, own, depth + 1) or _by_clang(host, _replaced(base, own))
        if inner is None:
            if re.search(rf"\b(?:struct|class)\s+{re.sub(r'<.*', '', base)}\b[^;{{]*\{{\s*\}}", host.text):
                continue
            return None
        start = -(-end // inner.align) * inner.align
        parts += [_moved(part, "", start) for part in inner.parts]
        end, widest = start + inner.size, max(widest, inner.align)
    for statement in _statements(body):
        members = _members(host, statement, own, depth) if statement is not None else None
        if members is None:
            return None
        for made in members:
            start = -(-end // made.align) * made.align
            parts += [_moved(part, "", start) for part in made.parts]
            end, widest = start + made.size, max(widest, made.align)
    if not parts or len(parts) > _MOST:
        return None
    return Structure(tuple(parts), -(-end // widest) * widest, widest)


def is_mentioned(part: Part, body: str) -> bool:
    """Whether a text has a member's name; one whose name is not known may be anywhere."""
    return not part.words or any(re.search(rf"\b{re.escape(word)}\b", body) for word in part.words)


def _moved(part: Part, before: str, by: int) -> Part:
    return replace(part, name=before + part.name, at=part.at + by)


def _replaced(text: str, template: Mapping[str, str]) -> str:
    return re.sub(r"(?<![\w:])\w+", lambda match: template.get(match[0], match[0]), text)


def _found(text: str, name: str) -> tuple[str, tuple[str, ...], tuple[str, ...], int] | None:
    """Body, bases, template parameters and alignment of a class."""
    classes, named_after = _classes(text)
    for match in classes.get(name, ()):
        end = matching(text, match.end())
        if end is None:
            continue
        named = split_types(match["bases"] or "")
        if any("virtual" in base for base in named):
            return None
        bases = tuple(re.sub(r"\b(?:public|private|protected)\b", "", base).strip() for base in named)
        align = (match["align"] or "1").strip()
        parameters = _parameters(text[: match.start()])
        return text[match.end() + 1 : end - 1], bases, parameters, int(align) if align.isdigit() else 1
    if name in named_after:
        start, end = named_after[name]
        return text[start + 1 : end - 1], (), (), 1
    return None


@functools.lru_cache(maxsize=2)
def _classes(text: str) -> tuple[dict[str, list[re.Match[str]]], dict[str, tuple[int, int]]]:
    """The classes of a text by their names, and the places of those that a typedef names."""
    classes: dict[str, list[re.Match[str]]] = {}
    for match in _CLASS.finditer(text):
        classes.setdefault(match["name"], []).append(match)
    named_after: dict[str, tuple[int, int]] = {}
    for match in re.finditer(_NAMED_AFTER, text):
        end = matching(text, match.end())
        name = re.match(r"\s*(\w+)\s*[,;]", text[end : end + 80]) if end is not None else None
        if end is not None and name is not None:
            named_after.setdefault(name[1], (match.end(), end))
    return classes, named_after


def _parameters(before: str) -> tuple[str, ...]:
    """The names of the template parameters that a text ends with."""
    if not before.rstrip().endswith(">"):
        return ()
    start = before.rfind("template")
    inside = re.fullmatch(r"template\s*<(.*)>\s*", before[start:], re.DOTALL) if start >= 0 else None
    parts = split_types(inside[1]) if inside else []
    words = [re.findall(r"\w+", part.partition("=")[0]) for part in parts]
    return tuple(word[-1] for word in words if word)


def _own_types(body: str, given: Mapping[str, str]) -> dict[str, str]:
    """What `typedef` and `using` of a class stand for."""
    found: dict[str, str] = {}
    for kind, name in re.findall(r"\btypedef\s+([\w:<>, ]+?)\s+(\w+)\s*;", body):
        found[name] = kind
    found |= dict(re.findall(r"\busing\s+(\w+)\s*=\s*([\w:<>, *]+?(?:\[[^;]*\])?)\s*;", body))
    return {name: _replaced(kind, given) for name, kind in found.items()}


def _statements(body: str) -> Iterator[str | None]:
    """The declarations of members; None for what no plain class has."""
    body = re.sub(r"(?<=\w)\s*\{[^(){};]*\}(?=\s*[,;])", "", body)  # int n{4};
    place = 0
    while place < len(body):
        stop = re.compile(r"[;{]").search(body, place)
        if stop is None:
            return
        text = body[place : stop.start()]
        while (label := _LABEL.match(text)) is not None:
            text = text[label.end() :]
        place = stop.end()
        if re.search(r"\bvirtual\b", text):
            yield None
        if stop[0] == "{":
            end = matching(body, stop.start())
            if end is None:
                yield None
                return
            place = end
            after = _TO_THE_END.match(body, end)
            if _NESTED.match(text):
                if (after is None or after[1] or _NAMELESS.match(text)) and not text.strip().startswith("typedef"):
                    yield None
                place = after.end() if after else end
                continue
            if "(" in text:
                while body[place:].lstrip()[:1] in (",", "{"):  # pos{}, vel{} {}
                    follow = body.find("{", place)
                    place = (matching(body, follow) or len(body)) if follow >= 0 else len(body)
                continue
            place = after.end() if after else end
        if text.strip() and not _SKIPPED.match(text):
            yield text


def _members(host: Host, statement: str, own: Mapping[str, str], depth: int) -> list[Structure] | None:
    """The members that a declaration makes, each from its own start; None for a type that is not known."""
    text = " ".join(_ATTRIBUTES.sub(" ", statement).split())
    if re.search(r"\boperator\b", text):
        return []
    if "(" in text.partition("=")[0]:
        return None if re.search(r"\(\s*\*|alignas|__align__", text) else []
    text = re.sub(r"=[^,]*(?=,|$)", "", text)
    first = _FIRST.fullmatch(" ".join(text.split()))
    if first is None:
        return None
    made: list[Structure] = []
    for part in split_arguments(first["rest"]):
        declared = _DECLARATOR.fullmatch(part.strip())
        count = _count(host, declared["sides"], own) if declared else None
        if declared is None or count is None:
            return None
        kind = "const " * bool(re.match(r"\s*(?:const\b|\w+\s+const\s*\*)", statement)) + first["kind"]
        whole = _one(host, kind, declared, count, own, depth)
        if whole is None:
            return None
        made.append(whole)
    return made


def _one(
    host: Host, kind: str, declared: re.Match[str], count: int, own: Mapping[str, str], depth: int
) -> Structure | None:
    name = declared["name"]
    resolved, bracket, sides = _replaced(kind, own).partition("[")
    more = _count(host, bracket + sides, own)
    if more is None:
        return None
    count *= more
    stars = len(re.findall(r"[*&]", declared["stars"])) + resolved.count("*")
    if stars:
        pointed = resolved.replace("*", "").strip() + "*" * (stars - 1)
        names = [name] if count == 1 else [f"{name}_{i}" for i in range(count)]
        return Structure(tuple(Part(n, 8 * i, None, 1, pointed) for i, n in enumerate(names)), 8 * count, 8)
    element = Element("uint32", 3) if bare(resolved) in ("dim3", "uint3") else None
    inner = None if element else _generator(resolved) or _by_text(host, resolved, own, depth + 1)
    if inner is not None:
        parts = [
            _moved(p, f"{name}_" if count == 1 else f"{name}_{i}_", i * inner.size)
            for i in range(count)
            for p in inner.parts
        ]
        return Structure(tuple(parts), inner.size * count, inner.align)
    element = element or elements_of(host, resolved)
    if element is None:
        return None
    align = element.size if element.lanes in (1, 2, 4) else bytes_of(element.dtype)
    part = Part(name, 0, element, count, is_enumeration=host.is_enumeration(bare(resolved)))
    return Structure((part,), element.size * count, min(16, align))


def _count(host: Host, sides: str, own: Mapping[str, str]) -> int | None:
    count = 1
    for side in re.findall(r"\[([^\]]*)\]", sides):
        try:
            value = host.value(_replaced(side, own), len(host.text)).number
        except Unknown:
            return None
        if value is None or not 0 < value <= 1 << 12:
            return None
        count *= int(value)
    return count


def record_of(made: Structure) -> str | None:
    """The type of case files that a structure without pointers is."""
    return None if made.has_pointers else record_with(made, ())


def record_with(made: Structure, null: Collection[str]) -> str:
    """The type of case files that a structure is; pointers of these names are no members, which leaves them null."""
    parts: list[str] = []
    for part in made.parts:
        if part.element is None:
            parts += [] if part.name in null else [f"{ADDRESS} {part.name} @{part.at}"]
            continue
        count = part.element.lanes * part.count
        parts.append(f"{part.element.dtype}{f'*{count}' if count > 1 else ''} {part.name} @{part.at}")
    return f"({', '.join(parts)} /{made.size})"


def elements_behind(host: Host, kind: str, template: Mapping[str, str]) -> Element | str | None:
    """The elements of an array of classes without pointers: of one type, or a structure of case files."""
    made = structure(host, kind, template)
    record = record_of(made) if made else None
    if made is None or record is None:
        return None
    (first, *rest) = [part.element for part in made.parts if part.element is not None]
    lanes = sum(part.element.lanes * part.count for part in made.parts if part.element is not None)
    if all(one.dtype == first.dtype for one in rest) and lanes * bytes_of(first.dtype) == made.size:
        return Element(first.dtype, lanes)
    return record
