"""Parses the body of a function, a macro or an expression into a tree; what it cannot read becomes opaque."""

from __future__ import annotations

import bisect
from collections.abc import Iterator

from porter.cpp.brackets import LONGEST_TEMPLATE_ARGUMENTS, NEVER_IN_TEMPLATE_ARGUMENTS, words
from porter.cpp.compiled import BLOCK, EXPRESSION, STATEMENTS, readers
from porter.cpp.cursor import DEEPEST, LONGEST_CHAIN, TOO_DEEP
from porter.cpp.expressions import (
    ASSIGN,
    BINARY,
    CONTINUING,
    ENDING,
    ENDS,
    IN_TYPES,
    IN_WORDS,
    NAMED_CASTS,
    OPERATING,
    PREFIX,
    SIZES,
    ExpressionReader,
)
from porter.cpp.lex import IDENTIFIER, STRING, Directive, Tokens
from porter.cpp.nodes import EMPTY, Node
from porter.cpp.types import CONTROL, QUALIFIERS, TYPES

_ASSEMBLY = words("asm __asm__ __asm")
_LED = CONTROL - _ASSEMBLY
"""Words that no name stands before in C++: it is a macro's."""
_GOING_ON = words("else case default catch")
_PRAGMAS = words("_Pragma __pragma")
_LOOPS = words("for while do")
_OF_LOOPS = "UNROLL", "PRAGMA"
"""In the names of macros that stand before a loop, with arguments."""
_OPERATORS = BINARY.keys() | ASSIGN
_TAGS = words("struct class union enum")
_SKIPPED = words("using typedef static_assert namespace template public private friend")


def parse_block(tokens: Tokens, opening: int, end: int) -> Node:
    """The block whose `{` is at `opening`; `end` is the index after its `}`."""
    return _parsed(BLOCK, tokens, opening, end)


def parse_expression(tokens: Tokens, first: int, last: int) -> Node:
    """The expression in the tokens [first, last), commas included."""
    return _parsed(EXPRESSION, tokens, first, last)


def parse_statements(tokens: Tokens, first: int, last: int) -> Node:
    """The statements in the tokens [first, last): a macro's replacement, a stretch of a body."""
    return _parsed(STATEMENTS, tokens, first, last)


def _parsed(what: int, tokens: Tokens, first: int, last: int) -> Node:
    if readers is None:
        return parse_in_python(what, tokens, first, last)
    stretches = _stretches(tokens, first, last)
    end = max(first, last - 1)
    found: Node = readers.parse(
        what, tokens.texts, tokens.kinds, tokens.starts, tokens.partner, tokens.memo, stretches, first, end
    )
    return found


def parse_in_python(what: int, tokens: Tokens, first: int, last: int) -> Node:
    """The same where nothing is compiled."""
    places = [index for begin, end in _stretches(tokens, first, last) for index in range(begin, end)]
    reader = Reader(tokens, places)
    if what == BLOCK:
        return reader.block()
    if what == STATEMENTS:
        return reader.statements(first, max(first, last - 1))
    return reader.comma() if not reader.done else EMPTY


def _stretches(tokens: Tokens, first: int, last: int) -> list[tuple[int, int]]:
    """The tokens of a stretch that are not in a preprocessor line of their own inside it, nor in a branch that
    opens what another one opens as well."""
    own = tokens.directive_of(first) if first < last else None
    left_out = [(d.first, d.last) for d in _directives(tokens, first, last) if d != own]
    if not tokens.is_balanced:
        left_out = sorted([*left_out, *(pair for pair in tokens.alternatives if first < pair[0] < last)])
    found: list[tuple[int, int]] = []
    index = first
    for begin, end in left_out:
        if begin >= index or end > index:
            found.append((index, max(index, min(begin, last))))
            index = max(index, end)
    found.append((index, max(index, last)))
    return found


def _directives(tokens: Tokens, first: int, last: int) -> Iterator[Directive]:
    """The preprocessor lines with tokens in [first, last)."""
    place = bisect.bisect_left(tokens.directives, first, key=lambda d: d.last)
    for directive in tokens.directives[place:]:
        if directive.first >= last:
            return
        if directive.last > max(first, directive.first):
            yield directive


