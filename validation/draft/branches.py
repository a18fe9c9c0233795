"""Branches of a source that its own conditions leave out: blanked, so that no draft reads a type from them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from porter.cpp.constants import number
from porter.cpp.lex import lex
from porter.cpp.preprocessor import ABSENT, PRESENT, UNKNOWN, Macro, holds

_DIRECTIVE = re.compile(
    r"^[ \t]*#[ \t]*(?P<word>if|ifdef|ifndef|elif|else|endif|define|undef)\b(?P<rest>(?:\\\n|[^\n])*)", re.MULTILINE
)
_KEPT = re.compile(r"__global__|<<<|cudaLaunch|cuLaunch")
"""Kernels and launches are read wherever they stand: a build may switch them on."""
_ELSEWHERE = re.compile(
    r"_|(?:CUDA|CUDART|CUB|THRUST|CCCL|NV|BOOST|TORCH|AT|C10|FLT|DBL|INT|UINT|LONG|CHAR|SHRT|M|HAVE|WITH|ENABLE)_"
    r"|.*_VERSION|.*_CUDA_?|NDEBUG|NULL|EOF"
)
"""Names that a compiler, a library or a build may define out of sight."""
_BUILT_IN: Mapping[str, Macro] = {
    **dict.fromkeys(("__CUDACC__", "__NVCC__", "__linux__", "__GNUC__"), PRESENT),
    "__cplusplus": Macro(True, 201703),
    **dict.fromkeys(
        ("_WIN32", "WIN32", "_WIN64", "_MSC_VER", "__APPLE__", "__HIPCC__", "__HIP__", "__HIP_PLATFORM_AMD__"), ABSENT
    ),
    **dict.fromkeys(("__HIP_PLATFORM_HCC__", "__HIP_DEVICE_COMPILE__", "__OPENCL_VERSION__", "USE_HIP"), ABSENT),
}


@dataclass
class _Group:
    """One `#if` with its other branches."""

    branches: list[re.Match[str]]
    end: int = 0
    """Where its `#endif` begins; 0: nowhere."""


@dataclass
class _Walk:
    """What is known of macros on the way down a text."""

    macros: dict[str, Macro]
    dead: list[tuple[int, int]] = field(default_factory=list)

    def value(self, match: re.Match[str], *, assumes: bool) -> bool | None:
        """What a condition comes to; with `assumes`, what nothing in sight defines is not defined."""
        word, rest = match["word"], match["rest"].replace("\\\n", " ")
        if word == "else":
            return True
        if word in ("ifdef", "ifndef"):
            name = (rest.split() or [""])[0]
            there = self._looked_up(name, assumes=assumes).defined
            return there if word == "ifdef" or there is None else not there
        tokens = lex(rest)
        return holds(tokens, 0, sum(map(bool, tokens.texts)), lambda name: self._looked_up(name, assumes=assumes))

    def _looked_up(self, name: str, *, assumes: bool) -> Macro:
        known = self.macros.get(name) or _BUILT_IN.get(name)
        if known is not None:
            return known
        return ABSENT if assumes and not _ELSEWHERE.match(name) else UNKNOWN

    def defined(self, match: re.Match[str], *, is_certain: bool) -> None:
        """A definition, or the end of one."""
        made = re.match(r"\s*(\w+)(\()?\s*([^\n]*)", match["rest"])
        if made is None:
            return
        if not is_certain:
            self.macros[made[1]] = UNKNOWN
        elif match["word"] == "undef":
            self.macros[made[1]] = ABSENT
        else:
            text = re.sub(r"/[/*].*", "", made[3]).strip("() \t")
            other = self.macros.get(text)
            self.macros[made[1]] = other if other is not None and other.defined else Macro(True, number(text))


def without_dead(text: str, defines: Iterable[str] = ()) -> str:
    """The text with what its conditions leave out as blanks: places stay. Undecided branches and kernels are kept."""
    directives = list(_DIRECTIVE.finditer(text))
    groups = _grouped(directives)
    given = (one.partition("=") for one in defines)
    walk = _Walk({name: Macro(True, number(value or "1")) for name, _, value in given})
    _walk(directives, groups, walk)
    for start, end in walk.dead:
        inside = text[start:end]
        if not _KEPT.search(inside):
            text = text[:start] + re.sub(r"[^\n]", " ", inside) + text[end:]
    return text


def _grouped(directives: list[re.Match[str]]) -> dict[int, _Group]:
    """The groups by the places of all their directives."""
    found: dict[int, _Group] = {}
    waiting: list[_Group] = []
    for match in directives:
        word = match["word"]
        if word in ("if", "ifdef", "ifndef"):
            waiting.append(_Group([match]))
            found[match.start()] = waiting[-1]
        elif word in ("elif", "else") and waiting:
            waiting[-1].branches.append(match)
            found[match.start()] = waiting[-1]
        elif word == "endif" and waiting:
            group = waiting.pop()
            group.end = match.start()
            found[match.start()] = group
    return found


def _walk(directives: list[re.Match[str]], groups: Mapping[int, _Group], walk: _Walk) -> None:
    """Goes through the directives: which branches are dead, and what the others define."""
    around: list[tuple[_Group, bool | None, bool]] = []
    """Group, whether its present branch is compiled, whether one before it certainly was."""
    for match in directives:
        group, word = groups.get(match.start()), match["word"]
        compiled = _all(is_on for _, is_on, _ in around)
        if word in ("define", "undef"):
            if compiled is not False:
                walk.defined(match, is_certain=compiled is True)
        elif group is None or not group.end:
            continue
        elif word == "endif":
            around.pop()
        elif match is group.branches[0]:
            around.append((group, _state(walk, match, group, is_taken=False), False))
        else:
            _, was_on, is_taken = around.pop()
            is_taken = is_taken or was_on is True
            around.append((group, _state(walk, match, group, is_taken=is_taken), is_taken))


def _state(walk: _Walk, match: re.Match[str], group: _Group, *, is_taken: bool) -> bool | None:
    """Whether a branch is compiled; one that is not and has another in its place is noted."""
    sure = False if is_taken else walk.value(match, assumes=False)
    likely = False if is_taken else walk.value(match, assumes=True)
    has_others = len(group.branches) > 1
    if sure is False or (likely is False and has_others):
        place = group.branches.index(match) + 1
        end = group.branches[place].start() if place < len(group.branches) else group.end
        walk.dead.append((match.end(), end))
    return likely


def _all(states: Iterator[bool | None]) -> bool | None:
    found = list(states)
    return False if False in found else None if None in found else True
