"""Follows strings through the tokens of one file: what else is done with a text than compiling it at run time."""

from __future__ import annotations

import bisect
import functools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from porter.cpp.brackets import split_commas
from porter.cpp.lex import IDENTIFIER, Tokens

CREATES = frozenset({"nvrtcCreateProgram", "hiprtcCreateProgram"})
_SOURCE_ARGUMENT, _HEADERS_ARGUMENT = 1, 4
_PASSED_ON = frozenset({"c_str", "data", "str"})
"""Members that give the same text."""
_MEASURED = frozenset({"size", "length", "empty", "reserve"})
_HARMLESS_CALLS = {"sizeof": 0, "strlen": 0, "puts": 0, "fputs": 0, "printf": 1, "fprintf": 2}
"""Functions that measure or print a text, from this argument on: as a format it is read."""
_SHOWN = frozenset({"cout", "cerr", "clog"})
_STRINGS = frozenset({"string", "string_view"})
_ADDS = frozenset({"+=", "<<"})
_NOT_TYPES = frozenset({"return", "else", "case", "new", "delete", "throw", "co_return", "sizeof"})
_OPENS, _CLOSES = frozenset("([{"), frozenset(")]}")
_BEFORE_VALUE = frozenset({"(", ",", "=", "return", "+=", "<<", "{"})
_AFTER_VALUE = frozenset({")", ",", ";", "<<", "}"})
_LONGEST_SUM = 400
_DEEPEST = 40
_COMPILES = re.compile(r"nvrtc|hiprtc|\brtc_|_rtc\b|Rtc|RTC|compile(?!d)|Compile(?!d)|\bjit|_jit|Jit|JIT")
"""In the name of a function that is in another file."""


