"""A fast C++/CUDA lexer: significant tokens, comments and preprocessor directives of one file."""

from __future__ import annotations

import bisect
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, compress
from operator import itemgetter
from typing import NamedTuple

from porter.cpp.alternatives import alternatives
from porter.cpp.compiled import readers
from porter.cpp.nesting import Nesting

IDENTIFIER, NUMBER, STRING, CHARACTER, PUNCTUATION = "insqp"
"""Token kinds, one character each: `Tokens.kinds` is a string."""
BEHIND = 8
"""How many empty tokens stand behind the last one: so far one may look ahead, or before the first, without asking."""
NO_TEXTS, NO_KINDS = ("",) * BEHIND, "." * BEHIND

_PIECE = r"""
      [A-KM-QS-TV-Za-tv-z_$\x80-\xff][A-Za-z0-9_$\x80-\xff]*
    | \s+ (?: \\\r?\n\s* )* | (?: \\\r?\n\s* )+
    | [](){}[;,?~@`]
    | \.?[0-9](?:[eEpP][+-]|'?[0-9A-Za-z_.\x80-\xff])*
    | RAW (?:u8|[uUL])?"[^"\\\n]*(?:\\(?:\r\n|(?s:.))[^"\\\n]*)*"?
    | (?:u8|[uUL])?'[^'\\\n]*(?:\\(?:\r\n|(?s:.))[^'\\\n]*)*'?
    | [A-Za-z_$\x80-\xff][A-Za-z0-9_$\x80-\xff]*
    | //[^\\\n]*(?:\\(?:\r\n|(?s:.))[^\\\n]*)* | /\*(?s:.)*?(?:\*/|\Z)
    | <<<|>>>|<<=|>>=|\.\.\.|->\*|::|->|\#\#|\+\+|--|<<|>>|&&|\|\||[<>=!+*/%&|^-]=|(?s:.)
    """
_RAW_STRING = r"""(?:u8|[uUL])?R"(?P<raw>[^\s()\\"]{0,16})\((?s:.)*?(?:\)(?P=raw)"|\Z) |"""
_PLAIN = re.compile(_PIECE.replace("RAW", ""), re.VERBOSE | re.ASCII)
_WITH_RAW_STRINGS = re.compile(_PIECE.replace("RAW", _RAW_STRING), re.VERBOSE | re.ASCII)
_RAW_START = re.compile(r"""R"[^\s()\\"]{0,16}\(""", re.ASCII)
_LAUNCH = re.compile("<<<")
_OPENING_BRACE = re.compile("{")
_BRACKET = re.compile(r"[][(){}]")
_LOGICAL_LINE = re.compile(
    r"""(?:[^\\\n/"]+ | \\(?:\r\n|(?s:.)) | "(?:[^"\\\n]|\\(?:\r\n|(?s:.)))*"?
        | //[^\\\n]*(?:\\(?:\r\n|(?s:.))[^\\\n]*)*
        | /\*(?s:.)*?(?:\*/|\Z) | /)*""",
    re.VERBOSE,
)
_DIRECTIVE = re.compile(r"\#(?:[ \t]|\\\r?\n|/\*.*?\*/)*([A-Za-z_]\w*)?")
_INCLUDE = re.compile(r"""\#[ \t]*(?:include|include_next|import)[ \t]*(?:<([^>\n]*)>|"([^"\n]*)")""")


class Comment(NamedTuple):
    """One comment with its delimiters."""

    start: int
    end: int


class Directive(NamedTuple):
    """One preprocessor line: `name` is `define`, `if`, ...; tokens [first, last) follow the name."""

    name: str
    start: int
    end: int
    first: int
    last: int


class Include(NamedTuple):
    """One #include; [start, end) is the name between the delimiters."""

    name: str
    angled: bool
    start: int
    end: int
    line_start: int
    line_end: int


