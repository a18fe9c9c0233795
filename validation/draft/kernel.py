"""What a kernel's own text says of its parameters: read or written, how long, of which values."""

from __future__ import annotations

import re
from dataclasses import dataclass

from porter.cpp.constants import number as integer

_ATOMIC = r"\batomic\w+\s*(?:<[^<>]*>\s*)?\(\s*(?:\([^()]*\)\s*)?&?\s*\(?\s*"


@dataclass(frozen=True)
class Use:
    """How a kernel uses a pointer."""

    kind: str
    """`in`, `out` or `inout`."""
    values: str = ""
    is_clear: bool = True
    """Whether the text leaves no other reading."""


def use_of(name: str, type_: str, body: str) -> Use:
    """How a kernel uses a pointer: plain assignments write, atomics add to what is there; else both."""
    if re.search(r"\bconst\b[^*]*\*", type_):
        return Use("in")
    word = re.escape(name)
    inside = body.partition("{")[2]
    uses = len(re.findall(rf"(?<![\w.]){word}\b", inside))
    if re.search(rf"{_ATOMIC}{word}\b", inside):
        return Use("inout", " = zeros")
    pointed = rf"\*\s*{word}(?=\s*=)|\*\s*\(\s*{word}\s*\+[^;=]*?\)"
    element = rf"(?:(?<![\w.]){word}(?:\s*{_INDEX})+|{pointed})(?:\s*\.\s*\w+)?"
    written = len(re.findall(rf"{element}\s*=(?!=)", inside))
    if written == uses > 0:
        return Use("out")
    if re.search(rf"{element}\s*(?:[-+*/|&^%]|<<|>>)=|{element}\s*(?:\+\+|--)|(?:\+\+|--)\s*{element}", inside):
        return Use("inout")
    plain = len(re.findall(rf"(?<![\w.&])(?<!&\()(?<!& ){word}\s*\[", inside))
    if re.search(rf"&\s*\w+\s*=\s*{word}\s*\[", inside):
        return Use("inout", is_clear=False)  # by a name of its own
    if written == 0 and plain == uses > 0:
        return Use("in")
    return Use("inout", is_clear=written > 0 and plain == uses)


_INDEX = r"\[(?:[^][;]|\[(?:[^][;]|\[[^][;]*\])*\])*\]"


def guard_of(name: str, body: str, scalars: list[str]) -> str | None:
    """The size that guards the index of an array: `if (i < n) ... name[i]`."""
    for index in re.findall(rf"\b{re.escape(name)}\s*\[\s*(\w+)\s*\]", body):
        for size in scalars:
            if re.search(rf"\b{index}\s*<\s*{size}\b|\b{index}\s*>=\s*{size}\b", body):
                return size
    return None


def constant_length(name: str, body: str) -> int | None:
    """The elements of an array whose indices are all numbers."""
    inside = body.partition("{")[2]
    word = re.escape(name)
    uses = len(re.findall(rf"(?<![\w.]){word}\b", inside))
    places = [int(place) for place in re.findall(rf"(?<![\w.]){word}\s*\[\s*(\d{{1,18}})\s*\]", inside)]
    stars = len(re.findall(rf"(?:[=(,;{{}}+\-]\s*)\*\s*{word}\b(?!\s*[+\[])|{_ATOMIC}{word}\s*[,)]", inside))
    if uses and len(places) + stars == uses:
        return max([0, *places]) + 1
    return None


def is_compared(name: str, body: str) -> bool:
    """Whether the kernel compares something with a parameter, as a guard does."""
    word = re.escape(name)
    return (
        re.search(rf"(?:[<>]=?\s*\(?\s*{word}\b)|(?:\b{word}\s*\)?\s*[<>]=?(?![<>]))", body.partition("{")[2])
        is not None
    )


@dataclass(frozen=True)
class Places:
    """The elements of an array are places in another one."""

    array: str
    of: str = ""
    """The parameter that the place is below of, where it is not the other array's length."""
    every: str = ""
    """The parameter or number that the place is multiplied by."""
    is_plain: bool = True
    """Whether nothing else is added."""


