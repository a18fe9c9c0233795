"""Parses the body of a function, a macro or an expression into a tree; what it cannot read becomes opaque."""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence

from porter.lex import CHARACTER, IDENTIFIER, NUMBER, STRING, Directive, Tokens
from porter.warp.tree import EMPTY, Node
from porter.written import template_end, words

TYPES = words(
    "void bool char short int long float double unsigned signed auto wchar_t size_t ssize_t half half2 __half "
    "__half2 uint uchar ushort ulong int8_t uint8_t int16_t uint16_t int32_t uint32_t int64_t uint64_t uint2 "
    "uint3 uint4 int2 int3 int4 float2 float3 float4 double2 dim3 __nv_bfloat16 ptrdiff_t clock_t"
)
_QUALIFIERS = words(
    "const volatile static extern constexpr register inline mutable typename struct class enum union "
    "__shared__ __constant__ __device__ __restrict__ __restrict restrict thread_local __managed__ consteval "
    "constinit __forceinline__"
)
_CONTROL = words("if for while do switch return break continue goto case default else asm __asm__ __asm try catch")
_SKIPPED = words("using typedef static_assert namespace template public private friend")
_OF_TYPES = TYPES | _QUALIFIERS
_NAMED_CASTS = words("static_cast reinterpret_cast const_cast dynamic_cast")
_SIZES = words("sizeof alignof decltype typeid noexcept __alignof __alignof__")
_OPERATING = _SIZES | words("not new delete throw")
_CONTINUING = frozenset({"(", "[", ".", "->", "++", "--", "{", "<<<", "<", "::"})
"""What may follow a name or a number within one operand."""
_PREFIX = frozenset({"+", "-", "!", "~", "*", "&", "++", "--", "&&"})
_BINARY = {
    "*": 11, "/": 11, "%": 11, "+": 10, "-": 10, "<<": 9, ">>": 9, "<": 8, ">": 8, "<=": 8, ">=": 8,
    "==": 7, "!=": 7, "&": 6, "^": 5, "|": 4, "&&": 3, "and": 3, "||": 2, "or": 2, ".*": 12, "->*": 12,
}  # fmt: skip
_ASSIGN = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="})
_ENDING = frozenset({")", "]", ";", ","})
_ENDS = frozenset({")", "]", "}", ";", ",", ":"})


def parse_block(tokens: Tokens, opening: int, end: int) -> Node:
    """The block whose `{` is at `opening`; `end` is the index after its `}`."""
    reader = Reader(tokens, _code(tokens, opening, end))
    return reader.block()


def parse_expression(tokens: Tokens, first: int, last: int) -> Node:
    """The expression in the tokens [first, last), commas included."""
    reader = Reader(tokens, _code(tokens, first, last))
    return reader.comma() if not reader.done else EMPTY


def parse_statements(tokens: Tokens, first: int, last: int) -> Node:
    """The statements in the tokens [first, last): a macro's replacement, a stretch of a body."""
    reader = Reader(tokens, _code(tokens, first, last))
    return reader.statements(first, max(first, last - 1))


def _code(tokens: Tokens, first: int, last: int) -> Sequence[int]:
    """The tokens of a stretch that are not in a preprocessor line of their own inside it."""
    own = tokens.directive_of(first) if first < last else None
    places: list[int] = []
    index = first
    for directive in _directives(tokens, first, last):
        if directive == own:
            continue
        places.extend(range(index, min(directive.first, last)))
        index = max(index, directive.last)
    places.extend(range(index, last))
    return places


def _directives(tokens: Tokens, first: int, last: int) -> Iterator[Directive]:
    """The preprocessor lines with tokens in [first, last)."""
    place = bisect.bisect_left(tokens.directives, first, key=lambda d: d.last)
    for directive in tokens.directives[place:]:
        if directive.first >= last:
            return
        if directive.last > max(first, directive.first):
            yield directive