@dataclass(frozen=True)
class Tokens:
    """Parallel sequences over the significant tokens of a file (no comments, no white space).

    A source may end anywhere, so `texts`, `kinds` and `starts` go on with `BEHIND` empty tokens at the end of the text:
    what looks a few words ahead finds nothing there, and an index below zero finds nothing either.
    """

    text: str
    kinds: str
    starts: list[int]
    texts: list[str]
    comments: tuple[Comment, ...]
    directives: tuple[Directive, ...]
    includes: tuple[Include, ...]

    def __len__(self) -> int:
        return len(self.starts) - BEHIND

    def end(self, index: int) -> int:
        """Offset after a token."""
        return self.starts[index] + len(self.texts[index])

    @cached_property
    def names(self) -> dict[str, list[int]]:
        """Identifier -> indices of its tokens, in order; macro bodies and inactive regions included."""
        if readers is not None:
            return readers.names(self.texts, self.kinds)
        found: defaultdict[str, list[int]] = defaultdict(list)
        chosen = self.kinds.encode("ascii").translate(_IS_IDENTIFIER)
        for index, text in zip(compress(range(len(chosen)), chosen), compress(self.texts, chosen), strict=True):
            found[text].append(index)
        return dict(found)

    @cached_property
    def names_in_lower_case(self) -> str:
        """All identifiers as one text, a line each: whether a part of a name occurs is asked of all at once."""
        return "\n".join(self.names).lower()

    @cached_property
    def first_characters(self) -> str:
        """The first character of each token: a fast way to look for brackets and separators."""
        found = readers.first_characters(self.texts) if readers is not None else None
        return found if found is not None else "".join(map(itemgetter(0), self.texts[:-BEHIND]))

    @cached_property
    def launches(self) -> tuple[int, ...]:
        """Indices of each `<<<`, be it a launch or none."""
        starts, texts = self.starts, self.texts
        places = ((self.at(match.start()), match.start()) for match in _LAUNCH.finditer(self.text))
        return tuple(index for index, start in places if starts[index] == start and texts[index] == "<<<")

    @cached_property
    def partner(self) -> dict[int, int]:
        """Matching bracket for each ( ) [ ] { } token that has one; directives do not pair with code.

        Where the branches of an `#if` each open the same brackets, what closes them belongs to the last branch.
        """
        pairs = self._all_paired
        if len(pairs) == self._count_of_brackets or not self.alternatives:
            return pairs
        pairs, code = {}, []
        done = 0
        brackets = self._brackets_of_code
        for first, last in self.alternatives:
            begin = bisect.bisect_left(brackets, first, done)
            end = bisect.bisect_left(brackets, last, begin)
            code += brackets[done:begin]
            _pair(self, brackets[begin:end], pairs)
            done = end
        _pair(self, [*code, *brackets[done:]], pairs)
        for directive in self.directives:
            _pair(self, _bracket_places(self, directive.first, directive.last), pairs)
        return pairs

    @cached_property
    def alternatives(self) -> tuple[tuple[int, int], ...]:
        """Branches of `#if` that others stand for, [first, last), outermost ones; none where all brackets pair."""
        if len(self._all_paired) == self._count_of_brackets:
            return ()
        found = sorted(alternatives(self.texts, self._brackets_of_code, self.directives), key=lambda x: (x[0], -x[1]))
        kept: list[tuple[int, int]] = []
        for first, last in found:
            if not kept or first >= kept[-1][1]:
                kept.append((first, last))
        return tuple(kept)

    @cached_property
    def _brackets_of_code(self) -> list[int]:
        return [index for index in _bracket_places(self, 0, len(self)) if self.directive_of(index) is None]

    @cached_property
    def _count_of_brackets(self) -> int:
        return sum(map(self.first_characters.count, "()[]{}"))

    @cached_property
    def _all_paired(self) -> dict[int, int]:
        """The pairs where each branch of an `#if` counts."""
        if readers is not None:
            return readers.pair(self.texts, len(self), self.directives)
        pairs: dict[int, int] = {}
        brackets = [match.start() for match in _BRACKET.finditer(self.first_characters)]
        code: list[int] = []
        done = 0
        for directive in self.directives:
            first = bisect.bisect_left(brackets, directive.first, done)
            last = bisect.bisect_left(brackets, directive.last, first)
            if first < last:
                code += brackets[done:first]
                _pair(self, brackets[first:last], pairs)
                done = last
        _pair(self, [*code, *brackets[done:]], pairs)
        return pairs

    def named(self, name: str, first: int, last: int) -> list[int]:
        """Indices of a name's tokens in [first, last)."""
        found = self.names.get(name)
        if found is None:
            return []
        return found[bisect.bisect_left(found, first) : bisect.bisect_left(found, last)]

    def braces_around(self, index: int) -> Iterator[int]:
        """The `{` before a token whose `}` is not before it, inner ones first; those of directives included."""
        openings, nesting = self._braces
        return (openings[number] for number in nesting.around(index))

    @cached_property
    def _braces(self) -> tuple[list[int], Nesting]:
        partner = self.partner
        found = (match.start() for match in _OPENING_BRACE.finditer(self.first_characters))
        openings = [index for index in found if index in partner]
        return openings, Nesting([(index, partner[index] + 1) for index in openings])

    @cached_property
    def is_balanced(self) -> bool:
        """Whether every bracket has its partner; in a source that was cut off or damaged some have none."""
        return len(self.partner) == self._count_of_brackets

    def at(self, offset: int) -> int:
        """Index of the first token that starts at or after an offset."""
        return bisect.bisect_left(self.starts, offset, 0, len(self))

    def directive_of(self, index: int) -> Directive | None:
        """The preprocessor line a token belongs to."""
        place = bisect.bisect_right(self._directive_firsts, index) - 1
        if place >= 0 and index < self.directives[place].last:
            return self.directives[place]
        return None

    def has_directive(self, first: int, last: int) -> bool:
        """Whether one of some tokens belongs to a preprocessor line."""
        place = bisect.bisect_left(self._directive_firsts, last) - 1
        return place >= 0 and first < self.directives[place].last

    def defines(self, index: int) -> bool:
        """Whether a `#define` gives the name at this token."""
        directive = self.directive_of(index)
        return directive is not None and directive.name == "define" and directive.first == index

    def directives_in(self, start: int, end: int) -> tuple[Directive, ...]:
        """The preprocessor lines that begin in [start, end) of the text."""
        starts = self._directive_starts
        return self.directives[bisect.bisect_left(starts, start) : bisect.bisect_left(starts, end)]

    @cached_property
    def _directive_starts(self) -> list[int]:
        return [directive.start for directive in self.directives]

    @cached_property
    def _directive_firsts(self) -> list[int]:
        return [directive.first for directive in self.directives]

    @cached_property
    def memo(self) -> dict[object, object]:
        """What was read off these tokens once and is asked for again."""
        return {}


