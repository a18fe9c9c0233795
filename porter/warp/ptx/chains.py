"""Carries that go from one inline assembly statement to the next: `add.cc` here, `addc` there, mostly by macros."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from porter.cpp.asm import Assembly, assemblies, string_macros
from porter.cpp.headers import headers_of, include_names
from porter.cpp.heads import Head, find_heads
from porter.cpp.kept_tokens import tokens_of
from porter.cpp.lex import Tokens
from porter.engine.support import FOLDER
from porter.engine.unit import Unit
from porter.source import SourceFile
from porter.warp.ptx.asm_macros import statements
from porter.warp.ptx.template import CARRY, carry_use, instructions

HINT = re.compile(r"\.cc\b|\b(?:addc|subc|madc)\.|" + CARRY)
"""Without it in a file or a header there is no carry to pass on."""
_WORDS = (".cc", "addc", "subc", "madc", CARRY)
"""One of them is in whatever `HINT` finds."""
_DEEPEST = 8
_MOST = 200

Use = tuple[bool, bool]
"""Whether a statement takes the carry of one before it, and whether it gives one."""


@dataclass(frozen=True, slots=True)
class Chain:
    """A device function whose statements pass a carry on."""

    head: Head
    closed: bool
    """Whether no carry comes into it or leaves it; what a chain gives last is nothing where no function takes one."""
    declared: bool


def chains(unit: Unit) -> tuple[Chain, ...]:
    """The functions of the file that do so, by statements of their own or by macros of the file and its headers."""
    found = unit.tokens.memo.get("carry chains")
    if found is None:
        found = unit.tokens.memo["carry chains"] = tuple(_chains(unit))
    return found  # type: ignore[return-value]


def continues(unit: Unit, assembly: Assembly) -> bool:
    """Whether a statement's carry may come from and go to others: it is a macro's, or its function keeps them all."""
    directive = unit.tokens.directive_of(assembly.place)
    if directive is not None:
        return directive.name == "define"
    start = assembly.span.start
    around = (one for one in chains(unit) if _spans(unit.tokens, one.head, start))
    return any(one.closed for one in around)


def strangers(unit: Unit) -> Iterator[tuple[SourceFile, str]]:
    """Headers with a function whose macros pass a carry on and stand in headers that it does not include itself.

    The file that includes both knows; where the header is ported alone, its function gets no variable.
    """
    headers = unit.program.headers
    sources = [one for one in (unit.source, *headers) if _may_carry(one)]
    macros = _macros(sources) if sources and unit.included_file is not None else {}
    for header in headers if macros else ():
        tokens = tokens_of(header)
        names = macros.keys() & tokens.names.keys()
        if not names or unit.included_file is None:
            continue
        seen = (header, *headers_of(header, include_names(header), unit.included_file, _MOST, f"{FOLDER}/"))
        names -= _macros([one for one in seen if _may_carry(one)]).keys()
        for name in sorted(names):
            if tokens.directive_of(tokens.names[name][0]) is None and any(_expanded(name, macros, 0)):
                yield header, name
                break


def _chains(unit: Unit) -> Iterator[Chain]:
    sources = [one for one in (unit.source, *unit.program.headers) if _may_carry(one)]
    if not sources:
        return
    own = {one.place: use for one in statements(unit) if (use := _use(one)) is not None}
    macros = _macros(sources)
    tokens = unit.tokens
    found = list(_functions(tokens, own, macros))
    is_taken = any(not _is_provided(uses) for _, uses in found) or any(
        not _is_provided(uses)
        for source in sources[1:]
        for _, uses in _functions(tokens_of(source), _uses_of(source), macros)
    )
    for head, uses in found:
        is_chain = any(takes for takes, _ in uses) and not is_taken
        is_closed = _is_provided(uses) and (is_chain or not _is_waiting(uses))
        yield Chain(head, is_closed, CARRY in tokens.texts[head.body or 0 : (head.body or 0) + 4])


def _functions(
    tokens: Tokens, own: Mapping[int, Use], macros: Mapping[str, list[list[Use | str]]]
) -> Iterator[tuple[Head, list[Use]]]:
    """The functions of a file whose statements have to do with carries."""
    for marker in ("__device__", "__global__"):
        for head in find_heads(tokens, marker):
            if head.body is None or head.directive is not None:
                continue
            uses = list(_uses(tokens, head.body, head.end, own, macros))
            if uses:
                yield head, uses


@functools.lru_cache(maxsize=64)
def _uses_of(source: SourceFile) -> Mapping[int, Use]:
    """What the statements of a header do with carries."""
    given = assemblies(tokens_of(source), string_macros(source.text))
    return {one.place: use for one in given if (use := _use(one)) is not None}


@functools.lru_cache(maxsize=512)
def _may_carry(source: SourceFile) -> bool:
    """Whether a file has a word of carries: headers are asked about for each unit that includes them."""
    return any(word in source.text for word in _WORDS) and HINT.search(source.text) is not None


def _use(assembly: Assembly) -> Use | None:
    use = carry_use(instructions(assembly.template or ""))
    return use if any(use) else None


def _macros(sources: list[SourceFile]) -> Mapping[str, list[list[Use | str]]]:
    """What the bodies of macros do with carries, or which macros they use."""
    found: dict[str, list[list[Use | str]]] = {}
    for source in sources:
        for name, bodies in _macros_of(source).items():
            found.setdefault(name, []).extend(bodies)
    return found


@functools.lru_cache(maxsize=64)
def _macros_of(source: SourceFile) -> Mapping[str, list[list[Use | str]]]:
    found: dict[str, list[list[Use | str]]] = {}
    tokens = tokens_of(source)
    places = _uses_of(source)
    for directive in tokens.directives:
        if directive.name != "define" or directive.last - directive.first < 2:
            continue
        name = tokens.texts[directive.first]
        body: list[Use | str] = []
        for index in range(directive.first + 1, directive.last):
            if index in places:
                body.append(places[index])
            elif tokens.kinds[index] == "i":
                body.append(tokens.texts[index])
        found.setdefault(name, []).append(body)
    return found


def _uses(
    tokens: Tokens, first: int, last: int, own: Mapping[int, Use], macros: Mapping[str, list[list[Use | str]]]
) -> Iterator[Use]:
    for index in range(first, last):
        if index in own:
            yield own[index]
        elif tokens.texts[index] in macros and tokens.directive_of(index) is None:
            yield from _expanded(tokens.texts[index], macros, 0)


def _expanded(name: str, macros: Mapping[str, list[list[Use | str]]], depth: int) -> Iterator[Use]:
    for one in macros.get(name, [[]])[0] if depth < _DEEPEST else []:
        if isinstance(one, str):
            yield from _expanded(one, macros, depth + 1)
        else:
            yield one


def _is_provided(uses: list[Use]) -> bool:
    """Whether a statement gives each carry before another takes it."""
    given = False
    for takes, gives in uses:
        if takes and not given:
            return False
        given = given or gives
    return True


def _is_waiting(uses: list[Use]) -> bool:
    """Whether the last carry that is given is taken by no statement: by another function, or by nobody."""
    waiting = False
    for takes, gives in uses:
        waiting = gives or (waiting and not takes)
    return waiting


def _spans(tokens: Tokens, head: Head, offset: int) -> bool:
    return head.body is not None and tokens.starts[head.body] <= offset < tokens.end(head.end - 1)