class Reader:
    """Recursive descent over a list of token indices."""

    def __init__(self, tokens: Tokens, places: Sequence[int]) -> None:
        self.tokens = tokens
        self.places = places
        self.position = 0
        self.texts = [tokens.texts[index] for index in places]
        self.kinds = [tokens.kinds[index] for index in places]
        self.count = len(self.texts)
        self._closings: dict[int, int] | None = None

    @property
    def done(self) -> bool:
        return self.position >= self.count

    @property
    def text(self) -> str:
        return self.texts[self.position] if self.position < self.count else ""

    def peek(self, ahead: int = 1) -> str:
        place = self.position + ahead
        return self.texts[place] if place < self.count else ""

    def kind(self, ahead: int = 0) -> str:
        place = self.position + ahead
        return self.kinds[place] if place < self.count else ""

    @property
    def here(self) -> int:
        """Token index of the current position."""
        position = self.position
        if position < self.count:
            return self.places[position]
        return self.places[-1] if self.places else 0

    @property
    def before(self) -> int:
        """Token index of the position just passed."""
        return self.places[self.position - 1] if self.position else self.here

    def take(self, text: str) -> bool:
        position = self.position
        if position < self.count and self.texts[position] == text:
            self.position = position + 1
            return True
        return False

    # Statements

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
        text = self.text
        first = self.here
        if text == "{":
            return self.block()
        if text == ";":
            self.position += 1
            return Node("empty", first, first)
        if text in _CONTROL:
            return self._control(text, first)
        if text in _SKIPPED or self._is_type_definition():
            return self._skip_statement(first)
        if self.kind() == IDENTIFIER and self.peek() == ":" and self.peek(2) != ":":
            self.position += 2
            return Node("label", first, self.before, text)
        if self._declares():
            return self._declaration(first)
        return self._expression_statement(first)

    def _control(self, text: str, first: int) -> Node:
        self.position += 1
        if text == "if":
            return self._if(first)
        if text == "for":
            return self._for(first)
        if text == "while":
            condition = self._parenthesised()
            return self._made("while", first, (condition, self.statement()))
        if text == "do":
            return self._do(first)
        if text == "switch":
            condition = self._parenthesised()
            return self._made("switch", first, (condition, self.statement()))
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
        if text in ("asm", "__asm__", "__asm"):
            return self._asm(first)
        if text == "try":
            return self.block()
        if text == "catch":
            self._parenthesised()
            return self.block()
        return self.statement() if not self.done else Node("empty", first, first)

    def _made(self, kind: str, first: int, kids: tuple[Node, ...], text: str = "") -> Node:
        return Node(kind, first, self.before, text, kids)

    def _ended(self, kind: str, first: int, kids: tuple[Node, ...], text: str = "") -> Node:
        self._to_semicolon()
        return self._made(kind, first, kids, text)

    def _if(self, first: int) -> Node:
        self.take("constexpr")
        condition = self._parenthesised()
        then = self.statement()
        if self.take("else"):
            return self._made("if", first, (condition, then, self.statement()))
        return self._made("if", first, (condition, then))

    def _for(self, first: int) -> Node:
        if not self.take("("):
            return self._made("opaque", first, ())
        colon = self._range_colon()
        if colon is not None:
            variable = self._range_variable(colon)
            over = self.comma()
            self.take(")")
            return self._made("range", first, (variable, over, self.statement()))
        start = self.statement() if not self.take(";") else EMPTY
        condition = EMPTY if self.text == ";" else self.comma()
        self.take(";")
        step = EMPTY if self.text == ")" else self.comma()
        self._to_closing()
        return self._made("for", first, (start, condition, step, self.statement()))

    def _range_colon(self) -> int | None:
        depth = 0
        for place in range(self.position, min(len(self.texts), self.position + 40)):
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
        body = self.statement()
        condition = EMPTY
        if self.take("while"):
            condition = self._parenthesised()
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
        if self.text not in ("struct", "class", "union", "enum"):
            return False
        place = self.position + 1
        while place < len(self.texts) and self.texts[place] not in ("{", ";", "=", "("):
            place += 1
        return place < len(self.texts) and self.texts[place] == "{"

    def _expression_statement(self, first: int) -> Node:
        value = self.comma()
        if self.take(";"):
            return self._made("statement", first, (value,))
        if value.kind == "call" and self.text == "{":
            return self._made("macroloop", first, (value, self.block()))
        if value.kind in ("call", "name") and not self.done and self.text not in _ENDS:
            return self._made("statement", first, (value,))
        if not self.done and self.text not in ("}",):
            self._to_semicolon()
        return self._made("statement", first, (value,))

    # Declarations

    def _declares(self) -> bool:
        """Whether the statement that starts here declares variables."""
        text = self.text
        if self.kind() != IDENTIFIER:
            return False
        if text in _QUALIFIERS:
            return True
        place = self._past_type(self.position)
        if place is None:
            return False
        while place < len(self.texts) and self.texts[place] in ("*", "&", "&&", "const", "volatile", "__restrict__"):
            place += 1
        if place >= len(self.texts) or self.kinds[place] != IDENTIFIER:
            return text in TYPES and self.texts[place : place + 1] == ["["]
        after = self.texts[place + 1] if place + 1 < len(self.texts) else ""
        if text in TYPES:
            return after not in ("::",)
        return after in ("=", ";", ",", "[", "{", "(") and not (
            after == "(" and self.texts[place - 1] in ("*", "&") and place - self.position == 2
        )

    def _past_type(self, place: int) -> int | None:
        """Position after a type's words, scopes and template arguments."""
        start = place
        while place < self.count and self.kinds[place] == IDENTIFIER and self.texts[place] in _OF_TYPES:
            place += 1
        if place > start and not (place < len(self.texts) and self.texts[place] == "<"):
            return place
        if place == start:
            if self.texts[place] in _CONTROL:
                return None
            place += 1
        while place < len(self.texts):
            if self.texts[place] == "::" and place + 1 < len(self.texts):
                place += 2
            elif self.texts[place] == "<":
                after = self._past_template(place)
                if after is None:
                    return None
                place = after
            else:
                return place
        return None

    def _past_template(self, place: int) -> int | None:
        """Position after the `>` of template arguments that open at a position."""
        index = self.places[place]
        after = template_end(self.tokens, index, self.places[-1] + 1)
        if after is None:
            return None
        while place < len(self.places) and self.places[place] < after:
            place += 1
        return place

    def _declaration(self, first: int) -> Node:
        start = self.position
        place = start
        while place < len(self.texts) and self.texts[place] in _QUALIFIERS:
            place += 1
            if self.texts[place - 1] == "extern" and place < len(self.texts) and self.kinds[place] == STRING:
                place += 1
        past = self._past_type(place) if place < len(self.texts) else None
        if past is None:
            return self._skip_statement(first)
        self.position = self._past_attributes(past)
        written_type = " ".join(self.texts[start : self.position])
        kids: list[Node] = []
        while not self.done:
            variable = self._declarator(written_type)
            if variable is None:
                break
            kids.append(variable)
            if not self.take(","):
                break
        if self.text != ")":
            self._to_semicolon()
        return self._made("declaration", first, tuple(kids), written_type)

    def _past_attributes(self, place: int) -> int:
        while place < len(self.texts):
            text = self.texts[place]
            if text in ("__align__", "alignas", "__attribute__") and self.texts[place + 1 : place + 2] == ["("]:
                depth_end = self._matching(place + 1)
                if depth_end is None:
                    return place
                place = depth_end + 1
            elif text in _QUALIFIERS or (text in TYPES and self._follows_type(place)):
                place += 1
            else:
                return place
        return place

    def _follows_type(self, place: int) -> bool:
        return place + 1 < len(self.texts) and self.kinds[place + 1] == IDENTIFIER

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

    def _constructed(self) -> Node:
        """`T x(a, b)` and `T x{a, b}`: the single value, or a list of several."""
        first = self.here
        close = ")" if self.text == "(" else "}"
        self.position += 1
        kids = self._list(close)
        return kids[0] if len(kids) == 1 else Node("list", first, self.before, kids=kids)

    def initialiser(self) -> Node:
        return self._braced() if self.text == "{" else self.expression()

    def _braced(self) -> Node:
        first = self.here
        self.position += 1
        kids = self._list("}")
        return Node("list", first, self.before, kids=kids)

    def _list(self, close: str) -> tuple[Node, ...]:
        kids: list[Node] = []
        while not self.done and self.text != close:
            start = self.position
            kids.append(self.initialiser())
            self.take(",")
            if self.position == start:
                self.position += 1
        self.take(close)
        return tuple(kids)

    # Expressions

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
        if after < self.count and self.texts[after] in _ENDING and (plain := self._plain_operand()) is not None:
            return plain
        left = self._ternary()
        operator = self.text
        if operator in _ASSIGN:
            self.position += 1
            right = self.initialiser()
            return Node("assign", left.first, self.before, operator, (left, right))
        return left

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
        while True:
            operator = self.texts[self.position] if self.position < self.count else ""
            strength = _BINARY.get(operator, 0)
            if strength <= lowest:
                return left
            self.position += 1
            right = self._unary()
            if self.position < self.count and _BINARY.get(self.texts[self.position], 0) > strength:
                right = self._operators(right, strength)
            left = Node("binary", left.first, self.before, operator, (left, right))

    def _unary(self) -> Node:
        if (plain := self._plain_operand()) is not None:
            return plain
        first, text = self.here, self.text
        if text in _PREFIX or text == "not":
            self.position += 1
            operand = self._unary()
            return Node("unary", first, self.before, text, (operand,))
        if text in _SIZES:
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
        if position + 1 >= self.count or self.texts[position + 1] in _CONTINUING:
            return None
        kind, text = self.kinds[position], self.texts[position]
        if kind == IDENTIFIER:
            if text in _OPERATING:
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
        if any(k not in (IDENTIFIER,) and t not in _IN_TYPES for k, t in zip(kinds, inside, strict=True)):
            return False
        after = self.texts[close + 1] if close + 1 < len(self.texts) else ""
        after_kind = self.kinds[close + 1] if close + 1 < len(self.kinds) else ""
        known = any(t in TYPES or t in _QUALIFIERS for t in inside) or inside[-1] in ("*", "&")
        if known:
            return (after not in _ENDS and after not in ("?", "=", "==", "]")) or after == "("
        if len(inside) > 1 and "::" not in inside and "<" not in inside:
            return False
        return after_kind in (IDENTIFIER, NUMBER, STRING, CHARACTER)

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
            inner = self.comma() if self.text != ")" else EMPTY
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
        if text in _NAMED_CASTS and self.peek() == "<":
            return self._named_cast(first)
        if kind == IDENTIFIER or text == "::":
            return self._name(first)
        if text in _ENDS or self.done:
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
                continue
            break
        return Node("name", first, self.before, "::".join(parts), kids, extra)

    def _template_arguments_end(self) -> int | None:
        after = self._past_template(self.position)
        if after is None:
            return None
        follow = self.texts[after] if after < len(self.texts) else ""
        if follow in ("(", "::", "{", ")", ",", ";", "<<<", "<"):
            return after if follow in ("(", "::", "{", "<<<") or self._plain_arguments(after) else None
        return None

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
        inner = Reader(self.tokens, self.places[start:end])
        is_type = any(inner.texts[i] in TYPES or inner.texts[i] in _QUALIFIERS for i in range(len(inner.texts)))
        node = Node("type", first, self.places[end - 1]) if is_type or end == start else inner._ternary()
        self.position = end
        return node

    def _postfix(self, node: Node) -> Node:
        while True:
            text = self.text
            if text not in _CONTINUING:
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

    def _is_constructed(self) -> bool:
        """Whether the brace that opens here, after a name, is the end of an expression: `Sum{}`, no body."""
        close = self._matching(self.position)
        return close is not None and self.texts[close + 1 : close + 2] in ([")"], [","], [";"], ["."])

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
        self._skip_brackets()
        if self.kind() == IDENTIFIER and self.text in ("__device__", "__host__"):
            while self.kind() == IDENTIFIER:
                self.position += 1
        if self.text == "(":
            self._skip_brackets()
        while not self.done and self.text not in ("{", ";", ")", ","):
            self.position += 1
        body = (self.block(),) if self.text == "{" else ()
        return Node("lambda", first, self.before, kids=body)

    # Moving on

    def _parenthesised(self) -> Node:
        if not self.take("("):
            return EMPTY
        if self._declares():
            first = self.here
            node = self._declaration_in_condition(first)
        else:
            node = self.comma() if self.text != ")" else EMPTY
            while self.take(";"):
                node = self.comma()
        self._to_closing()
        return node

    def _declaration_in_condition(self, first: int) -> Node:
        return self._declaration(first)

    def _to_closing(self) -> None:
        """Past the `)` of the parenthesis that is open here."""
        self._to_bracket(")")

    def _to_bracket(self, close: str) -> None:
        while not self.done and self.text != close:
            if self.text in ("(", "[", "{"):
                self._skip_brackets()
            elif self.text in (";", "}"):
                return
            else:
                self.position += 1
        self.take(close)

    def _to_semicolon(self) -> None:
        while not self.done and self.text != ";":
            if self.text in ("(", "[", "{"):
                self._skip_brackets()
            elif self.text in ("}", ")"):
                return
            else:
                self.position += 1
        self.take(";")

    def _skip_brackets(self) -> None:
        close = self._matching(self.position)
        self.position = self.position + 1 if close is None else close + 1

    def _matching(self, place: int) -> int | None:
        """Position of the bracket that closes the one at a position."""
        if self._closings is None:
            self._closings = _pairs(self.texts)
        return self._closings.get(place)


def _pairs(texts: Sequence[str]) -> dict[int, int]:
    """Opening and closing positions of brackets, whatever their shapes."""
    pairs: dict[int, int] = {}
    opened: list[int] = []
    for position, text in enumerate(texts):
        if text in _OPENING:
            opened.append(position)
        elif text in _CLOSING and opened:
            pairs[opened.pop()] = position
    return pairs


_OPENING = frozenset({"(", "[", "{"})
_CLOSING = frozenset({")", "]", "}"})
_IN_TYPES = frozenset({"*", "&", "::", "<", ">", ",", "&&"})
