"""One function of HIP code: its expressions for 64 lanes, the types and values of its variables, and constants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from porter.cpp.constants import looks_like_warp_size, number
from porter.cpp.nodes import EMPTY, Node, unwrapped
from porter.cpp.statements import parse_expression
from porter.engine.unit import Unit
from porter.warp.bodies import Bodies
from porter.warp.function import Function
from porter.warp.wave64.branches import Branches
from porter.warp.wave64.names import HALF, SIZES, WHOLE
from porter.warp.wave64.types import bits_of

_WHOLE_SIZES: dict[str, int | None] = dict.fromkeys((*SIZES, "C10_WARP_SIZE"), WHOLE)
_LONGEST_TYPE = 8
_BEFORE_A_MEMBER = frozenset({";", "{", "}", ":", "(", ")", ",", "="})


@dataclass(frozen=True)
class Body:
    """A function as written."""

    unit: Unit
    bodies: Bodies
    function: Function
    aliases: Mapping[str, list[str]]
    branches: Branches
    """What the lines for AMD, here and in headers, define."""
    shared: str = ""
    """A name that the function counts with and that is 64 for AMD, where both vendors compile the function."""

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes of the body that are AMD's and run where a wavefront has 64 lanes, in order."""
        tokens, dialects = self.function.tokens, self.unit.dialects
        everywhere = len(dialects.regions) == 1
        seen = dialects.is_seen_by_64 if self.shared else dialects.is_for_64
        return tuple(
            node
            for node in self.function.body.walk()
            if not self._is_for_32(node)
            and (everywhere or node.first < 0 or seen(tokens.starts[min(node.first, len(tokens) - 1)]))
        )

    @cached_property
    def parents(self) -> Mapping[int, Node]:
        """The node around each, by identity."""
        return {id(kid): node for node in self.function.body.walk() for kid in node.kids}

    def around(self, node: Node) -> Node:
        """The node around one, brackets skipped."""
        above = self.parents.get(id(node), EMPTY)
        while above.kind == "cast" and not above.text:
            above = self.parents.get(id(above), EMPTY)
        return above

    @cached_property
    def values(self) -> Mapping[str, list[Node]]:
        """What each local variable is set to."""
        found: dict[str, list[Node]] = {}
        for node in self.function.body.walk():
            if node.kind == "variable" and node.initial is not None and not node.dimensions:
                initial = node.initial
                if initial.kind == "list" and len(initial.kids) == 1:
                    initial = initial.kids[0]
                found.setdefault(node.text, []).append(initial)
            elif node.kind == "assign" and node.kids[0].kind == "name":
                found.setdefault(node.kids[0].text, []).append(node.kids[1] if node.text == "=" else node)
        return found

    @cached_property
    def types(self) -> Mapping[str, int | None]:
        """Bits of each integer variable and parameter, elements of arrays as well; None where they disagree."""
        found: dict[str, set[int | None]] = {}
        for name, text in self.function.parameter_types.items():
            words = text.replace("::", " ").replace("&", " ").split()
            found.setdefault(name, set()).add(bits_of(words, self.aliases))
        for node in self.function.body.walk():
            if node.kind == "variable":
                words = node.extra.replace("&", " ").split()
                found.setdefault(node.text, set()).add(bits_of(words, self.aliases))
        return {name: next(iter(bits)) if len(bits) == 1 else None for name, bits in found.items()}

    @cached_property
    def elements(self) -> Mapping[str, int | None]:
        """Bits of what pointers and arrays hold, by their names."""
        texts = {**self.function.parameter_types}
        texts |= {node.text: node.extra for node in self.function.body.walk() if node.kind == "variable"}
        split = {name: text.replace("::", " ").replace("*", " ").split() for name, text in texts.items()}
        return {name: bits_of(words, self.aliases) for name, words in split.items()}

    def bits(self, words: list[str]) -> int | None:
        """Bits of the integer type that words name."""
        return bits_of(words, self.aliases)

    def cast_bits(self, node: Node) -> int | None:
        """Bits of the integer type that a cast names."""
        return bits_of(node.text.replace("::", " ").split(), self.aliases)

    @cached_property
    def automatic(self) -> frozenset[str]:
        """Variables declared with `auto`."""
        variables = (node for node in self.function.body.walk() if node.kind == "variable")
        return frozenset(node.text for node in variables if "auto" in node.extra.replace("&", " ").split())

    def member_bits(self, name: str) -> int | None:
        """Bits of a class's member of a name, where all that are declared in sight agree."""
        tokens = self.function.tokens
        found: set[int | None] = set()
        for place in tokens.names.get(name, ()):
            if tokens.texts[place + 1] not in (";", "=", "[", ",", "{") or tokens.texts[place - 1] in (".", "->"):
                continue
            begin = place
            while begin > 0 and place - begin < _LONGEST_TYPE and tokens.texts[begin - 1] not in _BEFORE_A_MEMBER:
                begin -= 1
            words = [word for word in tokens.texts[begin:place] if word != "::"]
            if words:
                found.add(bits_of(words, self.aliases))
        return found.pop() if len(found) == 1 else None

    @cached_property
    def returns(self) -> int | None:
        """Bits of the type that the function returns."""
        head = self.function.head
        words = self.function.tokens.texts[head.begin : head.name_first]
        if "template" in words:
            return None
        return bits_of(words, self.aliases)

    def size(self, node: Node, depth: int = 0) -> int | None:
        """An integer; the size of a wavefront is 64, and that of a warp what the lines for AMD define it as."""
        node = unwrapped(node)
        if depth > 8:
            return None
        if node.kind == "number":
            return number(node.text)
        if node.kind == "binary" and node.text in ("-", "+", "*", "/", ">>", "<<"):
            left, right = (self.size(kid, depth + 1) for kid in node.kids)
            if left is None or right is None or (node.text == "/" and not right):
                return None
            if node.text in (">>", "<<") and not 0 <= right < WHOLE:
                return None
            return {
                "-": left - right,
                "+": left + right,
                "*": left * right,
                "/": left // (right or 1),
                ">>": left >> min(right, WHOLE) if right >= 0 else 0,
                "<<": left << min(right, WHOLE) if right >= 0 else 0,
            }[node.text]
        if node.kind != "name":
            return None
        bare = node.text.rpartition("::")[2]
        if bare in SIZES:
            return WHOLE
        if bare in self.function.template_parameters or bare in self.function.parameters:
            return None
        if bare in self.branches.sizes and bare not in self.types:
            return WHOLE
        return self._constant(bare, depth)

    def _constant(self, name: str, depth: int) -> int | None:
        constants, dialects = self.bodies.constants, self.unit.dialects
        tokens = self.bodies.tokens
        found: set[int | None] = set()
        for one in constants.definitions(name):
            if not dialects.is_for_64(tokens.starts[one.place]):
                continue
            if one.last - one.first == 1 and tokens.texts[one.first] in SIZES:
                found.add(WHOLE)
            else:
                found.add(constants.value(parse_expression(tokens, one.first, one.last), _WHOLE_SIZES, depth + 1))
        return found.pop() if len(found) == 1 else None

    def _is_for_32(self, node: Node) -> bool:
        return any(first <= node.first and node.last <= last for first, last in self._spans_for_32)

    @cached_property
    def _spans_for_32(self) -> tuple[tuple[int, int], ...]:
        """Branches that run where a wavefront has 32 lanes, or by the first 32 lanes alone."""
        found: list[tuple[int, int]] = []
        for node in self.function.body.walk():
            if node.kind != "if" and node.kind != "ternary":
                continue
            condition, then, *other = node.kids
            asks = _asks_for(condition, self)
            if asks == HALF:
                found.append((then.first, then.last))
            elif asks == WHOLE:
                found += [(branch.first, branch.last) for branch in other if branch.last >= branch.first]
        return tuple(found)


def _asks_for(condition: Node, body: Body) -> int | None:
    """32 or 64 where a condition holds for wavefronts of so many lanes alone."""
    node = unwrapped(condition)
    if node.kind != "binary" or node.text not in ("==", "<=", ">", "!="):
        return None
    left, right = unwrapped(node.kids[0]), unwrapped(node.kids[1])
    if left.kind != "name" and not (left.kind == "call" and not left.arguments):
        return None
    text = left.text if left.kind == "name" else left.callee
    bare = text.rpartition("::")[2]
    if bare not in SIZES and not looks_like_warp_size(bare) and "wave" not in bare.lower():
        return None
    value = body.size(right)
    if value == WHOLE:
        return {"==": WHOLE, "!=": HALF}.get(node.text)
    if value == HALF:
        return {"==": HALF, "<=": HALF, ">": WHOLE, "!=": WHOLE}[node.text]
    return None
