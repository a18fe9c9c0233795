"""W108: what is written to a file depends on the warp size."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.syntax import IDENTIFIER, Tokens, looks_like_warp_size
from porter.engine.rule import Effort, Finding, Rule, Unit, clean, reports

_CALLS = frozenset({"fwrite", "fread", "gzwrite", "gzread", "pwrite", "pread"})
_PRINTS = frozenset({"fprintf", "fscanf"})
_MEMBERS = frozenset({"write", "read"})
_FILES = ("ofstream", "ifstream", "fstream")
_STREAMS = frozenset({"ofstream", "ifstream", "fstream", "FILE", "fopen", "open"})
_WIDTHS = frozenset({"warpSize", "C10_WARP_SIZE"})
_QUERIES = frozenset({"cudaDeviceGetAttribute", "hipDeviceGetAttribute"})
_ATTRIBUTES = frozenset({"cudaDevAttrWarpSize", "hipDeviceAttributeWarpSize"})
_CONSOLE = frozenset({"stderr", "stdout", "stdin"})
_BORDERS = frozenset(";{}")
_GIVES = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "(", "{", "["})
"""What stands behind a name that is declared or changed."""
_TAGS = frozenset({"struct", "class", "union", "enum", "namespace"})
_MOST_STEPS = 4
"""Macros that stand for each other."""


class WarpSizeInFileFormat(Rule):
    """File layout that depends on the warp size

    A count, a stride or a padding computed from the warp size goes into a file, or sizes what is read from one. A port
    whose warp size differs reads such files wrongly, and writes files that the CUDA build cannot read. The preserving
    port keeps 32, so its files stay the same; look at every such place before a kernel is ported to 64 lanes, and write
    the number 32 into the format instead of the warp's size.
    """

    code = "W108"
    only_reports = True
    text = "(?i:warp|wave|lane)"
    triggers = _CALLS | _PRINTS | {"ofstream", "ifstream", "fstream"}
    hazards = ("log2-warp-constants",)
    examples = (
        reports(
            """
            void save(FILE *f, const unsigned *bits, int n) {
              int words = (n + WARP_SIZE - 1) / WARP_SIZE;
              fwrite(bits, sizeof(unsigned), words, f);
            }
            """,
            effort=Effort.REVIEW,
        ),
        reports(
            """
            void save(FILE *f, int n) {
              int lanes = 0;
              cudaDeviceGetAttribute(&lanes, cudaDevAttrWarpSize, 0);
              struct { int lanes, count; } header;
              header.lanes = lanes;
              header.count = n;
              fwrite(&header, sizeof header, 1, f);
            }
            """,
            effort=Effort.REVIEW,
        ),
        clean(
            """
            void save(FILE *f, const float *x, int n) {
              int blocks = (n + WARP_SIZE - 1) / WARP_SIZE;
              float total = sum(x, n, blocks);
              fwrite(&total, sizeof(float), 1, f);
            }
            """
        ),
        clean(
            """
            void save(FILE *f, const unsigned *bits, int n) {
              dim3 block(WARP_SIZE, 8);
              fwrite(bits, sizeof(unsigned), n, f);
            }
            """
        ),
        reports('void save(std::ofstream &out, int n) { out << n / WARP_SIZE << "\\n"; }', effort=Effort.REVIEW),
        clean("void save(FILE *f, const unsigned *bits, int n) { fwrite(bits, 4, (n + 31) / 32, f); }"),
        clean('void tell(int n) { fprintf(stderr, "%d warps", n / WARP_SIZE); }'),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per reading or writing call."""
        widths = _with_macros(
            unit.tokens, frozenset(n for n in unit.tokens.names if n in _WIDTHS or looks_like_warp_size(n))
        )
        if not widths and _ATTRIBUTES.isdisjoint(unit.tokens.names):
            return
        for index, closed in (*self._calls(unit), *self._streamed(unit.tokens)):
            begin = _function_start(unit.tokens, index)
            inside = _names(unit.tokens, index + 1, closed)
            if widths & inside or self._derived(unit.tokens, begin, index, inside, widths):
                message = (
                    "the layout of this file depends on the warp size: it stays 32 in the port; give the format a "
                    "number of its own before anything here becomes 64 lanes wide"
                )
                yield self.finding(unit, unit.span(index, closed), message, Effort.REVIEW)

    @staticmethod
    def _calls(unit: Unit) -> Iterator[tuple[int, int]]:
        """The names and closing brackets of calls that write to files or read from them."""
        tokens = unit.tokens
        for name in _CALLS | _PRINTS | _MEMBERS:
            for index in tokens.names.get(name, ()):
                closed = tokens.partner.get(index + 1)
                member = tokens.texts[index - 1] in (".", "->")
                is_file = name in _CALLS | _PRINTS or not _STREAMS.isdisjoint(tokens.names)
                console = name in _PRINTS and tokens.texts[index + 2] in _CONSOLE
                called = unit.next_is(index, "(") and member == (name in _MEMBERS)
                if closed is not None and is_file and called and not console:
                    yield index, closed

    @staticmethod
    def _streamed(tokens: Tokens) -> Iterator[tuple[int, int]]:
        """Statements that put values into a file's stream, or take them out: `out << a << b;`."""
        declared = (i + 1 + (tokens.texts[i + 1] in ("&", "*")) for t in _FILES for i in tokens.names.get(t, ()))
        for name in sorted({tokens.texts[i] for i in declared if tokens.kinds[i] == IDENTIFIER}):
            for index in tokens.names[name]:
                if tokens.texts[index + 1] in ("<<", ">>") and tokens.texts[index - 1] in (";", "{", "}", ")"):
                    end = tokens.first_characters.find(";", index)
                    yield index, end if end > 0 else len(tokens) - 1

    @staticmethod
    def _derived(tokens: Tokens, begin: int, end: int, wanted: frozenset[str], widths: frozenset[str]) -> bool:
        """Whether statements before a call give one of its names a value computed from the width."""
        derived: set[str] = set()
        for first, last in _statements(tokens, begin, end):
            names = _names(tokens, first, last)
            if not _QUERIES.isdisjoint(names) and not _ATTRIBUTES.isdisjoint(names):
                derived |= names & {
                    t for i, t in enumerate(tokens.texts[first:last], first) if tokens.texts[i - 1] == "&"
                }
            elif {"dim3", "printf"} & names:
                continue
            elif widths & names or (derived & names and not _calls_out(tokens, first, last)):
                derived |= _targets(tokens, first, last)
        return not derived.isdisjoint(wanted)