_SPACE, _COMMENT, _TO_RESOLVE = " ", "c", re.compile("[/#.x]")


def _kind_of_first(character: str) -> str:
    """Kind of a piece by its first character; `/`, `#`, `.` and `x` (may be a prefix) need a second look."""
    if character in "uULR":
        return "x"
    if character.isascii() and not (character.isalnum() or character in "_$"):
        return {'"': STRING, "'": CHARACTER, "/": "/", "#": "#", ".": ".", "\\": _SPACE}.get(
            character, _SPACE if character.isspace() else PUNCTUATION
        )
    return NUMBER if character in "0123456789" else IDENTIFIER


_KINDS = {code: _kind_of_first(chr(code)) for code in range(256)}
_KEEP = bytes(code not in b" c#" for code in range(256))
_IS_IDENTIFIER = bytes(code == ord(IDENTIFIER) for code in range(256))


_BYTE_ORDER_MARK, _BLANK_MARK = "\xef\xbb\xbf", "   "


def lex(text: str) -> Tokens:
    """Splits a file (latin-1 view of its bytes) into tokens; never fails, whatever the bytes are."""
    found = readers.lex(text) if readers is not None else None
    return Tokens(text, *found) if found is not None else lex_in_python(text)


def lex_in_python(text: str) -> Tokens:
    """The same where nothing is compiled."""
    pieces = _split(_BLANK_MARK + text[len(_BLANK_MARK) :] if text.startswith(_BYTE_ORDER_MARK) else text)
    offsets = list(accumulate(map(len, pieces), initial=0))
    offsets.pop()
    first_characters = "".join(map(itemgetter(0), pieces)).translate(_KINDS)
    kinds = bytearray(first_characters, "ascii")
    comments: list[Comment] = []
    lines: list[tuple[str, int, int, int]] = []
    includes: list[Include] = []
    limit = body = 0
    for match in _TO_RESOLVE.finditer(first_characters):
        index = match.start()
        start = offsets[index]
        if start < body:
            continue
        kind = _resolved(match.group(), pieces[index])
        if kind == "#" and (start < limit or not _begins_line(pieces, kinds, index)):
            kind = PUNCTUATION
        kinds[index] = ord(kind)
        if kind == _COMMENT:
            comments.append(Comment(start, start + len(pieces[index])))
        elif kind == "#":
            name, limit, body = _directive(text, start)
            if name in _INCLUDES and (include := _INCLUDE.match(text, start)):
                includes.append(_include(include, start, limit))
                body = limit
            lines.append((name, start, limit, body))
            _blank(kinds, index, bisect.bisect_left(offsets, body, index))
    kept = kinds.translate(_KEEP)
    starts = list(compress(offsets, kept))
    return Tokens(
        text,
        kinds.decode("ascii").translate(_DROPPED) + NO_KINDS,
        [*starts, *[len(text)] * BEHIND],
        [*_shared(list(compress(pieces, kept))), *NO_TEXTS],
        tuple(comments),
        tuple(_with_tokens(starts, line) for line in lines),
        tuple(includes),
    )


