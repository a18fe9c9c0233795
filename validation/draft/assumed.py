"""Template arguments that nothing tells: what many kernels take, or a class of the text that fits."""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from porter.validation.draft.blocks import ASSUMED_BLOCK
from porter.validation.draft.declarations import matching
from porter.validation.draft.expression import split_arguments
from porter.validation.draft.host import Host
from porter.validation.draft.torch import split_types
from porter.validation.draft.types import bare

from porter.cpp.lex import lex
from porter.cpp.scopes import find_scopes, qualify
from porter.model import Kernel

ASSUMED_SIDE = 16
"""Where it has two dimensions: a side."""
FUNCTORS = {1: "thrust::negate<float>", 2: "thrust::plus<float>"}
"""By how many arguments a kernel calls them with."""
_BLOCK_SIZE = re.compile(r"block|thread|tpb|bdim|cta", re.IGNORECASE)
_WARP_SIZE = re.compile(r"warp", re.IGNORECASE)
_INTEGER = re.compile(r"(?:(?:const|unsigned|signed|long|int|short|size_t|std|u?int\d+_t|uint)\s?)+")
_NOT_A_TYPE = re.compile(r"op|func|func?tor|pred", re.IGNORECASE)
_PLAIN_TYPE = re.compile(r"T\d?|[A-Z]|\w*(?:scalar|real|float|data|value|elem|type|_t)\w*|T[A-Z]\w*", re.IGNORECASE)
_ITERATOR = re.compile(r"(?:[a-z_]It|Iter|Iterator|[Pp]tr|Pointer)(?:T|_t|Type)?\d?$")
"""Template parameters for what is passed in place of a pointer."""
_CLASS = re.compile(
    r"\b(?:struct|class)\s+(?:(?:__align__|alignas)\s*\([^()]*\)\s*)?(\w+)\s*(?:final\s*)?(?::([^{};()]*))?(?=\{)"
)
_MACRO = re.compile(r"[A-Z][A-Z0-9_]*_(?:T|TYPE)")
_WHOLE_NUMBERS = r"\b(?:make_(?:un)?signed(?:_t)?|is_(?:integral|unsigned)(?:_v)?)\s*<\s*(?:typename\s+)?{name}\s*>"
"""Traits that only integers have."""
_DEEPEST = 3
Known = Callable[[str], str | None]
"""The value of a template argument as written, where it is a type or number that is known."""


def last_word(text: str) -> str:
    """`int N = 4` is about `N`."""
    words = re.findall(r"\w+", text.partition("=")[0])
    return words[-1] if words else text


def assumed(parameter: str, kernel: Kernel, host: Host, text: str, known: Known) -> str | None:
    """An argument for a template parameter of a kernel with this text: empty for a pack; nothing for templates."""
    name = last_word(parameter)
    written = parameter.partition("=")[0]
    if "..." in parameter:
        return "" if last_word(parameter) == last_word(kernel.template_parameters[-1]) else None
    if "<" in written:
        return None
    kind = " ".join(written.split()[:-1])
    if kind in ("typename", "class") or _is_concept(host, kind):
        asked = frozenset(re.findall(rf"(?<![\w:.]){name}\s*::\s*(?:template\s+)?(\w+)", text))
        asked |= _methods(name, kernel, text)
        called = _called_with(name, kernel, text)
        if asked or called:
            return _class_for(name, asked, called, kernel, host, known) or FUNCTORS.get(called if not asked else 0)
        if re.search(_WHOLE_NUMBERS.format(name=name), text) or not re.search(rf"\b{name}\b", text.partition("(")[2]):
            return "int"  # the second: nothing uses it
        return _type(name, kernel, is_plain=kind not in ("typename", "class"))
    if kind == "bool":
        return "true"
    if _INTEGER.fullmatch(kind):
        block = ASSUMED_SIDE if re.search(r"\bthreadIdx\s*\.\s*y\b", text) else ASSUMED_BLOCK
        is_block = _BLOCK_SIZE.search(name) or re.search(rf"\bblockIdx\s*\.\s*x\s*\*\s*{name}\b", text)
        return str(block) if is_block else "32" if _WARP_SIZE.search(name) else "4"
    return _enumerator(host, kind)


def _is_concept(host: Host, kind: str) -> bool:
    word = re.escape(kind.rpartition("::")[2])
    return bool(word) and re.search(rf"\bconcept\s+{word}\s*=", host.text) is not None


