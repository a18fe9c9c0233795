"""A kernel or device function with its parsed body."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from porter.cpp.brackets import split_commas, written
from porter.cpp.heads import Head
from porter.cpp.lex import Tokens, lex
from porter.cpp.nodes import EMPTY, Node, calls
from porter.cpp.scopes import class_around
from porter.cpp.signatures import parameters_of, template_parameters_of
from porter.cpp.statements import parse_block, parse_expression
from porter.warp.collectives import BARRIERS, Collective, collective

CALLED = "operator()"


@dataclass(frozen=True)
class Function:
    """A kernel or device function that has a body."""

    tokens: Tokens
    head: Head
    name: str
    is_kernel: bool

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return tuple(parameter.name for parameter in parameters_of(self.tokens, self.head))

    @cached_property
    def parameter_types(self) -> Mapping[str, str]:
        """Types of the parameters as written."""
        return {parameter.name: parameter.type for parameter in parameters_of(self.tokens, self.head)}

    @cached_property
    def fewest(self) -> int:
        """How many arguments a call must have: parameters before the first default value."""
        stretches = split_commas(self.tokens, self.head.opening + 1, self.head.closing)
        texts = self.tokens.texts
        return next((n for n, (first, last) in enumerate(stretches) if "=" in texts[first:last]), len(self.parameters))

    def takes(self, count: int) -> bool:
        """Whether a call with so many arguments can mean it; who makes an object ends it, too."""
        if self.tokens.texts[self.head.name_first - 1] == "~":
            return True
        is_given = self.tokens.texts[self.head.opening + 1] == "this"
        return self.fewest <= count + is_given <= len(self.parameters)

    @cached_property
    def defaults(self) -> tuple[Node, ...]:
        """The default value of each parameter, an empty node where it has none."""
        return default_values(self.tokens, self.head.opening, self.head.closing)

    @cached_property
    def template_parameters(self) -> tuple[str, ...]:
        """Names of the template parameters."""
        texts = template_parameters_of(self.tokens, self.head)
        return tuple(words[-1].lstrip(".") for text in texts if (words := text.partition("=")[0].split()))

    @cached_property
    def type_parameters(self) -> frozenset[str]:
        """Names of the template parameters that are types."""
        texts = template_parameters_of(self.tokens, self.head)
        words = (text.partition("=")[0].split() for text in texts)
        return frozenset(one[-1] for one in words if len(one) > 1 and one[0] in ("typename", "class"))

    def template_default(self, name: str) -> Node | None:
        """The default value of a template parameter that is no type."""
        for written_parameter in template_parameters_of(self.tokens, self.head):
            left, equals, right = written_parameter.partition("=")
            if equals and left.split()[-1:] == [name] and left.split()[0] not in ("typename", "class"):
                tokens = lex(right.strip())
                return parse_expression(tokens, 0, len(tokens))
        return None

    @property
    def is_const(self) -> bool:
        """Whether it is a member function that leaves its object as it is."""
        return "const" in self.tokens.texts[self.head.closing + 1 : self.head.body or 0]

    @cached_property
    def owner(self) -> str | None:
        """The class that it is a member of."""
        texts, head = self.tokens.texts, self.head
        is_qualified = "::" in texts[head.name_first : head.name_last]
        return texts[head.name_first] if is_qualified else class_around(self.tokens, head.begin)

    @cached_property
    def body(self) -> Node:
        """The statements, those that a constructor's initialisers make first."""
        assert self.head.body is not None
        body = parse_block(self.tokens, self.head.body, self.head.end)
        first = _initialisers(self.tokens, self.head)
        return Node("block", body.first, body.last, kids=(*first, *body.kids)) if first else body

    @cached_property
    def words(self) -> frozenset[str]:
        """All tokens of the body: what is not among them, no statement of it names."""
        return frozenset(self.tokens.texts[self.head.closing : self.head.end])

    @cached_property
    def calls(self) -> tuple[Node, ...]:
        """All calls in the body, in the order of the text."""
        return tuple(calls(self.body))

    @cached_property
    def declarations(self) -> tuple[Node, ...]:
        """All declarations in the body, in the order of the text."""
        return tuple(node for node in self.body.walk() if node.kind == "declaration")

    @cached_property
    def called(self) -> frozenset[str]:
        """Plain names that the body calls."""
        return frozenset(call.callee.rpartition("::")[2] for call in self.calls if call.callee)

    @cached_property
    def called_members(self) -> frozenset[str]:
        """Names of members that the body calls."""
        return frozenset(call.kids[0].text for call in self.calls if call.kids[0].kind == "member")

    @cached_property
    def collectives(self) -> tuple[tuple[Node, Collective], ...]:
        """The warp-wide calls written in the body."""
        return tuple((call, found) for call in self.calls if (found := collective(call)) is not None)

    @cached_property
    def has_barrier(self) -> bool:
        """Whether the body waits for the block."""
        return not self.called.isdisjoint(BARRIERS)

    def __hash__(self) -> int:
        return hash((self.name, self.head.begin))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Function) or self.head.begin != other.head.begin:
            return False
        return self.head == other.head and self.tokens is other.tokens


def default_values(tokens: Tokens, opening: int, closing: int) -> tuple[Node, ...]:
    """The default value of each parameter in parentheses, an empty node where it has none."""
    found: list[Node] = []
    for first, last in split_commas(tokens, opening + 1, closing):
        equals = next((i for i in range(first, last) if tokens.texts[i] == "="), None)
        found.append(EMPTY if equals is None else parse_expression(tokens, equals + 1, last))
    return tuple(found)


def _initialisers(tokens: Tokens, head: Head) -> tuple[Node, ...]:
    """What a constructor initialises, as calls: `: Base(a), b{f(c)}`."""
    index = head.closing + 1
    while head.body is not None and index < head.body and tokens.texts[index] != ":":
        index = tokens.partner.get(index, index) + 1 if tokens.texts[index] in "([{" else index + 1
    if head.body is None or index >= head.body:
        return ()
    found: list[Node] = []
    for first, last in split_commas(tokens, index + 1, head.body):
        opening = next((i for i in range(first, last) if tokens.texts[i] in ("(", "{")), last)
        closing = tokens.partner.get(opening, last)
        if first < opening < closing < head.body:
            callee = Node("name", first, opening - 1, bare(written(tokens, first, opening)))
            values = (parse_expression(tokens, a, b) for a, b in split_commas(tokens, opening + 1, closing))
            call = Node("call", first, closing, kids=(callee, *values))
            found.append(Node("statement", first, closing, kids=(call,)))
    return tuple(found)


def class_named(written_type: str) -> str:
    """`const ns :: S < int >`: S."""
    return written_type.partition("<")[0].rstrip().rpartition(" ")[2]


def bare(name: str) -> str:
    """`ns::S<a::B>::h<int>`: h."""
    place = name.find("operator")
    if place >= 0 and not name[place + len("operator") :][:1].isalnum():
        return name[place:]
    count = 1
    while count:
        name, count = _INNERMOST.subn("", name)
    return name.partition("<")[0].rstrip().rpartition("::")[2]


_INNERMOST = re.compile(r"<[^<>]*>")
