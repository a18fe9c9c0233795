"""Bodies with the macros, lambdas and small helpers of the program put in: loops then show what they do."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from functools import cached_property

from porter.cpp.asm import KEYWORDS
from porter.cpp.brackets import split_commas
from porter.cpp.constants import Macro
from porter.cpp.lex import IDENTIFIER, Tokens
from porter.cpp.nodes import EMPTY, Node, bare_callee, stands_in, unwrapped
from porter.cpp.statements import parse_statements
from porter.warp.bodies import Bodies
from porter.warp.flow.assembled import as_call
from porter.warp.flow.returned import Result, as_statement, has_no_loops, result_of
from porter.warp.function import Function

_DEEPEST = 6
"""Macros and helpers within each other."""

_LAMBDA = re.compile(r"(?<![\w$)\]])\[")

Bound = Mapping[str, Node]
"""Names, each with what stands for it."""


@dataclass(frozen=True, slots=True)
class Called:
    """What a call of a macro or lambda puts in: statements, and the names of the parameters."""

    body: Node
    parameters: tuple[str, ...]


@dataclass
class Expansion:
    """The bodies of one file, with what comes to certain words put in; `telling` are these words."""

    bodies: Bodies
    telling: frozenset[str]
    in_macros: frozenset[str]
    """Further words that tell of a macro."""
    macros_only: bool = False
    """Whether helpers, lambdas and assembly stay as they are."""
    _bodies: dict[int, Node] = field(default_factory=dict)
    _results: dict[int, Result | None] = field(default_factory=dict)
    _macros: dict[int, Node] = field(default_factory=dict)
    _under_way: list[object] = field(default_factory=list)

    def body(self, function: Function) -> Node:
        """A function's body so."""
        known = self._bodies.get(function.head.begin)
        if known is None:
            known = self._bodies[function.head.begin] = _Body(self, function.tokens, function.body).expanded()
        return known

    def may_come(self, function: Function) -> bool:
        """Whether a function by its words, those of its parameters among them, comes to what is looked for."""
        return not self._telling_names.isdisjoint(function.tokens.texts[function.head.opening : function.head.end])

    @cached_property
    def _telling_names(self) -> frozenset[str]:
        return self.telling | self.names

    @cached_property
    def names(self) -> frozenset[str]:
        """The macros and functions in sight that by their words come to what is looked for."""
        words = self._words
        macros = {name for name in self.bodies.constants.macros if not words[name].isdisjoint(self.in_macros)}
        return _coming_to(words, self.telling | macros).union(macros)

    def leading_to(self, words: Iterable[str]) -> frozenset[str]:
        """Those of `names` that are some words, or come to them."""
        words = frozenset(words)
        return (words & self.names) | _coming_to({name: self._words[name] for name in self.names}, words)

    @cached_property
    def _words(self) -> Mapping[str, set[str]]:
        """The words of each macro and function in sight."""
        texts = self.bodies.tokens.texts
        words: dict[str, set[str]] = {}
        for function in () if self.macros_only else self.bodies.all_functions:
            words.setdefault(function.name, set()).update(texts[function.head.opening : function.head.end])
        for name, macros in self.bodies.constants.macros.items():
            inside = words.setdefault(name, set())
            for macro in macros:
                inside.update(texts[macro.first : macro.last])
        return words

    @cached_property
    def places(self) -> list[int]:
        """Where something may have to be put in, in order."""
        named = self.bodies.tokens.names
        words = self.names if self.macros_only else (*self.names, *KEYWORDS)
        return sorted(index for name in words for index in named.get(name, ()))

    @cached_property
    def lambdas(self) -> list[int]:
        """Where lambdas may begin: brackets behind no name."""
        return [match.start() for match in _LAMBDA.finditer(self.bodies.tokens.first_characters)]

    def lambdas_in(self, body: Node) -> dict[str, Node]:
        """The variables of a body that are lambdas."""
        if not stands_in(body, self.lambdas):
            return {}
        variables = ((node, node.initial) for node in body.walk() if node.kind == "variable")
        values = {node.text: unwrapped(initial) for node, initial in variables if initial is not None}
        return {name: value for name, value in values.items() if value.kind == "lambda" and value.kids}

    def macro(self, name: str, *, with_parameters: bool) -> Called | None:
        """A macro's replacement, of several the first that comes to what is looked for."""
        if name not in self.names:
            return None
        macros = [
            m for m in self.bodies.constants.macros.get(name, ()) if (m.parameters is not None) == with_parameters
        ]
        macro = next(filter(self._tells, macros), None)
        if macro is None or macro.place in self._under_way or len(self._under_way) >= _DEEPEST:
            return None
        known = self._macros.get(macro.place)
        if known is None:
            self._under_way.append(macro.place)
            body = parse_statements(self.bodies.tokens, macro.first, macro.last)
            known = self._macros[macro.place] = _Body(self, self.bodies.tokens, body).expanded()
            self._under_way.pop()
        return Called(known, macro.parameters or ())

    def _tells(self, macro: Macro) -> bool:
        inside = self.bodies.tokens.texts[macro.first : macro.last]
        return not (self._telling_names | self.in_macros).isdisjoint(inside)

    def helper(self, call: Node) -> Function | None:
        """The small function that a call calls, if it comes to what is looked for."""
        name, number = bare_callee(call), len(call.arguments)
        if self.macros_only or name not in self.names:
            return None
        fitting = (
            function
            for function in self.bodies.by_name.get(name, ())
            if not function.is_kernel and function.fewest <= number <= len(function.parameters)
        )
        return next(filter(self.may_come, fitting), None)

    def result(self, function: Function) -> Result | None:
        """What a small helper returns and writes through its parameters; None where it has loops or is no small one."""
        begin = function.head.begin
        if begin not in self._results:
            if begin in self._under_way or len(self._under_way) >= _DEEPEST:
                return None
            self._under_way.append(begin)
            is_plain = has_no_loops(function.body)
            self._results[begin] = result_of(self.body(function), function.parameters) if is_plain else None
            self._under_way.pop()
        return self._results[begin]


