"""Widths of 64 lanes that code for both vendors gives its branches for AMD: constants, macros, functions, choices."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from porter.cpp.brackets import split_commas
from porter.cpp.conditionals import CONTINUES, OPENS
from porter.cpp.constants import WARP, Constants, looks_like_warp_size, number
from porter.cpp.lex import IDENTIFIER, Directive, Tokens
from porter.engine.unit import Unit
from porter.warp.collectives import COLLECTIVES

_LOGARITHM = re.compile(
    r"k?_?(?:log2?|lg)_?(?:of_?)?(?:warp|wave)\w*|(?:warp|wave)\w*_?(?:log2?|shift|bits)", re.IGNORECASE
)
_SHORT = re.compile(
    r"k?_?(?:warp|wave(?:front)?|simd)(?:_?(?:width|lanes|len(?:gth)?|dim|threads))?|ws|wsz", re.IGNORECASE
)
"""Said of 64 on one side and 32 on the other, or of 64 for AMD, also names that could be anything mean the width."""
_LANES = re.compile(r"k?_?(?:num_?)?(?:lanes|threads_?per_?(?:warp|wave)\w*)", re.IGNORECASE)
_PARTS = ("warp", "wave", "lane")
_PART = re.compile("|".join(_PARTS), re.IGNORECASE)
_NUMBER = re.compile(r"\b(?P<value>64|32|0[xX]0*[24]0)[uUlL]*\b")
_CHOSEN = re.compile(r"\?\s*(?P<value>64\s*:\s*32|32\s*:\s*64)\b")
_AMD = re.compile(r"\w*(?:HIP|ROCM|AMD)\w*", re.IGNORECASE)
_NVIDIA = re.compile(r"\w*(?:CUDA|NVIDIA)\w*", re.IGNORECASE)
_ASKED = frozenset(
    {"warpSize", "__AMDGCN_WAVEFRONT_SIZE", "__AMDGCN_WAVEFRONT_SIZE__", "warp_size", "device_warp_size"}
)
_SOURCES = (".cu", ".cpp", ".cc", ".cxx")
_GROUPS = frozenset({"cooperative_groups", "warpSize", "asm"})
"""What else is ported to 32 lanes, or may be."""
_NO_HEAD = frozenset({"if", "for", "while", "switch", "catch"})
_TO_HEAD = 12


def is_width(name: str) -> bool:
    """Whether a name says that it is how many lanes run together."""
    lower = name.lower()
    return looks_like_warp_size(name) or _SHORT.fullmatch(name) is not None or ("wave" in lower and "size" in lower)


def is_amds_throughout(unit: Unit) -> bool:
    """Whether a source exchanges between lanes for AMD in its own branches alone: none is ported to 32, 64 is right."""
    if not unit.source.path.endswith(_SOURCES):
        return False
    exchanges = list(_seen_by_64(unit, COLLECTIVES.keys()))
    others = _seen_by_64(unit, _GROUPS)
    return bool(exchanges) and all(map(unit.dialects.is_hip, (*exchanges, *others)))


def is_amds_alone(unit: Unit, name: str) -> bool:
    """Whether a source names a constant in its branches for AMD alone, which nothing of is ported."""
    tokens = unit.tokens
    places = [tokens.starts[index] for index in tokens.names.get(name, ())]
    return unit.source.path.endswith(_SOURCES) and all(map(unit.dialects.is_hip, places))


def _seen_by_64(unit: Unit, names: Iterable[str]) -> Iterator[int]:
    """The offsets of names that AMD's compiler sees."""
    tokens = unit.tokens
    for name in names:
        yield from filter(unit.dialects.is_seen_by_64, (tokens.starts[i] for i in tokens.names.get(name, ())))


def is_shuffle_width(tokens: Tokens, name: str) -> bool:
    """Whether a constant is the width of a shuffle somewhere in the file, whatever it is called."""
    return any(_is_width_of_shuffle(tokens, index) for index in tokens.names.get(name, ()))


def _is_width_of_shuffle(tokens: Tokens, index: int) -> bool:
    texts, partner = tokens.texts, tokens.partner
    if texts[index - 1] != "," or texts[index + 1] != ")":
        return False
    opening = partner.get(index + 1, 0)
    called = texts[opening - 1]
    if not called.startswith("__shfl"):
        return False
    return len(split_commas(tokens, opening + 1, index + 1)) == (4 if called.endswith("_sync") else 3)