class Reader(ExpressionReader):
    """Statements and declarations."""

    def block(self) -> Node:
        first = self.here
        self.take("{")
        inner = self.statements(first, first)
        self.take("}")
        return Node("block", first, self.before, kids=inner.kids)

    def statements(self, first: int, last: int) -> Node:
        kids: list[Node] = []
        while not self.done and self.text != "}":
            start = self.position
            kids.append(self.statement())
            if self.position == start:
                self.position += 1
        return Node("block", first, max(last, self.before), kids=tuple(kids))

    def statement(self) -> Node:
        if self.depth >= DEEPEST:
            return self._deep_statement()
        self.depth += 1
        node = self._statement()
        self.depth -= 1
        return node

    def _deep_statement(self) -> Node:
        first = self.here
        self._skip_too_deep()
        self.take(";")
        return self._made("opaque", first, ())

    def _statement(self) -> Node:
        while (past := self._past_prefix()) is not None:
            self.position = past
        text = self.text
        first = self.here
        if text == "{":
            return self.block()
        if text == ";":
            self.position += 1
            return Node("empty", first, first)
        if text in CONTROL:
            return self._control(text, first)
        if self.kind() == IDENTIFIER and (after := self.peek()) in _LED:
            self.position += 1
            # what a macro stands before is its statement (`UNROLL for (...)`), unless it goes on with one before
            alone = after in _GOING_ON
            name = Node("name", first, first, text)
            return self._made("statement", first, (name,)) if alone else self._control(after, first)
        if text in _SKIPPED or self._is_type_definition():
            return self._skip_statement(first)
        if self.kind() == IDENTIFIER and self.peek() == ":" and self.peek(2) != ":":
            self.position += 2
            return Node("label", first, self.before, text)
        if self._declares():
            return self._declaration(first)
        return self._expression_statement(first)

    def _past_prefix(self) -> int | None:
        """Position after what stands before a statement and says nothing: `[[likely]]`, `_Pragma("unroll")`."""
        text, after = self.text, self.peek()
        if text == "[" and after == "[":
            end = self._matching(self.position)
            return None if end is None else end + 1
        if after != "(" or self.kind() != IDENTIFIER:
            return None
        is_pragma = text in _PRAGMAS
        if not is_pragma and text != "__attribute__" and not any(part in text for part in _OF_LOOPS):
            return None
        end = self._matching(self.position + 1)
        if end is None or not (is_pragma or self.texts[end + 1] in _LOOPS):
            return None
        return end + 1

    def _control(self, text: str, first: int) -> Node:
        self.position += 1
        if text == "if":
            return self._if(first)
        if text == "for":
            return self._for(first)
        if text in ("while", "switch"):
            begun, condition = self._condition()
            return self._begun(first, begun, self._made(text, first, (condition, self._governed())))
        if text == "do":
            return self._do(first)
        if text == "return":
            returned = () if self.text == ";" else (self.comma(),)
            return self._ended("return", first, returned)
        if text in ("break", "continue", "goto"):
            if text == "goto":
                self.position += 1
            return self._ended("jump", first, (), text)
        if text == "case":
            value = self.expression()
            while not self.done and not self.take(":"):
                self.position += 1
            return self._made("label", first, (value,), text)
        if text == "default":
            self.take(":")
            return self._made("label", first, (), text)
        if text in _ASSEMBLY:
            return self._asm(first)
        if text == "try":
            return self.block()
        if text == "catch":
            self._condition()
            return self.block()
        return self.statement() if not self.done else Node("empty", first, first)

    def _made(self, kind: str, first: int, kids: tuple[Node, ...], text: str = "") -> Node:
        return Node(kind, first, self.before, text, kids)

    def _ended(self, kind: str, first: int, kids: tuple[Node, ...], text: str = "") -> Node:
        self._to_semicolon()
        return self._made(kind, first, kids, text)

    def _if(self, first: int) -> Node:
        self.take("constexpr")
        begun, condition = self._consteval() or self._condition()
        kids: tuple[Node, ...] = (condition, self._governed())
        if self.take("else"):
            kids = (*kids, self._governed())
        return self._begun(first, begun, self._made("if", first, kids))

    def _governed(self) -> Node:
        """The statement of a condition or loop, with the labels before it."""
        first = self.here
        node = self.statement()
        if node.kind != "label" or self.done:
            return node
        kids = [node]
        while kids[-1].kind == "label" and not self.done and self.text != "}":
            kids.append(self.statement())
        return self._made("block", first, tuple(kids))

    def _begun(self, first: int, begun: tuple[Node, ...], node: Node) -> Node:
        """A statement behind what is done before it: `if (int a = f(); a > 3)`."""
        return self._made("block", first, (*begun, node)) if begun else node

    def _consteval(self) -> tuple[tuple[Node, ...], Node] | None:
        """`if consteval` and `if !consteval`: both sides are code, whatever they are for."""
        negated = self.text in ("!", "not")
        if self.peek(int(negated)) != "consteval":
            return None
        self.position += 1 + negated
        return (), Node("name", self.before, self.before, "consteval")

    def _for(self, first: int) -> Node:
        if not self.take("("):
            return self._made("opaque", first, ())
        colon = self._range_colon()
        if colon is not None:
            variable = self._range_variable(colon)
            over = self.comma()
            self.take(")")
            return self._made("range", first, (variable, over, self._governed()))
        start = self.statement() if not self.take(";") else EMPTY
        colon = self._range_colon()
        if colon is not None:
            variable = self._range_variable(colon)
            over = self.comma()
            self.take(")")
            return self._begun(first, (start,), self._made("range", first, (variable, over, self._governed())))
        if self._declares() and self._is_initialised():
            condition = self._declaration(self.here)
        else:
            condition = EMPTY if self.text == ";" else self.comma()
            self.take(";")
        step = EMPTY if self.text == ")" else self.comma()
        self._to_closing()
        return self._made("for", first, (start, condition, step, self._governed()))

    def _range_colon(self) -> int | None:
        depth = 0
        for place in range(self.position, min(self.count, self.position + 40)):
            text = self.texts[place]
            if text in "([{":
                depth += 1
            elif text in ")]}":
                if depth == 0:
                    return None
                depth -= 1
            elif text == ";" or (text == "?" and depth == 0):
                return None
            elif text == ":" and depth == 0:
                return place
        return None

    def _range_variable(self, colon: int) -> Node:
        name = colon - 1
        node = Node("variable", self.places[name], self.places[name], self.texts[name])
        self.position = colon + 1
        return node

    def _do(self, first: int) -> Node:
        body = self._governed()
        condition = self._condition()[1] if self.take("while") else EMPTY
        self.take(";")
        return self._made("do", first, (body, condition))

    def _asm(self, first: int) -> Node:
        while self.kind() == IDENTIFIER:
            self.position += 1
        opened = self.position
        self._skip_brackets()
        kids = self._asm_operands(opened + 1, self.position - 1)
        self.take(";")
        return self._made("asm", first, kids)

    def _asm_operands(self, low: int, high: int) -> tuple[Node, ...]:
        """The expressions in the parentheses after each constraint."""
        end = self.position
        kids: list[Node] = []
        self.position = low
        while self.position < high:
            if self.text == "(" and self.kind(-1) == STRING:
                self.position += 1
                kids.append(self.comma())
                self._to_closing()
            else:
                self.position += 1
        self.position = end
        return tuple(kids)

    def _skip_statement(self, first: int) -> Node:
        while not self.done and self.text != ";":
            if self.text in "([{":
                self._skip_brackets()
            elif self.text == "}":
                break
            else:
                self.position += 1
        self.take(";")
        return self._made("opaque", first, ())

    def _is_type_definition(self) -> bool:
        if self.text not in _TAGS:
            return self.text in QUALIFIERS and self._is_variable_of_own_type()
        place = self.position + 1
        while place < self.count and self.texts[place] not in ("{", ";", "=", "("):
            place += 1
        return self.texts[place] == "{"

    def _is_variable_of_own_type(self) -> bool:
        """`__shared__ union { ... } both;`"""
        place = self.position
        while self.texts[place] in QUALIFIERS:
            place += 1
        return self.texts[place - 1] in _TAGS and "{" in self.texts[place : place + 2]

    def _expression_statement(self, first: int) -> Node:
        value = self.comma()
        if self.take(";"):
            return self._made("statement", first, (value,))
        if value.kind == "call" and self.text == "{":
            return self._made("macroloop", first, (value, self.block()))
        if value.kind in ("call", "name") and not self.done and self.text not in ENDS:
            return self._made("statement", first, (value,))
        value = self._with_rest(value)
        if not self.done and self.text not in ("}",):
            self._to_semicolon()
        return self._made("statement", first, (value,))

    def _with_rest(self, node: Node) -> Node:
        """An expression and what follows it up to the semicolon, be it a branch of `#if` or what nobody understands."""
        kids = [node]
        while not self.done and self.text not in (";", ")", "}"):
            start = self.position
            kids.append(self.expression())
            if self.position == start:
                self.position += 1
        return Node("opaque", node.first, self.before, kids=tuple(kids)) if len(kids) > 1 else node

    # Declarations

    def _declares(self) -> bool:
        """Whether the statement that starts here declares variables."""
        start = self.position
        while not self.done and (past := self._past_attribute(start)) != start:
            start = past
        text = self.texts[start]
        if start >= self.count or self.kinds[start] != IDENTIFIER:
            return False
        if text in QUALIFIERS:
            return True
        place = self._past_type(start)
        if place is None:
            return False
        while self.texts[place] in ("*", "&", "&&", "const", "volatile", "__restrict__"):
            place += 1
        if self.kinds[place] != IDENTIFIER or self.texts[place] in _OPERATORS:
            return text in TYPES and self.texts[place] == "["
        after = self.texts[place + 1]
        if text in TYPES:
            return after not in ("::",)
        return after in ("=", ";", ",", "[", "{", "(") and not (
            after == "(" and self.texts[place - 1] in ("*", "&") and place - start == 2
        )

    def _declaration(self, first: int) -> Node:
        start = self.position
        place = start
        while (after := self._past_attribute(place)) != place or self.texts[place] in QUALIFIERS:
            place = max(after, place + 1)
            if self.texts[place - 1] == "extern" and self.kinds[place] == STRING:
                place += 1
        past = self._past_type(place) if place < self.count else None
        if past is None:
            return self._skip_statement(first)
        self.position = self._past_attributes(past)
        written_type = self._written(start, self.position)
        kids = self._bound(written_type)
        is_bound = bool(kids)
        while not is_bound and not self.done:
            variable = self._declarator(written_type)
            if variable is None:
                break
            kids.append(variable)
            if not self.take(","):
                break
        if self.text not in (")", ";"):
            if kids and not is_bound and kids[-1].initial is not None:
                kids[-1] = self._going_on(kids[-1])
            self._to_semicolon()
        else:
            self.take(";")
        return self._made("declaration", first, tuple(kids), written_type)

    def _going_on(self, variable: Node) -> Node:
        """A variable whose initial value goes on where it should end."""
        initial = variable.kids[variable.count]
        kids = (*variable.kids[: variable.count], self._with_rest(initial))
        if kids[-1] is initial:
            return variable
        return Node("variable", variable.first, self.before, variable.text, kids, variable.extra, variable.count)

    def _is_initialised(self) -> bool:
        """Whether what looks like a declaration is one, no `a && b[c]`: it begins with a type or has a value."""
        place = self.position
        if self.text in TYPES or self.text in QUALIFIERS:
            return True
        while self.texts[place] not in ("=", "{", "(", "[", ";", ")", ""):
            place += 1
        return self.texts[place] in ("=", "{")

    def _bound(self, written_type: str) -> list[Node]:
        """The names of `auto &[a, b] = value`: the first one has the value, the others have that of the first."""
        place = self.position
        while self.text in ("&", "&&"):
            self.position += 1
        if self.text != "[":
            self.position = place
            return []
        names: list[tuple[int, str]] = []
        while not self.done and self.text not in ("]", ";"):
            if self.kind() == IDENTIFIER:
                names.append((self.here, self.text))
            self.position += 1
        self.take("]")
        found: list[Node] = []
        for number, (first, name) in enumerate(names):
            value = Node("name", names[0][0], names[0][0], names[0][1]) if number else self._bound_value()
            kids = () if value is None else (value,)
            found.append(Node("variable", first, first if number else self.before, name, kids, written_type))
        return found

    def _bound_value(self) -> Node | None:
        if self.take("="):
            return self.initialiser()
        return self._constructed() if self.text in ("(", "{") else None

    def _declarator(self, written_type: str) -> Node | None:
        pointer = ""
        while self.text in ("*", "&", "&&", "const", "volatile", "__restrict__", "__restrict", "restrict", "("):
            pointer += self.text if self.text in ("*", "&", "&&") else ""
            self.position += 1
        if self.kind() != IDENTIFIER:
            return None
        name, first = self.text, self.here
        self.position += 1
        while self.text == ")":
            self.position += 1
        self._skip_attributes()
        dimensions: list[Node] = []
        while self.text == "[":
            self.position += 1
            dimensions.append(EMPTY if self.text == "]" else self.expression())
            self._to_bracket("]")
        kids = list(dimensions)
        if self.take("="):
            kids.append(self.initialiser())
        elif self.text in ("(", "{"):
            kids.append(self._constructed())
        elif self.take(":"):
            self.expression()
        return Node("variable", first, self.before, name, tuple(kids), written_type + pointer, len(dimensions))

    def _skip_attributes(self) -> None:
        """`int a [[maybe_unused]]`, `int a __attribute__((unused))`."""
        while not self.done:
            place = self.position
            if self.text == "[" and self.peek() == "[":
                self._skip_brackets()
            else:
                self.position = self._past_attribute(place)
            if self.position == place:
                return

    def _constructed(self) -> Node:
        """`T x(a, b)` and `T x{a, b}`: the single value, or a list of several."""
        first = self.here
        close = ")" if self.text == "(" else "}"
        self.position += 1
        kids = self._list(close)
        return kids[0] if len(kids) == 1 else Node("list", first, self.before, kids=kids)

    def _condition(self) -> tuple[tuple[Node, ...], Node]:
        """What is done first in the parentheses of a condition, and the condition: an expression or a declaration."""
        if self.kind() == IDENTIFIER and self.peek() == "(":  # `if LIKELY(a)`: the macro has the parentheses
            callee = Node("name", self.here, self.here, self.text)
            self.position += 2
            arguments = self._list(")")
            return (), Node("call", callee.first, self.before, kids=(callee, *arguments))
        if not self.take("("):
            return (), EMPTY
        found: list[Node] = []
        while not self.done and self.text != ")":
            start = self.position
            found.append(self._clause())
            if self.position == start or self.texts[self.position - 1] != ";":
                break
        self._to_closing()
        return tuple(found[:-1]), found[-1] if found else EMPTY

    def _clause(self) -> Node:
        """One part of a condition, with its semicolon."""
        first = self.here
        if self.text in _SKIPPED:
            return self._skip_statement(first)
        if self._declares() and self._is_initialised():
            return self._declaration(first)
        node = self._with_rest(self.comma()) if self.text != ";" else EMPTY
        self.take(";")
        return node


if readers is not None:
    readers.configure_parser(
        Node,
        EMPTY,
        (
            TYPES,
            QUALIFIERS,
            CONTROL,
            _SKIPPED,
            NAMED_CASTS,
            SIZES,
            OPERATING,
            CONTINUING,
            PREFIX,
            ASSIGN,
            ENDING,
            ENDS,
            IN_TYPES,
            NEVER_IN_TEMPLATE_ARGUMENTS,
        ),
        BINARY,
        IN_WORDS,
        _OF_LOOPS,
        DEEPEST,
        LONGEST_CHAIN,
        LONGEST_TEMPLATE_ARGUMENTS,
        TOO_DEEP,
    )
