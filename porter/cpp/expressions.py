"""Parses expressions; what it cannot read becomes opaque."""

from __future__ import annotations

import abc

from porter.cpp.brackets import words
from porter.cpp.cursor import DEEPEST, LONGEST_CHAIN
from porter.cpp.lex import CHARACTER, IDENTIFIER, NUMBER, STRING
from porter.cpp.nodes import EMPTY, Node
from porter.cpp.types import CONTROL, QUALIFIERS, TYPES, TypeReader

NAMED_CASTS = words("static_cast reinterpret_cast const_cast dynamic_cast")
SIZES = words("sizeof alignof decltype typeid noexcept __alignof __alignof__")
OPERATING = SIZES | words("not compl new delete throw")
CONTINUING = frozenset({"(", "[", ".", "->", "++", "--", "{", "<<<", "<", "::"})
"""What may follow a name or a number within one operand."""
PREFIX = frozenset({"+", "-", "!", "~", "*", "&", "++", "--", "&&", "not", "compl"})
BINARY = {
    "*": 11, "/": 11, "%": 11, "+": 10, "-": 10, "<<": 9, ">>": 9, "<": 8, ">": 8, "<=": 8, ">=": 8,
    "==": 7, "!=": 7, "&": 6, "^": 5, "|": 4, "&&": 3, "and": 3, "||": 2, "or": 2, ".*": 12, "->*": 12,
    "not_eq": 7, "bitand": 6, "xor": 5, "bitor": 4,
}  # fmt: skip
ASSIGN = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "and_eq", "or_eq", "xor_eq"})
IN_WORDS = {
    "and": "&&", "or": "||", "not": "!", "bitand": "&", "bitor": "|", "xor": "^", "compl": "~",
    "not_eq": "!=", "and_eq": "&=", "or_eq": "|=", "xor_eq": "^=",
}  # fmt: skip
"""Operators that may be written as words."""
_AFTER_ARGUMENTS = frozenset({"(", "::", "{", "<<<", "||", "&&", "or", "and", "?", "==", "!="})
"""What begins no operand, or only a call's arguments: the `>` before it compares nothing."""
ENDING = frozenset({")", "]", ";", ","})
ENDS = frozenset({")", "]", "}", ";", ",", ":"})
IN_TYPES = frozenset({"*", "&", "::", "<", ">", ",", "&&"})