def _type(name: str, kernel: Kernel, *, is_plain: bool) -> str | None:
    if _ITERATOR.search(name) and any(bare(one.type) == name and "*" not in one.type for one in kernel.parameters):
        return "float*"
    if re.search(r"index|idx|int|offset|size|key|count", name, re.IGNORECASE):
        return "int"
    if is_plain or any(bare(one.type) == name and "*" in one.type for one in kernel.parameters):
        return "float"
    return "float" if _PLAIN_TYPE.fullmatch(name) and not _NOT_A_TYPE.search(name) else None


def _enumerator(host: Host, kind: str) -> str | None:
    """The first value of an enumeration, as a number of its type."""
    word = re.escape(kind.rpartition("::")[2])
    made = (
        re.search(rf"\benum\s+(?:class\s+|struct\s+)?({word})\b[^;{{}}]*\{{([^{{}}]*)\}}", host.text) if word else None
    )
    if made is None:
        return None
    given = (split_arguments(made[2]) or ("",))[0].partition("=")[2].strip()
    number = given if re.fullmatch(r"-?\d+", given) else "0"
    return f"({_qualified(host, made.start(1))}){number}"


def _methods(name: str, kernel: Kernel, text: str) -> frozenset[str]:
    """The functions of objects of a type that the kernel calls: `payoff.value(x)` of a parameter or a variable."""
    objects = {one.name for one in kernel.parameters if bare(one.type) == name and "*" not in one.type and one.name}
    objects |= set(re.findall(rf"(?<![\w:<,]){name}\s+(\w+)\s*[;({{=]", text.partition("{")[2]))
    words = "|".join(map(re.escape, sorted(objects)))
    return frozenset(
        re.findall(rf"(?<![\w.>])(?:{words})\s*\.\s*(?:template\s+)?([A-Za-z_]\w*)\s*\(", text) if words else ()
    )


def _called_with(name: str, kernel: Kernel, text: str) -> int:
    """How many arguments an object of a type is called with; 0: it is not."""
    objects = [one.name for one in kernel.parameters if bare(one.type) == name and one.name]
    for callee in (*objects, rf"{name}\s*(?:\(\s*\)|\{{\s*\}})"):
        for match in re.finditer(rf"(?<![\w.>:]){callee}\s*\(", text.partition("{")[2]):
            inside = text.partition("{")[2]
            end = matching(inside, match.end() - 1)
            if end is not None and (given := split_arguments(inside[match.end() : end - 1])):
                return sum(not one.rstrip().endswith("...") for one in given)
    return 0


@dataclass(frozen=True)
class _Class:
    """A class of the text: what it and its bases hold."""

    name: str
    place: int
    template: tuple[str, ...]
    body: str


def _class_for(
    name: str, asked: frozenset[str], called: int, kernel: Kernel, host: Host, known: Known, depth: int = 0
) -> str | None:
    """The class that has all the members that are asked for, best by its name, and its template arguments."""
    fitting = [one for one in _classes(host.text) if _fits(one, asked, called)]
    fitting.sort(
        key=lambda one: (
            one.name.lower() != name.lower(),
            name.lower() not in one.name.lower(),
            bool(one.template),
            len(one.body),
        )
    )
    for one in fitting:
        whole = _qualified(host, one.place)
        if not one.template:
            return whole
        arguments = _arguments(one, kernel, host, known) if depth < _DEEPEST else None
        if arguments is not None:
            return f"{whole}<{', '.join(arguments)}>"
    return None


def _fits(one: _Class, asked: frozenset[str], called: int) -> bool:
    if not all(re.search(rf"\b{word}\b", one.body) for word in asked):
        return False
    if asked:
        return True
    operators = re.findall(r"\boperator\s*\(\s*\)\s*\(([^()]*)\)", one.body)
    return any(len([part for part in split_arguments(given) if part]) == called for given in operators)


def _arguments(one: _Class, kernel: Kernel, host: Host, known: Known) -> tuple[str, ...] | None:
    """As somebody else writes them for the class; else assumed like a kernel's."""
    for match in re.finditer(rf"\b{one.name}\s*<([^;{{}}()<>]*)>", host.text):
        told = [known(part) for part in split_types(match[1])]
        if told and all(told) and not re.match(r"\s*\{", host.text[match.end() :]):
            return tuple(filter(None, told))
    wanted = [parameter for parameter in one.template if "=" not in parameter]
    made = [assumed(p, kernel, host, "", known) for p in wanted]
    return tuple(filter(None, made)) if all(made) else None