@dataclass
class _Body:
    """One body on the way."""

    expansion: Expansion
    tokens: Tokens
    whole: Node
    lambdas: dict[str, Called] = field(default_factory=dict)
    put_in: set[str] = field(default_factory=set)
    """Lambdas that stand where they are called."""
    count: int = 0
    """Nodes that were put in."""

    def expanded(self) -> Node:
        lambdas = not self.expansion.macros_only and stands_in(self.whole, self.expansion.lambdas)
        if not stands_in(self.whole, self.expansion.places) and not lambdas:
            return self.whole
        if lambdas:
            found = self.expansion.lambdas_in(self.whole)
            self.lambdas = {name: Called(EMPTY, _lambda_parameters(self.tokens, node)) for name, node in found.items()}
        node = self._node(self.whole)
        return _without(node, self.put_in) if self.put_in else node

    @cached_property
    def _places(self) -> list[int]:
        named = self.tokens.named
        found = self.expansion.places
        first = bisect.bisect_left(found, self.whole.first)
        last = bisect.bisect_right(found, self.whole.last)
        places = found[first:last]
        for name in self.lambdas:
            places += named(name, self.whole.first, self.whole.last + 1)
        return sorted(places)

    def _node(self, node: Node) -> Node:
        if not stands_in(node, self._places):
            return node
        if node.kind == "asm":
            return as_call(node, self.tokens) or node
        kids = tuple(map(self._node, node.kids))
        if node.kind == "variable" and node.text in self.lambdas and kids:
            body = unwrapped(kids[-1]).kids[0] if unwrapped(kids[-1]).kids else EMPTY
            self.lambdas[node.text] = Called(body, self.lambdas[node.text].parameters)
        node = _with(node, kids)
        if node.kind == "block":
            return _with(node, _joined(node.kids))
        if node.kind == "statement" and len(node.kids) == 1:
            return self._statement(node)
        if node.kind == "macroloop":
            return self._macro_loop(node)
        if node.kind == "declaration":
            return self._declaration(node)
        if node.kind in ("call", "name") and not self._is_full:
            return self._value(node)
        return node

    # Statements

    def _statement(self, node: Node) -> Node:
        inner = node.kids[0]
        if inner.kind == "opaque" and inner.text == _STATEMENTS:
            is_ended = self.tokens.texts[node.last] == ";"
            kids = (*inner.kids[:-1], _ended(inner.kids[-1])) if is_ended and inner.kids else inner.kids
            return Node("block", node.first, node.last, "" if is_ended else _OPEN, kids)
        if inner.kind == "call" and (found := self._effects(inner)) is not None:
            return found
        return node

    def _effects(self, call: Node) -> Node | None:
        """The statements of a lambda or of a helper in the place of its call."""
        name = bare_callee(call)
        if call.kids[0].kind == "name" and (called := self._lambda(call)) is not None and _stays(called.body):
            self.put_in.add(name)
            return self._placed(called.body, dict(zip(called.parameters, call.arguments, strict=False)), call)
        is_own = call.kids[0].kind == "lambda" and not self.expansion.macros_only
        if is_own and call.kids[0].kids and _stays(call.kids[0].kids[0]):
            return call.kids[0].kids[0]
        function, result = self._helper(call)
        if function is None or result is None or not result.effects or RELEASES.fullmatch(name):
            return None
        bound = self._bound(function, call)
        kids = tuple(self._placed(effect, bound, call) for effect in result.effects)
        if self._is_full:
            return None
        return Node("block", call.first, call.last, kids=tuple(map(as_statement, kids)))

    def _helper(self, call: Node) -> tuple[Function | None, Result | None]:
        function = self.expansion.helper(call)
        return function, self.expansion.result(function) if function is not None else None

    def _declaration(self, node: Node) -> Node:
        """`ACQUIRE x = 1;`: no type, where the macro has statements of its own."""
        called = self.expansion.macro(self.tokens.texts[node.first], with_parameters=False)
        if called is None or not any(map(_is_loop, called.body.kids)):
            return node
        return Node("block", node.first, node.last, kids=(*self._placed(called.body, {}, node).kids, node))

    def _lambda(self, call: Node) -> Called | None:
        called = self.lambdas.get(call.kids[0].text)
        return called if called is not None and called.body is not EMPTY else None

    def _macro_loop(self, node: Node) -> Node:
        """`FOREVER(x) { ... }`: the block is the body of the loop that the macro ends with."""
        call, body = node.kids
        if call.kind != "opaque" or call.text != _STATEMENTS:
            return node
        return Node("block", node.first, node.last, kids=_joined((*call.kids, body)))

    # Expressions

    def _value(self, node: Node) -> Node:
        """What stands for a macro, or for a call of a macro, a lambda or a helper."""
        name = node.text if node.kind == "name" else bare_callee(node)
        if node.kind == "name" or node.kids[0].kind == "name":
            called = self.expansion.macro(name, with_parameters=node.kind == "call")
            if called is not None:
                bound = dict(zip(called.parameters, node.arguments, strict=False))
                return _replacement(self._placed(called.body, bound, node))
        if node.kind == "name":
            return node
        if node.kids[0].kind == "name" and (called := self._lambda(node)) is not None:
            return self._of_lambda(called, node)
        function, result = self._helper(node)
        return node if function is None else self._read(result, self._bound(function, node), node)

    def _of_lambda(self, called: Called, call: Node) -> Node:
        result = result_of(called.body, called.parameters)
        return self._read(result, dict(zip(called.parameters, call.arguments, strict=False)), call)

    def _read(self, result: Result | None, bound: Bound, call: Node) -> Node:
        """What a call comes to where its value is read."""
        if result is None or result.value is None:
            return call
        parts = tuple(self._placed(part, bound, call) for part in (*result.effects, result.value))
        if self._is_full:
            return call
        return parts[0] if len(parts) == 1 else Node("comma", call.first, call.last, kids=parts)

    def _placed(self, node: Node, bound: Bound, at: Node) -> Node:
        """A tree in the place of another one, or that one where too much was put in already."""
        placed = _placed(node, bound, at)
        self.count += sum(1 for _ in placed.walk())
        return at if self._is_full else placed

    @property
    def _is_full(self) -> bool:
        """Whether more was put in than a body takes: what stands twice in each other would have no end."""
        return self.count > _MOST_NODES

    def _bound(self, function: Function, call: Node) -> dict[str, Node]:
        """The arguments by the names of the parameters; of a member's names, the members of its object."""
        bound = dict(zip(function.parameters, call.arguments, strict=False))
        callee = call.kids[0]
        if callee.kind != "member":
            return bound
        bound["this"] = callee.kids[0]
        known = {*_OF_NOBODY, *bound, *function.template_parameters}
        known.update(variable.text for declared in function.declarations for variable in declared.kids)
        for node in function.body.walk():
            called = node.kids[0] if node.kind == "call" else EMPTY
            if called.kind == "name":
                known.add(called.text)
        for node in function.body.walk():
            if node.kind == "name" and node.text not in known and not self._is_constant(node.text):
                bound[node.text] = Node("member", call.first, call.last, node.text, (callee.kids[0],))
        return bound

    def _is_constant(self, name: str) -> bool:
        constants = self.expansion.bodies.constants
        return "::" in name or name in constants.macros or bool(constants.definitions(name))