def _calls_out(tokens: Tokens, first: int, last: int) -> bool:
    """Whether a statement's value comes from a function, so that it need not be a size any more."""
    texts = tokens.texts
    equals = next((i for i in range(first, last) if texts[i] in _GIVES), last)
    return any(
        texts[i + 1] == "(" and tokens.kinds[i] == IDENTIFIER and texts[i] not in ("sizeof", "min", "max")
        for i in range(equals, last)
    )


def _names(tokens: Tokens, first: int, last: int) -> frozenset[str]:
    return frozenset(tokens.texts[i] for i in range(first, last) if tokens.kinds[i] == IDENTIFIER)


def _function_start(tokens: Tokens, index: int) -> int:
    """The opening brace of the outermost block around a token that follows a parameter list."""
    start = 0
    position = index
    while position > 0:
        position -= 1
        text = tokens.texts[position]
        if text == "}":
            position = tokens.partner.get(position, position)
        elif text == "{":
            if tokens.texts[position - 1] in ("namespace",) or tokens.texts[position - 2] == "namespace":
                break
            start = position
    return start


def _statements(tokens: Tokens, begin: int, end: int) -> Iterator[tuple[int, int]]:
    first = begin
    index = begin
    while index < end:
        if tokens.texts[index] == "{" and _is_initial(tokens, index):
            index = tokens.partner.get(index, index)
        elif tokens.texts[index] in _BORDERS:
            if first < index:
                yield first, index
            first = index + 1
        index += 1


def _is_initial(tokens: Tokens, opening: int) -> bool:
    """Whether a brace begins an initial value: `int a{3};`."""
    closed = tokens.partner.get(opening)
    is_named = tokens.kinds[opening - 1] == tokens.kinds[opening - 2] == IDENTIFIER
    is_named = is_named and tokens.texts[opening - 2] not in _TAGS
    return (
        closed is not None and tokens.texts[closed + 1] in (";", ",") and (is_named or tokens.texts[opening - 1] == "=")
    )


def _targets(tokens: Tokens, first: int, last: int) -> set[str]:
    """What a statement assigns or declares: `a.b = ...`, `T a = ..., b(...)`, `T a[...]`."""
    texts = tokens.texts
    found: set[str] = set()
    index = first
    while index < last:
        if texts[index] in _GIVES and index > first and tokens.kinds[index - 1] == IDENTIFIER:
            root = index - 1
            while root - 2 >= first and texts[root - 1] in (".", "->"):
                root -= 2
            typed = root > first and (tokens.kinds[root - 1] == IDENTIFIER or texts[root - 1] in (">", "*", "&"))
            if texts[index] not in ("(", "{", "[") or typed or (found and texts[root - 1] == ","):
                found.add(texts[root])
            elif not found:
                return found
        if texts[index] in ("(", "[", "{"):
            index = tokens.partner.get(index, index)
        index += 1
    return found


def _with_macros(tokens: Tokens, widths: frozenset[str]) -> frozenset[str]:
    """The names of the width, and the macros and functions of one expression that are computed from it."""
    for _ in range(_MOST_STEPS):
        made = {
            tokens.texts[directive.first]
            for directive in tokens.directives
            if directive.name == "define" and not widths.isdisjoint(tokens.texts[directive.first + 1 : directive.last])
        }
        if made <= widths:
            break
        widths |= made
    return widths | _functions(tokens, widths)


def _functions(tokens: Tokens, widths: frozenset[str]) -> frozenset[str]:
    """Functions that return what is computed from the width, and nothing else."""
    found = set()
    for index in tokens.names.get("return", ()):
        opening, end = index - 1, tokens.first_characters.find(";", index)
        closed = tokens.partner.get(opening - 1) if tokens.texts[opening - 1 : opening + 1] == [")", "{"] else None
        if closed is not None and tokens.partner.get(opening) == end + 1 and widths & _names(tokens, index, end):
            found.add(tokens.texts[closed - 1])
    return frozenset(found)