class ExpressionReader(TypeReader, abc.ABC):
    """Recursive descent by the strength of operators."""

    @abc.abstractmethod
    def block(self) -> Node:
        """The block that begins here: the body of a lambda."""

    @abc.abstractmethod
    def statement(self) -> Node:
        """The statement that begins here: the argument of a macro."""

    def comma(self) -> Node:
        first = self.here
        value = self.expression()
        if self.text != ",":
            return value
        kids = [value]
        while self.take(","):
            kids.append(self.expression())
        return Node("comma", first, self.before, kids=tuple(kids))

    def expression(self) -> Node:
        after = self.position + 1
        if after < self.count and self.texts[after] in ENDING and (plain := self._plain_operand()) is not None:
            return plain
        if self.depth >= DEEPEST:
            return self._too_deep()
        self.depth += 1
        node = self._ternary()
        operator = self.text
        if operator in ASSIGN:
            self.position += 1
            right = self.initialiser()
            node = Node("assign", node.first, self.before, IN_WORDS.get(operator, operator), (node, right))
        self.depth -= 1
        return node

    def _too_deep(self) -> Node:
        first = self.here
        self._skip_too_deep()
        return Node("opaque", first, self.before)

    def _ternary(self) -> Node:
        condition = self._binary()
        if not self.take("?"):
            return condition
        yes = self.comma() if self.text != ":" else EMPTY
        self.take(":")
        no = self.expression()
        return Node("ternary", condition.first, self.before, kids=(condition, yes, no))

    def _binary(self) -> Node:
        return self._operators(self._unary(), 0)

    def _operators(self, left: Node, lowest: int) -> Node:
        """What an operand begins, with all operators that bind more strongly than `lowest`."""
        for _ in range(LONGEST_CHAIN):
            operator = self.texts[self.position] if self.position < self.count else ""
            strength = BINARY.get(operator, 0)
            if strength <= lowest:
                return left
            self.position += 1
            right = self._unary()
            if self.position < self.count and BINARY.get(self.texts[self.position], 0) > strength:
                right = self._operators(right, strength)
            left = Node("binary", left.first, self.before, IN_WORDS.get(operator, operator), (left, right))
        return self._long_chain(left)

    def _long_chain(self, left: Node) -> Node:
        """The rest of a chain of operators in one node, which says no more than what is in it."""
        kids = [left]
        while not self.done and self.text not in ENDS and self.text not in ("?", *ASSIGN):
            self.position += 1
            kids.append(self._unary())
        return Node("opaque", left.first, self.before, kids=tuple(kids))

    def _unary(self) -> Node:
        if (plain := self._plain_operand()) is not None:
            return plain
        if self.depth >= DEEPEST:
            return self._too_deep()
        self.depth += 1
        node = self._operand()
        self.depth -= 1
        return node

    def _operand(self) -> Node:
        first, text = self.here, self.text
        if text in PREFIX:
            self.position += 1
            operand = self._unary()
            return Node("unary", first, self.before, IN_WORDS.get(text, text), (operand,))
        if text in SIZES:
            return self._size(first)
        if text in ("new", "delete", "throw"):
            self.position += 1
            return Node("opaque", first, self.before, text, (self._unary(),))
        if text == "(" and self._is_cast():
            return self._cast(first)
        return self._postfix(self._primary())

    def _plain_operand(self) -> Node | None:
        """A name or a number that nothing belongs to: most operands are."""
        position = self.position
        if position + 1 >= self.count or self.texts[position + 1] in CONTINUING:
            return None
        kind, text = self.kinds[position], self.texts[position]
        if kind == IDENTIFIER:
            if text in OPERATING:
                return None
        elif kind != NUMBER or self.kinds[position + 1] == IDENTIFIER:
            return None
        self.position = position + 1
        place = self.places[position]
        return Node("name" if kind == IDENTIFIER else "number", place, place, text)

    def _size(self, first: int) -> Node:
        self.position += 1
        if self.text == "(":
            self._skip_brackets()
        else:
            self._unary()
        return self._postfix(Node("size", first, self.before))

    def _is_cast(self) -> bool:
        """Whether the parenthesis that opens here holds a type and an operand follows."""
        close = self._matching(self.position)
        if close is None or close == self.position + 1:
            return False
        inside = self.texts[self.position + 1 : close]
        kinds = self.kinds[self.position + 1 : close]
        if any(k not in (IDENTIFIER,) and t not in IN_TYPES for k, t in zip(kinds, inside, strict=True)):
            return False
        after = self.texts[close + 1]
        after_kind = self.kinds[close + 1]
        known = any(t in TYPES or t in QUALIFIERS for t in inside) or inside[-1] in ("*", "&")
        if known:
            return (after not in ENDS and after not in ("?", "=", "==", "]")) or after == "("
        if len(inside) > 1 and "::" not in inside and "<" not in inside:
            return False
        return (after_kind in (IDENTIFIER, NUMBER, STRING, CHARACTER) and after not in BINARY) or after == "{"

    def _cast(self, first: int) -> Node:
        close = self._matching(self.position)
        assert close is not None
        text = " ".join(self.texts[self.position + 1 : close])
        self.position = close + 1
        operand = self._braced() if self.text == "{" else self._unary()
        return Node("cast", first, self.before, text, (operand,))

    def _primary(self) -> Node:
        first, kind, text = self.here, self.kind(), self.text
        if text == "(":
            self.position += 1
            inner = self.block() if self.text == "{" else self.comma() if self.text != ")" else EMPTY
            self._to_closing()
            return Node("cast", first, self.before, "", (inner,))
        if text == "{":
            return self._braced()
        if text == "[":
            return self._lambda(first)
        if kind in (NUMBER, CHARACTER):
            self.position += 1
            while self.kind() == IDENTIFIER and self.tokens.starts[self.here] == self.tokens.end(self.before):
                self.position += 1
            return Node("number", first, self.before, text)
        if kind == STRING:
            while self.kind() == STRING:
                self.position += 1
            return Node("string", first, self.before, text)
        if text in NAMED_CASTS and self.peek() == "<":
            return self._named_cast(first)
        if kind == IDENTIFIER or text == "::":
            return self._name(first)
        if text in ENDS or self.done:
            return Node("opaque", first, first - 1)
        self.position += 1
        return Node("opaque", first, first, text)

    def _named_cast(self, first: int) -> Node:
        start = self.position + 2
        after = self._past_template(self.position + 1)
        if after is None:
            self.position += 1
            return Node("opaque", first, first)
        text = " ".join(self.texts[start : after - 1])
        self.position = after
        self.take("(")
        operand = self.comma()
        self._to_closing()
        return Node("cast", first, self.before, text, (operand,))

    def _name(self, first: int) -> Node:
        parts: list[str] = []
        kids: tuple[Node, ...] = ()
        extra = ""
        self.take("::")
        while self.kind() == IDENTIFIER:
            parts.append(self.text)
            self.position += 1
            if self.text == "<":
                after = self._template_arguments_end()
                if after is not None:
                    extra = " ".join(self.texts[self.position + 1 : after - 1])
                    kids = self._template_arguments(after)
            if self.text == "::" and self.kind(1) == IDENTIFIER:
                self.position += 1
                self.take("template")
                continue
            break
        return Node("name", first, self.before, "::".join(parts), kids, extra)

    def _template_arguments_end(self) -> int | None:
        after = self._past_template(self.position)
        if after is None:
            return None
        follow = self.texts[after]
        if follow in _AFTER_ARGUMENTS:
            return after
        return after if follow in (")", ",", ";", "<") and self._plain_arguments(after) else None

    def _plain_arguments(self, after: int) -> bool:
        inside = self.texts[self.position + 1 : after - 1]
        return not any(text in ("&&", "||", "+", "-", "==", "(", "[") for text in inside)

    def _template_arguments(self, after: int) -> tuple[Node, ...]:
        """The arguments that are expressions; types become names."""
        kids: list[Node] = []
        self.position += 1
        limit = after - 1
        while self.position < limit:
            start = self.position
            kids.append(self._template_argument(limit))
            self.take(",")
            if self.position == start:
                self.position += 1
        self.position = after
        return tuple(kids)

    def _template_argument(self, limit: int) -> Node:
        first, start = self.here, self.position
        depth = 0
        end = start
        while end < limit:
            text = self.texts[end]
            if text in "([{<":
                depth += 1
            elif text in (")", "]", "}", ">"):
                depth -= 1
            elif text == "," and depth == 0:
                break
            end += 1
        inner = type(self)(self.tokens, self.places[start:end], self.depth)
        is_type = any(text in TYPES or text in QUALIFIERS for text in inner.texts)
        node = Node("type", first, self.places[end - 1]) if is_type or end == start else inner._ternary()
        self.position = end
        return node

    def _postfix(self, node: Node) -> Node:
        for _ in range(LONGEST_CHAIN):
            text = self.text
            if text not in CONTINUING:
                return node
            if text == "(":
                self.position += 1
                arguments = self._list(")")
                node = Node("call", node.first, self.before, kids=(node, *arguments))
            elif text == "[":
                self.position += 1
                place = self.comma() if self.text != "]" else EMPTY
                self._to_bracket("]")
                node = Node("index", node.first, self.before, kids=(node, place))
            elif text in (".", "->"):
                node = self._member(node)
            elif text in ("++", "--"):
                self.position += 1
                node = Node("postfix", node.first, self.before, text, (node,))
            elif text == "{" and node.kind == "name" and (node.text in TYPES or self._is_constructed()):
                inner = self._braced()
                node = Node("call", node.first, self.before, kids=(node, *inner.kids))
            elif text == "<<<":
                node = self._launch(node)
            else:
                return node
        return self._long_chain(node)

    def _is_constructed(self) -> bool:
        """Whether the brace that opens here, after a name, is the end of an expression: `Sum{}`, no body."""
        close = self._matching(self.position)
        follow = self.texts[close + 1] if close is not None else ""
        return follow in (")", ",", ";", ".") or (follow == "(" and not self._holds_statements())

    def _launch(self, node: Node) -> Node:
        """`kernel<<<grid, block>>>(...)`: a call whose callee is a launch node."""
        self.position += 1
        kids = [node]
        while not self.done and self.text != ">>>":
            start = self.position
            kids.append(self.expression())
            self.take(",")
            if self.position == start:
                self.position += 1
        self.take(">>>")
        return Node("launch", node.first, self.before, kids=tuple(kids))

    def _member(self, node: Node) -> Node:
        self.position += 1
        self.take("template")
        self.take("~")
        name = self.text
        if self.kind() != IDENTIFIER:
            return Node("opaque", node.first, self.before, kids=(node,))
        self.position += 1
        if self.text == "<" and self._template_arguments_end() is not None:
            after = self._template_arguments_end()
            assert after is not None
            self.position = after
        return Node("member", node.first, self.before, name, (node,))

    def _lambda(self, first: int) -> Node:
        captured = self._captured()
        while not self.done and self.text not in ("{", ";", ")", "]", "}", ","):
            past = self._past_template(self.position) if self.text == "<" else None
            if past is not None:
                self.position = past
            elif self.text in ("(", "["):
                self._skip_brackets()
            else:
                self.position += 1
        kids = (self.block(), *captured) if self.text == "{" else ()
        return Node("lambda", first, self.before, kids=kids)

    def _captured(self) -> list[Node]:
        """The variables that a lambda makes of its own: `[a = f(b), &c]`."""
        close = self._matching(self.position)
        self.position += 1
        found: list[Node] = []
        while close is not None and self.position < close:
            name, place = self.text, self.here
            is_made = self.kind() == IDENTIFIER and self.peek() == "="
            self.position += 1
            if is_made:
                self.position += 1
                value = self.initialiser()
                found.append(Node("variable", place, self.before, name, (value,)))
        if close is not None:
            self.position = close + 1
        return found

    def initialiser(self) -> Node:
        return self._braced() if self.text == "{" else self.expression()

    def _braced(self) -> Node:
        if self.depth >= DEEPEST:
            return self._too_deep()
        self.depth += 1
        first = self.here
        self.position += 1
        kids = self._list("}")
        self.depth -= 1
        return Node("list", first, self.before, kids=kids)

    def _list(self, close: str) -> tuple[Node, ...]:
        kids: list[Node] = []
        while not self.done and self.text != close:
            start = self.position
            kids.append(self._item())
            self.take(",")
            if self.position == start:
                self.position += 1
        self.take(close)
        return tuple(kids)

    def _item(self) -> Node:
        """One of a list: a value, that of a member (`.a = 1`) or element (`[2] = 1`), or statements for a macro."""
        text = self.text
        if text == "{":
            return self.block() if self._holds_statements() else self._braced()
        if text == "." and self.kind(1) == IDENTIFIER and self.peek(2) in ("=", "{"):
            self.position += 2
            self.take("=")
            return self.initialiser()
        if text == "[" and (close := self._matching(self.position)) is not None and self.texts[close + 1] == "=":
            self.position = close + 2
            return self.initialiser()
        return self.statement() if text in CONTROL else self.expression()

    def _holds_statements(self) -> bool:
        """Whether the brace that opens here is a block: a list has no semicolons of its own."""
        close = self._matching(self.position)
        place = self.position + 1
        while close is not None and place < close:
            if self.texts[place] == ";":
                return True
            inner = self._matching(place) if self.texts[place] in ("(", "[", "{") else None
            place = place + 1 if inner is None else inner + 1
        return False