def _coming_to(words: Mapping[str, set[str]], to: frozenset[str]) -> frozenset[str]:
    """The names whose words come to some words, be it by way of each other."""
    found: set[str] = set()
    new: Set[str] = to
    while new:
        new = {name for name in words.keys() - found if not new.isdisjoint(words[name])}
        found |= new
    return frozenset(found)


_OF_NOBODY = frozenset({"threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"})
"""Names that are no members, whatever the object."""
_STATEMENTS = "statements"
"""What an expression says that stands for a macro of statements."""
_OPEN = "open"
"""What a block says that stands for a macro which goes on with the next statement."""
RELEASES = re.compile(r"(?:\w*_)?(?:un_?lock|release)\w*", re.IGNORECASE)
"""Helpers whose names say more than their bodies may show."""
_MOST_NODES = 4000
"""What is put into one body."""


def _with(node: Node, kids: tuple[Node, ...]) -> Node:
    if len(kids) == len(node.kids) and all(new is old for new, old in zip(kids, node.kids, strict=True)):
        return node
    return Node(node.kind, node.first, node.last, node.text, kids, node.extra, node.count)


def _replacement(placed: Node) -> Node:
    """A macro's expression; statements in a node of their own."""
    if placed.kind != "block":
        return placed
    only = placed.kids[0] if len(placed.kids) == 1 else EMPTY
    if only.kind == "statement" and len(only.kids) == 1 and only.kids[0].kind != "opaque":
        return only.kids[0]
    kids = [
        inner for kid in placed.kids for inner in (kid.kids if kid.kind == "block" and kid.text == _OPEN else (kid,))
    ]
    return Node("opaque", placed.first, placed.last, _STATEMENTS, tuple(kids))