def _classes(text: str) -> Iterator[_Class]:
    """The classes of a text, those from which they inherit taken in."""
    bodies: dict[str, tuple[str, str]] = {}
    found = []
    for match in _CLASS.finditer(text):
        end = matching(text, match.end())
        if end is not None:
            bodies.setdefault(match[1], (text[match.end() : end], match[2] or ""))
            found.append(match)
    for match in found:
        parts, waiting = [], [match[1]]
        for _ in range(_DEEPEST + 1):
            parts += [bodies[word][0] for word in waiting]
            waiting = [word for base in waiting for word in re.findall(r"\w+", bodies[base][1]) if word in bodies]
        yield _Class(match[1], match.start(1), _template_of(text[: match.start()]), "\n".join(parts))


def _template_of(before: str) -> tuple[str, ...]:
    """The parameters of the template that a text ends with."""
    if not before.rstrip().endswith(">"):
        return ()
    start = before.rfind("template")
    inside = re.fullmatch(r"template\s*<(.*)>\s*", before[start:], re.DOTALL) if start >= 0 else None
    return tuple(split_types(inside[1])) if inside else ()


def _qualified(host: Host, place: int) -> str:
    """A name of the text with the namespaces and classes that it stands in."""
    tokens = lex(host.text)
    index = bisect.bisect_left(tokens.starts, place)
    name = tokens.texts[index]
    return qualify(find_scopes(tokens), index, name).replace("(anonymous namespace)::", "")


def define_types(host: Host, kernel: Kernel, told: Known) -> tuple[str, ...]:
    """Macros for types of a kernel that a run-time compiler is given, `IMAGE_T=float`; the host knows them.

    `told` is what the project's scripts give them.
    """
    own = {last_word(parameter) for parameter in kernel.template_parameters}
    found = dict.fromkeys(word for one in kernel.parameters for word in re.findall(r"\w+", one.type))
    unknown = [word for word in found if _MACRO.fullmatch(word) and word not in own and not _is_declared(host, word)]
    values = {word: told(word) or "float" for word in unknown}
    host.macros.update((word, (None, value)) for word, value in values.items())
    return tuple(f"{word}={value}" for word, value in values.items())


def _is_declared(host: Host, word: str) -> bool:
    made = rf"\b(?:struct|class|union|enum|enum\s+class)\s+{word}\b|\btypedef\b[^;]*\b{word}\s*;|\busing\s+{word}\b"
    made += rf"|\}}\s*{word}\s*[;,]"
    return word in host.macros or re.search(made, host.text) is not None


def member_type(host: Host, kind: str, template: Mapping[str, str]) -> str:
    """What `Policy::Key` is where a class of the text stands for `Policy`; else the words as they are."""
    parts = re.fullmatch(r"(\w+)::(\w+)", kind)
    whole = template.get(parts[1], "") if parts else ""
    called = re.fullmatch(r"(?:\w+::)*(\w+)\s*(?:<(.*)>)?", whole)
    if parts is None or called is None:
        return kind
    one = next((one for one in _classes(host.text) if one.name == called[1]), None)
    body = one.body if one else ""
    made = re.search(rf"\btypedef\s+([\w:<>, ]+?)\s+{parts[2]}\s*;|\busing\s+{parts[2]}\s*=\s*([^;]+?)\s*;", body)
    if one is None or made is None:
        return kind
    given = dict(zip(map(last_word, one.template), split_types(called[2] or ""), strict=False))
    words = bare(made[1] or made[2])
    return given.get(words, words)


def is_empty(host: Host, kind: str) -> bool:
    """Whether objects of a class hold nothing: a functor's, say."""
    if kind in FUNCTORS.values():
        return True
    name = re.sub(r"<.*", "", kind).rpartition("::")[2]
    found = next((one for one in _classes(host.text) if one.name == name), None)
    if found is None:
        return False
    inside = found.body
    while (function := re.search(r"[^;{}]*\([^()]*\)[^;{}()]*\{", inside)) is not None:
        end = matching(inside, function.end() - 1)
        if end is None:
            return False
        inside = inside[: function.start()] + ";" + inside[end:]
    left = re.sub(r"\b(?:public|private|protected)\s*:|[{}]", ";", inside).split(";")
    static = re.compile(r"\s*(?:static|using|typedef|friend|template|enum)\b|.*\(|\s*$", re.DOTALL)
    return all(static.match(line) for line in left)