def places_of(name: str, body: str, arrays: tuple[str, ...], scalars: tuple[str, ...]) -> Places | None:
    """What the elements of an array of integers index, and how."""
    inside = body.partition("{")[2]
    word = re.escape(name)
    read = rf"(?<![\w.]){word}\s*{_INDEX}"
    assigned = rf"([A-Za-z_]\w*)\s*=\s*(?:\([^()]*\)\s*)?{read}\s*[;,]"
    variables = set(re.findall(assigned, inside))
    wanted = rf"(?:{read}" + "".join(rf"|\b{variable}\b" for variable in sorted(variables)) + ")"
    for other in arrays:
        for match in re.finditer(rf"(?<![\w.]){re.escape(other)}\s*({_INDEX})", inside):
            index = match[1][1:-1].strip()
            if other != name and re.search(wanted, index):
                return _placed(other, index, wanted, scalars)
    return None


def _placed(array: str, index: str, wanted: str, scalars: tuple[str, ...]) -> Places:
    if re.fullmatch(rf"\(?{wanted}\)?", index):
        return Places(array)
    row = re.search(rf"\*\s*\(?(\w+)\)?\s*\+\s*\(?{wanted}", index)
    if row is not None and row[1] in scalars:
        return Places(array, of=row[1])
    times = re.search(rf"{wanted}\)?\s*\*\s*(\w+)|(\w+)\s*\*\s*\(?{wanted}", index)
    factor = (times[1] or times[2]) if times else ""
    if factor in scalars or integer(factor) is not None:
        return Places(array, every=factor, is_plain=False)
    return Places(array, is_plain=False)


def is_offsets(name: str, body: str) -> bool:
    """Whether neighbouring elements bound a loop, as the row pointers of a sparse matrix do."""
    word = re.escape(name)
    for header in re.findall(r"\bfor\s*\(([^{;]*;[^{;]*);", body):
        first, _, last = header.partition(";")
        if all(_comes_from(word, part, body) for part in (first, last)):
            return True
    return False


def _comes_from(word: str, text: str, body: str) -> bool:
    """Whether an expression is made of an element of an array, or of a variable that was set to one."""
    if re.search(rf"(?<![\w.]){word}\s*\[", text):
        return True
    names = set(re.findall(r"[A-Za-z_]\w*", text))
    return any(re.search(rf"\b{name}\s*=\s*(?:\([^()]*\)\s*)?{word}\s*\[", body) for name in names)


def cancels(body: str) -> bool:
    """Whether something is multiplied, and something is added that is no index."""
    inside = re.sub(r"\[[^\]]*\]", "", body.partition("{")[2])
    return re.search(r"[\w)] *\* *[\w(]", inside) is not None and re.search(r"[\w)] *[-+] *[\w(]", inside) is not None


def loop_bounds(body: str) -> tuple[str, ...] | None:
    """What the loops that add something up run to; None where nothing is added in a loop."""
    inside = body.partition("{")[2]
    first = re.search(r"\b(?:for|while)\s*\(", inside)
    strides = "|".join(("gridDim", *re.findall(r"\b(\w+)\s*=[^=;]*\bgridDim\b", inside)))
    added = re.sub(rf"\+=(?=[^;{{]*\b(?:{strides})\b)", "", inside[first.start() :] if first else "")
    if not re.search(r"[+-]=|\bfmaf?\s*\(|=\s*(\w+)\s*\+", added):
        return None  # that a grid goes round again adds nothing up
    return tuple(re.findall(r"\bfor\s*\([^;]*;[^;<]*<=?\s*(\w+)\s*;", inside))


def adds_floats(body: str, floats: tuple[str, ...]) -> bool:
    """Whether the order in which threads add to a floating-point value can be seen."""
    for match in re.finditer(r"\batomicAdd\s*(?:<[^<>]*>\s*)?\(\s*&?\s*\(?\s*(\w+)", body):
        if match[1] in floats or re.search(rf"\b(?:float|double|T|real|Real|REAL)\b[^;]*\b{match[1]}\b", body):
            return True
    return False


def counted_places(body: str) -> frozenset[str]:
    """Arrays that are written where an atomic counter says: in any order."""
    counters = re.findall(r"(\w+)\s*=\s*atomic(?:Add|Inc)\s*\(", body)
    found = {array for c in counters for array in re.findall(rf"(\w+)\s*\[\s*{c}\b[^;\]]*\]\s*=(?!=)", body)}
    found |= set(re.findall(r"(\w+)\s*\[\s*atomic(?:Add|Inc)\s*\([^;\]]*\)\s*\]\s*=(?!=)", body))
    return frozenset(found)