@dataclass
class Flow:
    """The questions about one file, and the answers so far."""

    tokens: Tokens
    joined: bool = False
    """Set when a text that was asked about is put together with others."""
    elsewhere: str = ""
    """Set to the reason why another file is taken to compile a text that was asked about."""
    _answers: dict[int, str | None] = field(default_factory=dict)
    _notes: dict[int, tuple[bool, str]] = field(default_factory=dict)
    _declared: dict[str, list[int]] = field(default_factory=dict)
    _functions: dict[str, list[int]] = field(default_factory=dict)
    _depth: int = 0

    def holder(self, first: int, last: int) -> int | None:
        """The name declared with tokens and nothing else: `a = ..;`, `a[] = {..};`, `a(..);`, `#define a ..`."""
        tokens, texts = self.tokens, self.tokens.texts
        directive = tokens.directive_of(first)
        if directive is not None:
            whole = directive.name == "define" and (directive.first + 1, directive.last) == (first, last + 1)
            return directive.first if whole and tokens.end(directive.first) < tokens.starts[first] else None
        before, after = first - 1, last + 1
        while before > 0 and after < len(tokens) and texts[before] in "({" and tokens.partner.get(before) == after:
            if texts[before] == "(" and texts[before - 1] != "=" and not self.is_declarator(before - 1):
                return None
            before, after = before - 1, after + 1
        if after >= len(tokens) or texts[after] not in (";", ","):
            return None
        if texts[before] == "=":
            before -= 1
            if texts[before] == "]":
                before = tokens.partner.get(before, 1) - 1
                if texts[first - 1] == "{" and texts[before - 1] != "char":
                    return None  # an array of texts
            return before if tokens.kinds[before] == IDENTIFIER and self.is_declarator(before) else None
        return before if self.is_declarator(before) and before < first - 1 else None

    def is_declarator(self, index: int) -> bool:
        """Whether the name at a token is being declared: a type, `*` or `&` stands before it."""
        tokens = self.tokens
        if index < 1 or tokens.kinds[index] != IDENTIFIER:
            return False
        before = index - 1
        while before > 1 and tokens.texts[before] == "::" and tokens.kinds[before - 1] == IDENTIFIER:
            before -= 2
        text = tokens.texts[before]
        return text in ("*", "&", ">") or (tokens.kinds[before] == IDENTIFIER and text not in _NOT_TYPES)

    def is_compiled(self, first: int, last: int) -> bool:
        """Whether the value of tokens goes where it is compiled at run time, and nowhere else."""
        first, last = self._wrapped(first, last)
        call = self._call_around(first, last)
        if call is not None:
            place, number = call
            name = self.tokens.texts[place]
            if name in CREATES:
                return number == _SOURCE_ARGUMENT
            builder = self._appended_to(first)
            parameter = builder if builder is not None else self._parameter(name, number)
            if parameter is not None:
                return self.misuse(parameter) is None
            if not self._compiles_elsewhere(place):
                return False
            self.elsewhere = f"{name} of another file compiles it, by its name"
            return True
        returned = self._returned_by(first, last)
        if returned is not None:
            return self._answer(returned, self._result_misuse) is None
        array = self._array_around(first, last)
        if array is not None:
            return self._answer(array, self._array_misuse) is None
        target = self.holder(first, last)
        if target is None:
            target = self._assigned(first, last)
        if target is not None:
            return self.misuse(target) is None
        whole = self._sum_around(first, last)
        self.joined |= whole is not None
        return whole is not None and self.is_compiled(*whole)

    def misuse(self, declared: int) -> str | None:
        """What else is done with a variable or parameter; None when its text is compiled, at most measured or shown."""
        return self._answer(declared, self._misuse)

    def _answer(self, name: int, find: Callable[[int], str | None]) -> str | None:
        """The answer about the name at a token, found once."""
        if name not in self._answers:
            self._answers[name] = None  # while it is being found out: `s = s + t` is no other use
            before = self.joined, self.elsewhere
            self.joined, self.elsewhere = False, ""
            self._depth += 1
            self._answers[name] = find(name) if self._depth < _DEEPEST else "it is handed on too often"
            self._depth -= 1
            self._notes[name] = self.joined, self.elsewhere
            self.joined, self.elsewhere = before
        joined, elsewhere = self._notes.get(name, (False, ""))
        self.joined, self.elsewhere = self.joined or joined, self.elsewhere or elsewhere
        return self._answers[name]

    def _misuse(self, declared: int) -> str | None:
        name = self.tokens.texts[declared]
        compiled = self._is_for_others(declared)
        for use in self._uses(declared):
            if self._is_built(use):
                self.joined = True
                continue
            if self._is_measured(use):
                continue
            if not self.is_compiled(use, use):
                return f"{name} has another use, in line {self._line(use)}"
            compiled = True
        return None if compiled else f"{name} is not handed to nvrtcCreateProgram, as far as this file tells"

    def _is_for_others(self, declared: int) -> bool:
        """Whether nothing in the file uses what it declares for all: other files must."""
        if self._scope(declared)[1] < len(self.tokens) or next(self._uses(declared), None) is not None:
            return False
        self.elsewhere = "nothing in this file uses it: another file must compile it"
        return True

    def _result_misuse(self, function: int) -> str | None:
        """As for a variable, of what a function returns."""
        texts, name = self.tokens.texts, self.tokens.texts[function]
        calls = [index for index in self.tokens.names[name] if index != function]
        if not calls:
            self.elsewhere = f"nothing in this file calls {name}: another file must compile its result"
        for call in calls:
            last = self.tokens.partner.get(call + 1) if texts[call + 1] == "(" else None
            if last is None or not (self._is_declared_only(call, last) or self.is_compiled(call, last)):
                return f"the result of {name} has another use"
        return None

    def _is_declared_only(self, name: int, closing: int) -> bool:
        """Whether a function is declared there, without a body."""
        return self.is_declarator(name) and self.tokens.texts[closing + 1] == ";"

    def _array_misuse(self, declared: int) -> str | None:
        """As for a variable, of an array of texts: headers of a program, or sources of several."""
        uses = list(self._uses(declared))
        good = bool(uses) and all(self._is_array_compiled(use) or self._is_measured(use) for use in uses)
        return None if good else f"{self.tokens.texts[declared]} has another use"

    def _is_array_compiled(self, use: int) -> bool:
        tokens, texts = self.tokens, self.tokens.texts
        call = self._call_around(use, use)
        if call is not None:
            return texts[call[0]] in CREATES and call[1] == _HEADERS_ARGUMENT
        after = tokens.partner.get(use + 1) if texts[use + 1] == "[" else None
        return after is not None and self.is_compiled(use, after)

    def _line(self, index: int) -> int:
        return self.tokens.text.count("\n", 0, self.tokens.starts[index]) + 1

    def _uses(self, declared: int) -> Iterator[int]:
        """Where a variable is named in the block that declares it, or a parameter in the body of its function."""
        begin, end = self._scope(declared)
        for index in self.tokens.names[self.tokens.texts[declared]]:
            if index != declared and begin < index < end:
                yield index

    def _scope(self, declared: int) -> tuple[int, int]:
        tokens = self.tokens
        body = self._body_of_parameter(declared)
        if body is not None:
            return body, tokens.partner[body]
        if tokens.directive_of(declared) is not None:
            return -1, len(tokens)
        block = next((opening for opening in self._around(declared) if not self._is_namespace(opening)), None)
        return (-1, len(tokens)) if block is None else (declared, tokens.partner[block])

    def _around(self, index: int) -> Iterator[int]:
        """The opening braces around a token, from the inside out."""
        place = bisect.bisect_left(self._braces, index) - 1
        opening = self._braces[place] if place >= 0 else None
        while opening is not None:
            if index < self.tokens.partner[opening]:
                yield opening
            opening = self._parents[opening]

    def _is_namespace(self, opening: int) -> bool:
        """Whether a brace opens a namespace or a class, whose names are used after it too."""
        for before in range(opening - 1, max(-1, opening - 12), -1):
            text = self.tokens.texts[before]
            if text in ("namespace", "class", "struct", "extern"):
                return True
            if text in (")", ";", "{", "}", "="):
                return False
        return False

    # -- expressions ----------------------------------------------------------------------------------

    def _wrapped(self, first: int, last: int) -> tuple[int, int]:
        """With the scope before a name, `.c_str()` after it, and parentheses or `std::string(...)` around."""
        texts, tokens = self.tokens.texts, self.tokens
        while True:
            before = first, last
            while first > 1 and texts[first - 1] == "::" and tokens.kinds[first - 2] == IDENTIFIER:
                first -= 2
            if texts[last + 1] == "." and texts[last + 3 : last + 5] == ["(", ")"]:
                last += 4 if texts[last + 2] in _PASSED_ON else 0
            enclosed = first > 1 and texts[first - 1] in "({" and tokens.partner.get(first - 1) == last + 1
            if enclosed and texts[first - 2] in _STRINGS and not self._declares_string(first - 2):
                first, last = first - 2, last + 1
            elif enclosed and texts[first - 1] == "(" and texts[first - 2] in _BEFORE_VALUE:
                first, last = first - 1, last + 1
            if (first, last) == before:
                return before

    def _declares_string(self, index: int) -> bool:
        """Whether `string` is the name of a variable, rather than the type."""
        return self.is_declarator(index) and self.tokens.texts[index - 1] != "::"

    def _call_around(self, first: int, last: int) -> tuple[int, int] | None:
        """The name of the function whose argument the tokens are, and which argument, when they are all of it."""
        tokens, texts = self.tokens, self.tokens.texts
        if first < 2 or last + 1 >= len(tokens):
            return None
        if texts[first - 1] not in ("(", ",") or texts[last + 1] not in (",", ")"):
            return None
        number, index = 0, first - 1
        while index > 0 and texts[index] != "(":
            if texts[index] in _CLOSES:
                index = tokens.partner.get(index, 0)
            elif texts[index] in _OPENS or texts[index] == ";":
                return None
            number += texts[index] == ","
            index -= 1
        name = index - 1
        if name < 0 or tokens.kinds[name] != IDENTIFIER or self.is_declarator(name):
            return None
        return name, number

    def _sum_around(self, first: int, last: int) -> tuple[int, int] | None:
        """All of `a + b + c` around an operand."""
        tokens, texts = self.tokens, self.tokens.texts
        if first < 1 or last + 1 >= len(tokens) or "+" not in (texts[first - 1], texts[last + 1]):
            return None
        begin, end = first, last
        while begin > max(0, first - _LONGEST_SUM) and texts[begin - 1] not in _BEFORE_VALUE:
            if texts[begin - 1] in ("?", ":", ";", "}"):
                return None
            partner = tokens.partner.get(begin - 1) if texts[begin - 1] in _CLOSES else begin - 1
            begin = begin - 1 if partner is None else partner
        while end + 1 < min(len(tokens), last + _LONGEST_SUM) and texts[end + 1] not in _AFTER_VALUE:
            if texts[end + 1] in ("?", ":", "{"):
                return None
            partner = tokens.partner.get(end + 1) if texts[end + 1] in _OPENS else end + 1
            end = end + 1 if partner is None else partner
        return (begin, end) if (begin, end) != (first, last) else None

    def _assigned(self, first: int, last: int) -> int | None:
        """The declaration of the variable in `v = x;`, `v += x;` or `v << x << ...;`."""
        texts = self.tokens.texts
        if first < 2 or texts[first - 1] not in ("=", "+=", "<<") or texts[last + 1] not in (";", "<<"):
            return None
        index = first - 1
        if texts[index] == "<<":
            while index > 0 and texts[index - 1] not in (";", "{", "}"):
                index -= 1
            return self._declaration(index) if texts[index + 1] == "<<" else None
        return self._declaration(index - 1) if texts[index - 2] in (";", "{", "}", ")") else None

    def _appended_to(self, first: int) -> int | None:
        """The declaration of the variable in `v.append(x)`."""
        texts = self.tokens.texts
        if texts[first - 1] == "(" and texts[first - 3 : first - 1] == [".", "append"]:
            return self._declaration(first - 4)
        return None

    def _is_built(self, use: int) -> bool:
        """Whether a use only gives the variable a text, or adds to it."""
        texts = self.tokens.texts
        after, before = texts[use + 1 : use + 3], texts[use - 1]
        if after == [".", "append"]:
            return before in (";", "{", "}", ")")
        return bool(after) and (after[0] in _ADDS or after[0] == "=") and before in (";", "{", "}", ")")

    def _is_measured(self, use: int) -> bool:
        texts = self.tokens.texts
        if texts[use + 1] == "." and texts[use + 2] in _MEASURED:
            return True
        first, last = self._wrapped(use, use)
        call = self._call_around(first, last)
        if call is not None:
            return call[1] >= _HARMLESS_CALLS.get(texts[call[0]], call[1] + 1)
        return texts[first - 1] == "<<" and texts[last + 1] in ("<<", ";") and self._is_shown(first)

    def _is_shown(self, index: int) -> bool:
        """Whether the statement writes to a stream that people read."""
        while index > 0 and self.tokens.texts[index] not in (";", "{", "}"):
            index -= 1
            if self.tokens.texts[index] in _SHOWN:
                return True
        return False

    def _returned_by(self, first: int, last: int) -> int | None:
        """The name of the function of this file that has `return x;`."""
        tokens, texts = self.tokens, self.tokens.texts
        if first < 1 or texts[first - 1] != "return" or texts[last + 1] != ";":
            return None
        for opening in self._around(first):
            before = opening - 1
            while before > 0 and texts[before] in ("const", "noexcept", "override", "final"):
                before -= 1
            parenthesis = tokens.partner.get(before) if texts[before] == ")" else None
            if parenthesis is not None and parenthesis and self._body(parenthesis - 1) == opening:
                return parenthesis - 1
        return None

    @functools.cached_property
    def _braces(self) -> list[int]:
        """Opening braces, in order."""
        texts = self.tokens.texts
        return sorted(index for index in self.tokens.partner if texts[index] == "{")

    @functools.cached_property
    def _parents(self) -> dict[int, int | None]:
        """For each opening brace the one around it."""
        found: dict[int, int | None] = {}
        stack: list[int] = []
        for opening in self._braces:
            while stack and self.tokens.partner[stack[-1]] < opening:
                stack.pop()
            found[opening] = stack[-1] if stack else None
            stack.append(opening)
        return found

    def _array_around(self, first: int, last: int) -> int | None:
        """The array that is declared with the tokens as an element: `a[] = {x, y};`."""
        tokens, texts = self.tokens, self.tokens.texts
        if first < 1 or texts[first - 1] not in ("{", ",") or texts[last + 1] not in (",", "}"):
            return None
        index = first - 1
        while index > 0 and texts[index] != "{":
            if texts[index] in _CLOSES:
                index = tokens.partner.get(index, 0)
            elif texts[index] in _OPENS or texts[index] == ";":
                return None
            index -= 1
        closed = index - 2 if texts[index - 1] == "=" else index - 1
        name = tokens.partner.get(closed, 0) - 1 if texts[closed] == "]" else -1
        return name if name > 0 and tokens.kinds[name] == IDENTIFIER and self.is_declarator(name) else None

    # -- declarations ---------------------------------------------------------------------------------

    def _declaration(self, use: int) -> int | None:
        """Where the variable at a token is declared, if it is one of this file."""
        tokens = self.tokens
        if tokens.kinds[use] != IDENTIFIER:
            return None
        name = tokens.texts[use]
        if name not in self._declared:
            self._declared[name] = [
                index
                for index in tokens.names[name]
                if self.is_declarator(index)
                and tokens.texts[index - 1] not in ("&", "*")
                and tokens.texts[index + 1] in (";", "=", "(", "{", ",")
            ]
        place = bisect.bisect_left(self._declared[name], use) - 1
        found = self._declared[name][place] if place >= 0 else None
        return found if found is not None and self._scope(found)[1] > use else None

    def _parameter(self, name: str, number: int) -> int | None:
        """A parameter of the one function of that name that the file defines."""
        tokens = self.tokens
        bodies = self._defined(name)
        if len(bodies) != 1:
            return None
        opening = bodies[0] + 1
        parameters = split_commas(tokens, opening + 1, tokens.partner[opening])
        if number >= len(parameters):
            return None
        first, last = parameters[number]
        stop = next((i for i in range(first, last) if tokens.texts[i] == "="), last)
        names = [i for i in range(first, stop) if tokens.kinds[i] == IDENTIFIER]
        return names[-1] if len(names) > 1 else None

    def _compiles_elsewhere(self, place: int) -> bool:
        """Whether the function named at a token is in another file and compiles, by its name and scope."""
        texts = self.tokens.texts
        name = texts[place]
        if self._defined(name):
            return False
        scope = texts[place - 2] if place > 1 and texts[place - 1] == "::" else ""
        return _COMPILES.search(f"{scope} {name}") is not None

    def _defined(self, name: str) -> list[int]:
        """Where functions of a name are defined in the file."""
        if name not in self._functions:
            places = self.tokens.names.get(name, ())
            self._functions[name] = [index for index in places if self._body(index) is not None]
        return self._functions[name]

    def _body(self, name: int) -> int | None:
        """The opening brace of the function that is defined with the name at a token."""
        tokens, texts = self.tokens, self.tokens.texts
        if texts[name + 1] != "(" or tokens.directive_of(name) is not None:
            return None
        if not self.is_declarator(name):
            return None
        after = tokens.partner.get(name + 1, len(tokens)) + 1
        while after < len(tokens) and texts[after] in ("const", "noexcept", "override", "final"):
            after += 1
        return after if texts[after] == "{" and after in tokens.partner else None

    def _body_of_parameter(self, index: int) -> int | None:
        """The body of the function whose parameter is declared at a token."""
        tokens, texts = self.tokens, self.tokens.texts
        opening = index
        while opening > 0 and texts[opening] not in ("(", ";", "{", "}"):
            opening = tokens.partner.get(opening, opening) if texts[opening] in _CLOSES else opening
            opening -= 1
        if texts[opening] != "(" or not index < tokens.partner.get(opening, -1):
            return None
        return self._body(opening - 1) if opening else None