def _is_loop(node: Node) -> bool:
    return node.kind in ("while", "do", "for")


def _stays(body: Node) -> bool:
    """Whether a lambda's body may stand where it is called: a `return` would leave more than the lambda there."""
    return not any(node.kind == "return" for node in body.walk())


def _placed(node: Node, bound: Bound, at: Node) -> Node:
    """A tree with names bound, at the tokens of another one: what is found in it is found there."""
    if node.kind == "name" and node.text in bound and not node.kids:
        return bound[node.text]
    kids = tuple(_placed(kid, bound, at) for kid in node.kids)
    if node.kind == "unary" and node.text == "*":
        inner = kids[0]
        while inner.kind == "cast" and not inner.text:
            inner = inner.kids[0]
        if inner.kind == "unary" and inner.text == "&":
            return inner.kids[0]
    return Node(node.kind, at.first, at.last, node.text, kids, node.extra, node.count)


def _joined(kids: Iterable[Node]) -> tuple[Node, ...]:
    """Statements, each behind a macro that ends with the head of a loop as that loop's body."""
    found: list[Node] = []
    waiting = list(kids)
    for kid in waiting:
        if found and found[-1].kind == "block" and found[-1].text == _OPEN and found[-1].kids:
            *before, last = found[-1].kids
            if (led := _leading(last, kid)) is not None:
                found[-1] = Node("block", found[-1].first, kid.last, kids=(*before, led))
                continue
        if found and _lacks_body(found[-1]) and (led := _leading(found[-1], kid)) is not None:
            found[-1] = led
            continue
        found.append(kid)
    return tuple(found)


def _lacks_body(node: Node) -> bool:
    return node.kind in ("for", "while") and node.kids[-1].kind == "statement" and _is_hole(node.kids[-1])


def _is_hole(statement: Node) -> bool:
    return bool(statement.kids) and statement.kids[0].kind == "opaque" and not statement.kids[0].text


def _ended(statement: Node) -> Node:
    """`while (...)` of a macro, and the semicolon behind it."""
    if not _lacks_body(statement):
        return statement
    empty = Node("empty", statement.last, statement.last)
    return Node(statement.kind, statement.first, statement.last, statement.text, (*statement.kids[:-1], empty))


def _leading(loop: Node, body: Node) -> Node | None:
    """A loop that lacks its body, with it."""
    if not _lacks_body(loop):
        return None
    return Node(loop.kind, loop.first, body.last, loop.text, (*loop.kids[:-1], body))


def _without(node: Node, names: set[str]) -> Node:
    """Without the bodies of lambdas that stand where they are called."""
    kids = tuple(_without(kid, names) for kid in node.kids)
    if node.kind == "variable" and node.text in names and kids and unwrapped(kids[-1]).kind == "lambda":
        kids = kids[: node.count]
    return _with(node, kids)


def _lambda_parameters(tokens: Tokens, node: Node) -> tuple[str, ...]:
    opening = tokens.partner.get(node.first, node.first) + 1
    while tokens.kinds[opening] == IDENTIFIER:
        opening += 1
    closed = tokens.partner.get(opening)
    if tokens.texts[opening] != "(" or closed is None:
        return ()
    stretches = (tokens.texts[first:last] for first, last in split_commas(tokens, opening + 1, closed))
    named = ([text for text in stretch if text.isidentifier()] for stretch in stretches)
    return tuple(found[-1] if found else "" for found in named)