def widths_of_64(unit: Unit, constants: Constants) -> Iterator[tuple[str, int]]:
    """Each name and the token of a place where a branch for AMD makes it 64, or what it is for 64 lanes."""
    tokens, text = unit.tokens, unit.source.text
    if unit.dialects.has_hip and any(part in tokens.names_in_lower_case for part in _PARTS):
        yield from _constants_of_64(unit, constants)
        numbers = _NUMBER.finditer(text)
    else:
        numbers = _CHOSEN.finditer(text)
    for match in numbers:
        place = tokens.at(match.start("value"))
        if tokens.starts[place] == match.start("value") and _is_code(tokens, place):
            name = _named_by(unit, place)
            if name and is_width(name):
                yield name, place


def _constants_of_64(unit: Unit, constants: Constants) -> Iterator[tuple[str, int]]:
    tokens = unit.tokens
    for name in tokens.names:
        if _PART.search(name) is None:
            continue
        logarithm = _LOGARITHM.fullmatch(name) is not None
        if not (logarithm or is_width(name) or _LANES.fullmatch(name)):
            continue
        wanted = 6 if logarithm else 2 * WARP
        for constant in constants.definitions(name):
            if unit.dialects.is_for_64(tokens.starts[constant.place]):
                inside = tokens.texts[constant.first : constant.last]
                if constants.number_of(constant) == wanted or (not logarithm and not _ASKED.isdisjoint(inside)):
                    yield name, constant.place


def _is_code(tokens: Tokens, place: int) -> bool:
    """Whether a number stands in code, or chosen in a macro."""
    directive = tokens.directive_of(place)
    return directive is None or (directive.name == "define" and tokens.texts[place - 1] == "?")


def _named_by(unit: Unit, place: int) -> str:
    """The width that a number is: returned, in an initial value with branches inside, or chosen by the vendor."""
    tokens = unit.tokens
    texts = tokens.texts
    if texts[place - 1] == "?" or texts[place - 1] == ":":
        return _chosen(tokens, place)
    if number(texts[place]) != 2 * WARP or not unit.dialects.is_for_64(tokens.starts[place]):
        return ""
    if texts[place - 1] == "return" and texts[place + 1] == ";":
        return _function_around(tokens, place)
    before = place - 1
    while before > 0 and tokens.directive_of(before) is not None:
        before -= 1
    is_initial = before != place - 1 and texts[before] in ("=", "{", "(") and tokens.kinds[before - 1] == IDENTIFIER
    return texts[before - 1] if is_initial else ""


def _chosen(tokens: Tokens, place: int) -> str:
    """`NAME = kIsRocm ? 64 : 32`, `kIsCuda ? 32 : 64`: the 64's name."""
    texts = tokens.texts
    if texts[place - 1] != "?" or texts[place + 1] != ":":
        return ""
    values = number(texts[place]), number(texts[place + 2])
    vendor = {(2 * WARP, WARP): _AMD, (WARP, 2 * WARP): _NVIDIA}.get((values[0] or 0, values[1] or 0))
    if vendor is None or not vendor.fullmatch(texts[place - 2]):
        return ""
    directive = tokens.directive_of(place)
    if directive is not None:
        return texts[directive.first]
    begin = place - 2
    while begin > 0 and texts[begin] not in ("=", ";", "{", "}", "return"):
        begin -= 1
    if texts[begin] == "return":
        return _function_around(tokens, place)
    return texts[begin - 1]


def _function_around(tokens: Tokens, place: int) -> str:
    """The name of the function whose body is the innermost block around a token."""
    texts = tokens.texts
    for opening in tokens.braces_around(place):
        for closing in range(opening - 1, max(opening - _TO_HEAD, 0), -1):
            if texts[closing] == ")":
                name = texts[tokens.partner.get(closing, 1) - 1]
                return "" if name in _NO_HEAD else name
            if texts[closing] in (";", "{", "}"):
                break
    return ""


def branch_around(tokens: Tokens, place: int) -> Directive | None:
    """The directive that begins the branch in which a token stands."""
    offset, open_ = tokens.starts[place], list[Directive]()
    for directive in tokens.directives:
        if directive.start >= offset or tokens.directive_of(place) is directive:
            break
        if directive.name in OPENS:
            open_.append(directive)
        elif directive.name in CONTINUES and open_:
            open_[-1] = directive
        elif directive.name == "endif" and open_:
            open_.pop()
    return open_[-1] if open_ else None
