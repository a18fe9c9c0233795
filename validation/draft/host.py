"""What host code says of the names in a launch: constants, sizes of this run, parameters of the functions around it."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from porter.validation.cases.argument_rows import TODO
from porter.validation.cases.case import LANES
from porter.validation.cases.expression import FUNCTIONS
from porter.validation.draft.declarations import Declarations, Function, matching
from porter.validation.draft.expression import Scope, Unknown, Value, evaluate, number, split_arguments, symbol

from porter.cpp.clang.layouts import ClassLayout

_OUTSIDE = re.compile(r"\b(?:ato[ifl]+|strto\w+|sto[iul]+\w*|argv|f?scanf|sscanf|getline|rand|fread|stof|stod)\b")
_DEEPEST = 24
_DEVICE_PROPERTIES = {"multiProcessorCount": 4, "warpSize": 32, "maxThreadsPerBlock": 1024, "sharedMemPerBlock": 49152,
                      "maxThreadsPerMultiProcessor": 2048}  # fmt: skip
_TAKEN = frozenset({LANES, TODO, *FUNCTIONS})
"""Names that mean something in case files."""


@dataclass
class Host(Declarations):
    """A flat text, and the sizes met while looking into it."""

    arguments: tuple[str, ...] = ()
    """Of the program, where its build file starts it."""
    sizes: dict[str, float | None] = field(default_factory=dict)
    """Symbols met, and the value that the program has for them."""
    given: dict[tuple[int, str], str | None] = field(default_factory=dict)
    """What a function's template parameter is, by its place and name, as its callers tell."""
    varying: frozenset[str] | None = None
    """Variables with a number in the source that are sizes all the same; None: all of them."""
    ask: Callable[[str], ClassLayout | None] | None = None
    """What clang makes of a type that the text does not tell."""

    # -- values ---------------------------------------------------------------------------------------

    def value(self, text: str, position: int, depth: int = 0) -> Value:
        """What an expression at a place comes to; raises Unknown."""
        if depth > _DEEPEST:
            raise Unknown(text)
        scope = Scope(
            name=lambda name: self._name(name, position, depth + 1),
            call=lambda name, template, arguments: self._call(name, arguments, position, depth + 1),
            size_of=lambda kind: self.size_of(kind, position),
            is_type=self.names_a_type,
        )
        return evaluate(text, scope)

    def _name(self, name: str, position: int, depth: int) -> Value:
        macro = self.macros.get(name)
        if macro is not None and macro[0] is None:
            return self.value(macro[1], position, depth)
        if "." in name:
            return self._member(name, position, depth)
        here = self.function_at(position)
        found = self._assigned(name, here.start if here else 0, position, depth) if here else None
        if found is not None:
            return found
        if here is not None and any(name == other for _, other in here.parameters):
            return self._passed(here, name, depth)
        if here is not None and name in here.template and (told := self.template_argument(here, name)) is not None:
            return self.value(told[0], told[1], depth)
        return self._global(name, position, depth)

    def _global(self, name: str, position: int, depth: int) -> Value:
        spans = [(f.start, f.end) for f in self.functions]
        for match in self._assignments(name, 0, len(self.text)):
            if not any(low < match.start() < high for low, high in spans):
                return self._of_assignment(name, match, depth)
        enumerator = self._enumerator(name, depth)
        if enumerator is not None:
            return enumerator
        inside = self._assignments(name, 0, position)
        if inside and re.search(
            rf"\b(?:int|unsigned|long|size_t|u?int\d+_t|float|double)\s+{re.escape(name)}\b", self.text
        ):
            return self._of_assignment(name, inside[-1], depth)
        if re.search(
            rf"\b(?:int|unsigned|long|size_t|u?int\d+_t|float|double)\b[^;(){{}}]*\b{re.escape(name)}\b", self.text
        ):
            return self.size(name, None)
        raise Unknown(name)

    def _enumerator(self, name: str, depth: int) -> Value | None:
        for match in re.finditer(r"\benum\b[^;{}]*\{([^{}]*)\}", self.text):
            value = number(0)
            for part in split_arguments(match[1]):
                word, _, given = (piece.strip() for piece in part.partition("="))
                value = self.value(given, match.start(), depth) if given else value
                if word == name:
                    return value
                value = number((value.number or 0) + 1)
        return None

    def _assignments(self, name: str, low: int, high: int) -> list[re.Match[str]]:
        word = re.escape(name).replace(r"\.", r"\s*(?:\.|->)\s*")
        return list(
            re.compile(rf"(?<![\w.>]){word}\s*(?:=(?!=)|[({{](?=[^;(){{}}]*[)}}]\s*[;,]))").finditer(
                self.text, low, high
            )
        )

    def _assigned(self, name: str, low: int, high: int, depth: int) -> Value | None:
        """What was last written to a local variable before a place."""
        found = [m for m in self._assignments(name, low, high) if m[0].endswith("=") or self._is_declared_at(m)]
        if found:
            return self._of_assignment(name, found[-1], depth)
        declared = re.search(
            rf"\b(?:int|unsigned|long|size_t|u?int\d+_t|float|double|uint)\b[^;(){{}}]*\b{re.escape(name)}\b\s*[;,)]",
            self.text[low:high],
        )
        return self.size(name, None) if declared else None

    def _is_declared_at(self, match: re.Match[str]) -> bool:
        """Whether `name(...)` or `name{...}` is a declaration and no call."""
        before = self.text[max(0, match.start() - 60) : match.start()]
        return re.search(r"\b(?:int|unsigned|long|size_t|u?int\d+_t|uint|float|double)\s+$", before) is not None

    def _of_assignment(self, name: str, match: re.Match[str], depth: int) -> Value:
        begin = match.end()
        closes = match[0][-1] in "({"
        text = _upto(self.text, begin, ")}" if closes else ";,)")
        plain = name.replace(".", "_").replace("[", "_").replace("]", "")
        if _OUTSIDE.search(text) or not text:
            return self.size(plain, self._given(text, match, name))
        before = self.text[max(self.text.rfind(mark, 0, match.start()) for mark in ";{}()") + 1 : match.start()]
        try:
            value = self.value(text, match.start(), depth)
        except Unknown:
            return self.size(plain, None)
        is_local = self.function_at(match.start()) is not None
        is_constant = re.search(r"\bconstexpr\b" if is_local else r"\bconst(?:expr)?\b", before) is not None
        varies = self.varying is None or plain in self.varying
        if value.number == 0 and not is_constant and self._is_set_elsewhere(name, match.end()):
            return self.size(plain, None)
        if value.number is not None and not is_constant and varies:
            return self.size(plain, value.number)
        return value

    def _is_set_elsewhere(self, name: str, begin: int) -> bool:
        """Whether a variable goes to a function by its address, or is read from a stream, after a place."""
        here = self.function_at(begin)
        word = re.escape(name)
        after = self.text[begin : here.end if here else len(self.text)]
        return re.search(rf"[(,]\s*&\s*{word}\s*[,)]|>>\s*{word}\s*(?:;|>>)", after) is not None

    def _given(self, text: str, match: re.Match[str], name: str) -> float | None:
        """The value that the build file's command line, or the line before, has for `atoi(argv[2])`."""
        place = re.search(r"argv\s*\[\s*(\d+)\s*\]", text)
        if place is not None and 1 <= int(place[1]) <= len(self.arguments):
            word = self.arguments[int(place[1]) - 1]
            if re.fullmatch(r"-?\d+", word):
                return int(word)
            if re.fullmatch(r"-?\d*\.?\d+(?:[eE][-+]?\d+)?", word):
                return float(word)
        chosen = re.search(r":\s*(\d+)\s*$", text)
        if chosen is not None:
            return int(chosen[1])
        here = self.function_at(match.start())
        earlier = re.findall(
            rf"(?<![\w.>]){re.escape(name)}\s*=\s*(\d+)\s*[;,]", self.text[here.start if here else 0 : match.start()]
        )
        return int(earlier[-1]) if earlier else None

    def size(self, name: str, value: float | None) -> Value:
        """A symbol for a name, with the program's value where that is known."""
        plain = re.sub(r"\W+", "_", name).strip("_") or "size"
        plain += "_" * (plain in _TAKEN or keyword.iskeyword(plain) or plain[0].isdigit())
        if self.sizes.get(plain) is None:
            self.sizes[plain] = value
        return symbol(plain)

    def _passed(self, function: Function, name: str, depth: int) -> Value:
        """What a function's first caller passes for a parameter."""
        for caller, given in self.calls(function):
            place = [other for _, other in function.parameters].index(name)
            if place < len(given):
                try:
                    return self.value(given[place], caller, depth)
                except Unknown:
                    continue
        return self.size(name, None)

    def _member(self, name: str, position: int, depth: int) -> Value:
        base, _, member = name.rpartition(".")
        if member in _DEVICE_PROPERTIES:
            return number(_DEVICE_PROPERTIES[member])
        found = self._assignments(name, 0, position) or self._assignments(name, 0, len(self.text))
        if found:
            return self._of_assignment(name, found[-1], depth)
        if member in "xyz":
            sides = self.dimensions(base, position, depth)
            if sides is not None:
                place = "xyz".index(member)
                return sides[place] if place < len(sides) else number(1)
        default = re.search(
            rf"\b(?:int|unsigned|long|size_t|u?int\d+_t|float|double)\s+{re.escape(member)}\s*=\s*([\d.]+)\s*;",
            self.text,
        )
        return self.size(
            member, float(default[1]) if default and "." in default[1] else int(default[1]) if default else None
        )

    def dimensions(self, text: str, position: int, depth: int = 0) -> tuple[Value, ...] | None:
        """The sides of a `dim3`: a call of its constructor, or a variable that was made by one."""
        plain = " ".join(text.split())
        made = re.fullmatch(r"(?:const\s+)?(?:dim3|uint3)?\s*[({](.*)[)}]", plain, re.DOTALL)
        if made is not None and plain.startswith(("dim3", "{")):
            is_name = re.fullmatch(r"[A-Za-z_]\w*", made[1].strip()) is not None
            copied = self.dimensions(made[1], position, depth + 1) if is_name else None
            if copied is not None:
                return copied
            return tuple(self.value(part, position, depth + 1) for part in split_arguments(made[1])) or (number(1),)
        if depth > _DEEPEST or not re.fullmatch(r"\w+", plain):
            return None
        if (macro := self.macros.get(plain)) is not None and macro[0] is None:
            return self.dimensions(macro[1], position, depth + 1)
        here = self.function_at(position)
        word = re.escape(plain)
        stretch = self.text[:position]
        low = here.start if here else 0
        pattern = (
            rf"\b(?:dim3|uint3)\b[^;(){{}}]*?\b{word}\s*(?:=\s*)?(?:dim3\s*)?[({{]|(?<![\w.>]){word}\s*=\s*dim3\s*\("
        )
        chained = rf"\bdim3\b[^;]*?[,)]\s*{word}\s*\("
        for match in reversed(
            [m for p in (pattern, chained) for m in re.finditer(p, stretch) if m.start() >= low] or []
        ):
            end = matching(self.text, match.end() - 1)
            if end is not None:
                sides = split_arguments(self.text[match.end() : end - 1])
                return self._by_component(
                    plain, low, position, tuple(self.value(s, match.start(), depth + 1) for s in sides), depth
                )
        if here is not None and any(name == plain for _, name in here.parameters):
            place = [name for _, name in here.parameters].index(plain)
            for caller, given in self.calls(here):
                if place < len(given) and (found := self.dimensions(given[place], caller, depth + 1)) is not None:
                    return found
        assigned = re.findall(rf"\bdim3\s+{word}\s*=\s*([^;]+);", stretch[low:])
        if assigned:
            inner = self.dimensions(assigned[-1], position, depth + 1)
            return inner or (self.value(assigned[-1], position, depth + 1),)
        if re.search(rf"\bdim3\s+(?:\w+\s*,\s*)*{word}\s*[;,]", stretch[low:]):
            return self._by_component(plain, low, position, (number(1), number(1), number(1)), depth)
        return None

    def _by_component(self, name: str, low: int, high: int, sides: tuple[Value, ...], depth: int) -> tuple[Value, ...]:
        """Sides that were set one by one afterwards."""
        found = list((*sides, number(1), number(1), number(1))[:3])
        for place, member in enumerate("xyz"):
            written = self._assignments(f"{name}.{member}", low, high)
            if written:
                found[place] = self._of_assignment(f"{name}.{member}", written[-1], depth)
        while len(found) > max(1, len(sides)) and found[-1].number == 1:
            found.pop()
        return tuple(found)

    def _call(self, name: str, arguments: tuple[str, ...], position: int, depth: int) -> Value:
        """Macros with parameters, and functions that are one `return`."""
        if name.endswith((".size", ".length")) and not arguments:
            return self._container(name.rpartition(".")[0], position, depth)
        macro = self.macros.get(name)
        if macro is not None and macro[0] is not None and len(macro[0]) == len(arguments):
            return self.value(_substituted(macro[1], dict(zip(macro[0], arguments, strict=True))), position, depth)
        for function in self.functions:
            body = re.fullmatch(r"\{\s*return\b([^;]*);\s*\}", self.text[function.start : function.end], re.DOTALL)
            if function.name == name and body and len(function.parameters) == len(arguments):
                names = [other for _, other in function.parameters]
                return self.value(_substituted(body[1], dict(zip(names, arguments, strict=True))), position, depth)
        raise Unknown(f"{name}({', '.join(arguments)})")

    def _container(self, name: str, position: int, depth: int) -> Value:
        """How many elements a vector was made with."""
        found = self.container(name, position, depth)
        return found if found is not None else self.size(f"{name}_size", None)

    def container(self, name: str, position: int, depth: int = 0) -> Value | None:
        """How many elements `std::vector<T> name(n)` or `name.resize(n)` has; None when it is not told."""
        word = re.escape(name)
        patterns = (
            rf"\bvector\s*<[^;{{}}()]*>\s*{word}\s*(?:\(|=\s*)",
            rf"(?<![\w.>]){word}\s*(?:\.|->)\s*(?:resize|assign)\s*\(",
        )
        places = sorted((m for p in patterns for m in re.finditer(p, self.text)), key=lambda m: m.start())
        places = [m for m in places if m.start() < position] or places
        if not places or depth > _DEEPEST:
            return None
        match = places[-1]
        if match[0].rstrip().endswith("="):
            return self.container(_upto(self.text, match.end(), ";,"), match.start(), depth + 1)
        end = matching(self.text, match.end() - 1)
        given = split_arguments(self.text[match.end() : end - 1]) if end else ()
        if not given:
            return None
        if ".begin" in given[0] or ".end" in given[0]:
            return self.container(given[0].partition(".")[0].strip(), match.start(), depth + 1)
        try:
            return self.value(given[0], match.start(), depth + 1)
        except Unknown:
            return self.container(given[0], match.start(), depth + 1) if re.fullmatch(r"\w+", given[0]) else None


def _upto(text: str, begin: int, marks: str) -> str:
    """The text up to a mark outside of brackets."""
    depth = 0
    for index in range(begin, min(len(text), begin + 2000)):
        char = text[index]
        if depth == 0 and char in marks:
            return text[begin:index].strip()
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(char, 0)
        if depth < 0:
            return text[begin:index].strip()
    return text[begin : begin + 2000].strip()


def _substituted(body: str, given: dict[str, str]) -> str:
    return re.sub(r"[A-Za-z_]\w*", lambda m: f"({given[m[0]]})" if m[0] in given else m[0], body)
