"""How long the arrays of a launch are: what the host allocates, copies or resizes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property

from porter.validation.draft.declarations import Function, matching
from porter.validation.draft.expression import Unknown, Value, number, over, split_arguments
from porter.validation.draft.host import Host

_ALLOCATES = re.compile(
    r"\b\w*(?:(?:cuda|hip)(?:Malloc|HostAlloc)(?:Managed|Host|Async)?|cuMemAlloc|DeviceAllocate)\b\s*(?:<[^;{}()]*>\s*)?\("
)
_PITCHED = re.compile(r"\b(?:cuda|hip)MallocPitch\s*\(")
_COPIES = re.compile(r"\b(?:cuda|hip)(?:Memcpy|MemcpyAsync|Memset|MemsetAsync)\s*\(")
_RETURNS = re.compile(
    r"(?:\(\s*[\w:]+\s*\*+\s*\)\s*)?(?:std::)?(malloc|calloc|aligned_alloc)\s*\(|new\s+([\w:]+(?:\s+\w+)?)\s*\["
)
_CAST = re.compile(
    r"^\(\s*(?:const\s+|unsigned\s+|struct\s+)*[\w:]+(?:<[^()]*>)?(?:\s+\w+)*\s*(?:const\s*)?\*+\s*(?:const\s*)?(?:__restrict__\s*)?\)\s*"
)
_NAMED_CAST = re.compile(r"^(?:reinterpret|static|const)_cast\s*<[^()]*>\s*\((.*)\)$", re.DOTALL)
_NULL = frozenset({"nullptr", "NULL", "0"})
_DEEPEST = 12


@dataclass(frozen=True)
class Extent:
    """How many elements an argument has; or that it is a null pointer."""

    elements: Value | None
    is_null: bool = False
    is_cleared: bool = False
    """Set to zeros before the launch."""


@dataclass(frozen=True)
class _Allocation:
    position: int
    target: str
    size: str
    by: str = ""
    """Type of an element, where the size counts elements."""
    times: str = ""


@dataclass
class Arrays:
    """Allocations of a flat text."""

    host: Host
    passed: dict[tuple[int, str, int], Value | None] = field(default_factory=dict)
    """How long a parameter of a function is, by its place, name and element, as its callers tell."""

    @cached_property
    def _allocations(self) -> tuple[_Allocation, ...]:
        return tuple(sorted(self._found(_ALLOCATES), key=lambda a: a.position))

    @cached_property
    def _copies(self) -> tuple[_Allocation, ...]:
        return tuple(sorted(self._found(_COPIES), key=lambda a: a.position))

    def _found(self, pattern: re.Pattern[str]) -> list[_Allocation]:
        found: list[_Allocation] = []
        text = self.host.text
        for match in pattern.finditer(text):
            end = matching(text, match.end() - 1)
            given = split_arguments(text[match.end() : end - 1]) if end else ()
            if pattern is _COPIES and len(given) >= 3:
                for target in given[: 1 if "Memset" in match[0] else 2]:
                    found.append(_Allocation(match.start(), bare_pointer(target), given[2]))
            elif pattern is not _COPIES and len(given) >= 2:
                found.append(_Allocation(match.start(), bare_pointer(given[0]), given[1]))
        if pattern is _ALLOCATES:
            for match in _PITCHED.finditer(text):
                end = matching(text, match.end() - 1)
                given = split_arguments(text[match.end() : end - 1]) if end else ()
                if len(given) == 4:
                    found.append(_Allocation(match.start(), bare_pointer(given[0]), given[2], times=given[3]))
        return found

    def extent(self, text: str, position: int, size: int) -> Extent:
        """The elements behind an argument, of so many bytes each; raises Unknown."""
        name = bare_pointer(text)
        if name in _NULL:
            return Extent(None, is_null=True)
        elements = self._elements(name, position, size, 0)
        return Extent(elements, is_cleared=self._is_cleared(name, position))

    def _elements(self, name: str, position: int, size: int, depth: int) -> Value:
        if depth > _DEEPEST:
            raise Unknown(name)
        vector = re.fullmatch(r"(\w+)(?:\s*(?:\.|->)\s*(?:data|begin|device_ptr|get)\s*\(\s*\)|\[0\])+", name)
        if vector is not None:
            inner = self.host.container(vector[1], position)
            if inner is not None:
                return inner
            name = vector[1]
        here = self.host.function_at(position)
        found = self._allocated(name, here, position)
        if found is not None:
            return self._count(found, size)
        assigned = self._assigned(name, here, position)
        if assigned is not None:
            return self._of_right_side(*assigned, size, depth)
        if here is not None and any(name == other for _, other in here.parameters):
            passed = self._passed(here, name, size, depth)
            if passed is not None:
                return passed
        for copy in self._copies:
            if copy.target == name and self.host.function_at(copy.position) == here:
                return self._count(copy, size)
        anywhere = [a for a in self._allocations if _last(a.target) == _last(name)]
        if anywhere:
            return self._count(anywhere[-1], size)
        array = re.search(rf"\b\w+\s+{re.escape(name)}\s*\[([^\]]+)\](?:\s*\[([^\]]+)\])?\s*[;=]", self.host.text)
        if array is not None:
            sides = [self.host.value(side, position) for side in array.groups() if side]
            if len(sides) == 1:
                return sides[0]
        raise Unknown(f"how long {name} is")

    def _allocated(self, name: str, here: Function | None, position: int) -> _Allocation | None:
        """The last allocation before a place in the same function."""
        low, high = (here.start, here.end) if here else (0, len(self.host.text))
        found = [a for a in self._allocations if a.target == name and low <= a.position < high]
        before = [a for a in found if a.position < position]
        nearest = before or found
        return nearest[-1] if nearest else None

    def _count(self, allocation: _Allocation, size: int) -> Value:
        value = self.host.value(allocation.size, allocation.position)
        if allocation.times:
            value = self.host.value(f"({allocation.size}) * ({allocation.times})", allocation.position)
        if allocation.by:
            unit = self.host.size_of(allocation.by, allocation.position)
            return value if unit == size else over(_times(value, unit), size)
        if not value.text and value.factor < size:
            raise Unknown(f"how long {allocation.target} is")
        return over(value, size)

    def _assigned(self, name: str, here: Function | None, position: int) -> tuple[str, int] | None:
        if not re.fullmatch(r"\w+", name):
            return None
        low = here.start if here else 0
        pattern = rf"(?<![\w.>])(?:\*\s*(?:const\s+)?)?{name}\s*=(?!=)\s*([^;]*?)\s*(?=;|,\s*\*)"
        found = list(re.compile(pattern).finditer(self.host.text, low, position))
        found = [m for m in found if m[1] not in _NULL]
        return (found[-1][1], found[-1].start()) if found else None

    def _of_right_side(self, text: str, position: int, size: int, depth: int) -> Value:
        """`= (T*) malloc(n)`, `= new T[n]`, `= other + offset`, or a function that allocates."""
        made = _RETURNS.match(text.strip())
        if made is not None and made[1] is None:
            inside = text[made.end() :].rpartition("]")[0]
            return self._count(_Allocation(position, "", inside, made[2]), size)
        if made is not None:
            given = split_arguments(text.strip()[made.end() :].rpartition(")")[0])
            if made[1] == "malloc":
                return self._count(_Allocation(position, "", given[0]), size)
            if len(given) == 2:
                product = f"({given[0]}) * ({given[1]})" if made[1] == "calloc" else given[1]
                return self._count(_Allocation(position, "", product), size)
        call = re.fullmatch(
            r"(?:\([^()]*\)\s*)?(\w*(?:[Aa]lloc|[Cc]reate)\w*)\s*(?:<([^<>]*)>)?\s*\((.*)\)", text.strip(), re.DOTALL
        )
        if call is not None:
            given = split_arguments(call[3])
            if len(given) == 1:
                return self._count(_Allocation(position, "", given[0], call[2] or ""), size)
            raise Unknown(text)
        return self._elements(bare_pointer(text), position, size, depth + 1)

    def _passed(self, function: Function, name: str, size: int, depth: int) -> Value | None:
        key = (function.start, name, size)
        if key not in self.passed:
            self.passed[key] = None  # functions that call each other
            self.passed[key] = self._passed_by_callers(function, name, size, depth)
        return self.passed[key]

    def _passed_by_callers(self, function: Function, name: str, size: int, depth: int) -> Value | None:
        place = [other for _, other in function.parameters].index(name)
        for caller, given in self.host.calls(function):
            if place < len(given):
                try:
                    return self._elements(bare_pointer(given[place]), caller, size, depth + 1)
                except Unknown:
                    continue
        return None

    def _is_cleared(self, name: str, position: int) -> bool:
        word = re.escape(name)
        return re.search(rf"Memset(?:Async)?\s*\(\s*{word}\s*,\s*0\s*,", self.host.text[:position]) is not None


def bare_pointer(text: str) -> str:
    """`(float*) &x[0] + 4` is about `x`."""
    plain = " ".join(text.split())
    while True:
        before = plain
        plain = _CAST.sub("", plain)
        if (cast := _NAMED_CAST.match(plain)) is not None:
            plain = cast[1].strip()
        raw = re.fullmatch(r"(?:thrust::)?raw_pointer_cast\s*\((.*)\)", plain)
        plain = raw[1].strip() if raw else plain
        plain = plain.removeprefix("&").strip()
        if plain.startswith("(") and matching(plain, 0) == len(plain):
            plain = plain[1:-1].strip()
        plain = re.sub(r"\[[^\]]*\]$", "", plain) if re.fullmatch(r"\w+\[[^\]]*\]", plain) else plain
        sum_ = re.match(r"^([\w.>-]+?)\s*\+\s*[^+]", plain)
        plain = sum_[1] if sum_ and re.fullmatch(r"\w+(?:(?:\.|->)\w+)*", sum_[1]) else plain
        if plain == before:
            return plain


def _last(name: str) -> str:
    words = re.findall(r"\w+", name)
    return words[-1] if words else name


def _times(value: Value, factor: int) -> Value:
    return (
        number(value.factor * factor) if not value.text else Value(int(value.factor) * factor, value.text, value.level)
    )