_spellings: dict[str, str] = {}
_MOST_SPELLINGS = 1 << 16


def _shared(texts: list[str]) -> list[str]:
    """The same texts, with one object for each spelling: copies would be a quarter of what the tokens take."""
    if len(_spellings) > _MOST_SPELLINGS:
        _spellings.clear()
    return list(map(_spellings.setdefault, texts, texts))


def joined(first: Tokens, second: Tokens) -> Tokens | None:
    """The tokens of one text and, on the next line, of another; None where the first may leave something open."""
    if not (first.is_balanced and second.is_balanced and _ends_clean(first)):
        return None
    shift, count = len(first.text) + 1, len(first)
    found = Tokens(
        f"{first.text}\n{second.text}",
        first.kinds[:-BEHIND] + second.kinds,
        first.starts[:-BEHIND] + [start + shift for start in second.starts],
        first.texts[:-BEHIND] + second.texts,
        first.comments + tuple(Comment(c.start + shift, c.end + shift) for c in second.comments),
        first.directives
        + tuple(
            Directive(d.name, d.start + shift, d.end + shift, d.first + count, d.last + count)
            for d in second.directives
        ),
        first.includes
        + tuple(
            Include(i.name, i.angled, i.start + shift, i.end + shift, i.line_start + shift, i.line_end + shift)
            for i in second.includes
        ),
    )
    names = dict(first.names)
    for name, places in second.names.items():
        names[name] = names.get(name, []) + [place + count for place in places]
    known = found.__dict__  # where cached properties keep what they found
    known["names"] = names
    known["first_characters"] = first.first_characters + second.first_characters
    known["partner"] = first.partner | {one + count: other + count for one, other in second.partner.items()}
    return found


def _ends_clean(tokens: Tokens) -> bool:
    """Whether a line after the text begins anew: no comment, string or spliced line goes on in it."""
    text = tokens.text.rstrip(" \t\r\n")
    if text.endswith("\\"):
        return False
    if 'R"' in text and any(_RAW_START.search(text, one.start, one.end) for one in tokens.directives):
        return False
    if tokens.directives and tokens.directives[-1].end >= len(text):
        start = tokens.directives[-1].start
        if text.rfind("/*", start) > text.rfind("*/", start):
            return False  # `#'/*`: no comment for the tokens, but the directive goes on as in one
    if tokens.comments and tokens.comments[-1].end >= len(text):
        start, end = tokens.comments[-1]
        comment = tokens.text[start:end]
        return comment.startswith("//") or (len(comment) > len("/**") and comment.endswith("*/"))
    end = len(tokens) - 1
    return tokens.kinds[end] != STRING or "R" not in tokens.texts[end].partition('"')[0]


