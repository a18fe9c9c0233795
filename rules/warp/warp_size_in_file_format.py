"""W108: what is written to a file depends on the warp size."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.syntax import IDENTIFIER, Tokens, looks_like_warp_size
from porter.engine.rule import Effort, Finding, Rule, Unit, clean, reports

_CALLS = frozenset({"fwrite", "fread"})
_MEMBERS = frozenset({"write", "read"})
_STREAMS = frozenset({"ofstream", "ifstream", "fstream", "FILE", "fopen", "open"})
_WIDTHS = frozenset({"warpSize", "C10_WARP_SIZE"})
_QUERIES = frozenset({"cudaDeviceGetAttribute", "hipDeviceGetAttribute"})
_ATTRIBUTES = frozenset({"cudaDevAttrWarpSize", "hipDeviceAttributeWarpSize"})
_BORDERS = frozenset(";{}")


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
    triggers = frozenset({"fwrite", "fread", "ofstream", "ifstream", "fstream"})
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
        clean("void save(FILE *f, const unsigned *bits, int n) { fwrite(bits, 4, (n + 31) / 32, f); }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per reading or writing call."""
        widths = frozenset(n for n in unit.tokens.names if n in _WIDTHS or looks_like_warp_size(n))
        if not widths and _ATTRIBUTES.isdisjoint(unit.tokens.names):
            return
        for index in self._calls(unit):
            closed = unit.tokens.partner.get(index + 1)
            if closed is None:
                continue
            begin = _function_start(unit.tokens, index)
            inside = _names(unit.tokens, index + 2, closed)
            if widths & inside or self._derived(unit.tokens, begin, index, inside, widths):
                message = (
                    "the layout of this file depends on the warp size: it stays 32 in the port; give the format a "
                    "number of its own before anything here becomes 64 lanes wide"
                )
                yield self.finding(unit, unit.span(index, closed), message, Effort.REVIEW)

    @staticmethod
    def _calls(unit: Unit) -> Iterator[int]:
        tokens = unit.tokens
        for name in _CALLS | _MEMBERS:
            for index in tokens.names.get(name, ()):
                member = tokens.texts[index - 1] in (".", "->")
                is_file = name in _CALLS or not _STREAMS.isdisjoint(tokens.names)
                if is_file and unit.next_is(index, "(") and member == (name in _MEMBERS):
                    yield index

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
                derived.add(_target(tokens, first, last))
        return not derived.isdisjoint(wanted)


def _calls_out(tokens: Tokens, first: int, last: int) -> bool:
    """Whether a statement's value comes from a function, so that it need not be a size any more."""
    texts = tokens.texts
    equals = next((i for i in range(first, last) if texts[i] == "="), last)
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
    for index in range(begin, end):
        if tokens.texts[index] in _BORDERS:
            if first < index:
                yield first, index
            first = index + 1


def _target(tokens: Tokens, first: int, last: int) -> str:
    """What a statement assigns or declares: `a.b = ...`, `T a = ...`, `T a(...)`."""
    texts = tokens.texts
    for index in range(first, last):
        if texts[index] in ("=", "+=", "(", "{") and index > first and tokens.kinds[index - 1] == IDENTIFIER:
            root = index - 1
            while root - 2 >= first and texts[root - 1] in (".", "->"):
                root -= 2
            if (
                texts[index] in ("=", "+=")
                or (root > first and tokens.kinds[root - 1] == IDENTIFIER)
                or texts[root - 1] == ">"
            ):
                return texts[root]
            return ""
    return ""