_DROPPED = {ord(character): None for character in " c#"}


def _split(text: str) -> list[str]:
    """The text in pieces that follow one another without gaps; each token, comment and stretch of blanks is one."""
    if _RAW_START.search(text):
        return [match.group() for match in _WITH_RAW_STRINGS.finditer(text)]
    return _PLAIN.findall(text)


def _resolved(first: str, piece: str) -> str:
    """Kind of a piece whose first character does not tell."""
    if first == "/":
        return _COMMENT if piece.startswith(("//", "/*")) else PUNCTUATION
    if first == ".":
        return NUMBER if piece[1:2].isdigit() else PUNCTUATION
    if first == "x":
        return STRING if '"' in piece else CHARACTER if "'" in piece else IDENTIFIER
    return "#" if piece == "#" else PUNCTUATION


def _begins_line(pieces: list[str], kinds: bytearray, index: int) -> bool:
    """Whether only blanks and comments stand before a piece on its line."""
    for before in range(index - 1, -1, -1):
        blank = pieces[before].replace("\\\r\n", "").replace("\\\n", "")
        if not blank or blank.isspace():
            if "\n" in blank:
                return True
        elif kinds[before] != ord(_COMMENT):
            return False
    return True


def _blank(kinds: bytearray, first: int, last: int) -> None:
    """Takes pieces [first, last) out of the tokens: the `#`, the directive's name, the operand of an #include."""
    kinds[first:last] = b"#" * (last - first)


def _with_tokens(starts: list[int], line: tuple[str, int, int, int]) -> Directive:
    name, start, end, body = line
    first = bisect.bisect_left(starts, body)
    return Directive(name, start, end, first, bisect.bisect_left(starts, end, first))


_INCLUDES = frozenset({"include", "include_next", "import"})


def _directive(text: str, start: int) -> tuple[str, int, int]:
    """Name, end of the logical line, and where what follows the name begins."""
    head = _DIRECTIVE.match(text, start)
    line = _LOGICAL_LINE.match(text, start)
    assert line is not None
    end = line.end()
    if end > start and text[end - 1] == "\r":
        end -= 1
    if head is None:
        return "", end, end
    return head.group(1) or "", end, min(head.end(), end)


def _include(match: re.Match[str], start: int, end: int) -> Include:
    angled = match.group(1) is not None
    group = 1 if angled else 2
    return Include(match.group(group), angled, match.start(group), match.end(group), start, end)


def _bracket_places(tokens: Tokens, first: int, last: int) -> list[int]:
    return [match.start() for match in _BRACKET.finditer(tokens.first_characters, first, last)]


def _pair(tokens: Tokens, indices: Iterable[int], pairs: dict[int, int]) -> None:
    """Pairs the brackets of one stretch; a closing one skips back over unclosed ones of another shape."""
    texts = tokens.texts
    stack: list[int] = []
    for index in indices:
        wanted = _OPENS.get(texts[index])
        if wanted is None:
            stack.append(index)
        elif stack and texts[stack[-1]] == wanted:
            opened = stack.pop()
            pairs[opened] = index
            pairs[index] = opened
        else:
            for depth in range(len(stack) - 2, max(-1, len(stack) - 8), -1):
                if texts[stack[depth]] == wanted:
                    opened = stack[depth]
                    del stack[depth:]
                    pairs[opened] = index
                    pairs[index] = opened
                    break


_OPENS = {")": "(", "]": "[", "}": "{"}

if readers is not None:
    readers.configure_lexer(Comment, Directive, Include, BEHIND)
