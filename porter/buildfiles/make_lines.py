"""Lines of a Makefile that the grammar does not read: those with a fault beside them, definitions, `$(eval ...)`."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_ASSIGNMENT = re.compile(
    rb"[ \t]*(?:(?:export|override|private)[ \t]+)*([\w.-]+)[ \t]*(?:\?|\+|!|:{1,3})?=[ \t]*", re.ASCII
)
_DIRECTIVE = re.compile(rb"[ \t]*-?(?:ifn?eq|ifn?def|else|endif|s?include|vpath|undefine)\b")
_EVAL = re.compile(rb"\$\([ \t]*eval[ \t]+(?:\$\(\w+\))?([\w.-]+)[ \t]*(?:\?|\+|!|:{1,3})?=[ \t]*", re.ASCII)
_DEFINE = re.compile(rb"[ \t]*(?:override[ \t]+)?define\b")
_ENDEF = re.compile(rb"[ \t]*endef\b")
_RULE = re.compile(rb"(?![ \t]*#)([^\t:=#][^:=#]*?)[ \t]*&?::?(?![:=])[ \t]*([^;#\r\n]*)")


class Text(NamedTuple):
    """A line with those that it goes on in; `name` where it assigns, `rule` where it is a recipe's."""

    start: int
    end: int
    name: str = ""
    rule: tuple[str, str] = ("", "")
    """Targets and prerequisites of the rule."""


def unread_lines(data: bytes, known: Iterable[tuple[int, int]]) -> Iterator[Text]:
    """Assignments and recipe lines outside of the stretches that are known."""
    stretches = sorted(known)
    starts = [start for start, _ in stretches]
    ends = [end for _, end in stretches]
    for one in _lines(data):
        index = bisect.bisect_left(starts, one.end)
        if not any(end > one.start for end in ends[max(index - 2, 0) : index]):
            yield one


def _lines(data: bytes) -> Iterator[Text]:
    rule: tuple[str, str] | None = None
    in_definition = False
    for start, end in _logical(data):
        line = data[start:end]
        if _DEFINE.match(line) or _ENDEF.match(line):
            in_definition = _ENDEF.match(line) is None
            rule = None
            continue
        bare = line.lstrip(b" \t")
        if not bare or bare.startswith(b"#") or _DIRECTIVE.match(line):
            continue
        if line.startswith(b"\t") and (rule is not None or in_definition):
            yield Text(start + len(line) - len(bare), end, rule=rule or ("", ""))
        elif bare.startswith(b"$(") and b"eval" in bare:
            yield from _evaluated(line, start)
        elif (found := _ASSIGNMENT.match(line)) is not None:
            yield Text(start + found.end(), end, found[1].decode("ascii"))
            rule = None
        elif (heads := _RULE.match(line)) is not None:
            rule = heads[1].decode("latin-1"), heads[2].decode("latin-1")
        elif in_definition:
            yield Text(start + len(line) - len(bare), end)


def _evaluated(line: bytes, start: int) -> Iterator[Text]:
    """The assignments of `$(foreach s,$(S),$(eval F += -gencode arch=compute_$(s)))`."""
    for found in _EVAL.finditer(line):
        depth, end = 1, found.end()
        while end < len(line) and (depth := depth + (line[end] == _OPENING) - (line[end] == _CLOSING)):
            end += 1
        yield Text(start + found.end(), start + end, found[1].decode("ascii"))


_OPENING, _CLOSING = b"()"


def _logical(data: bytes) -> Iterator[tuple[int, int]]:
    """Each line with those that it goes on in, without the end of the last one."""
    start = place = 0
    for line in data.splitlines(keepends=True):
        place += len(line)
        text = line.rstrip(b"\r\n")
        if text.endswith(b"\\") and place < len(data):
            continue
        yield start, place - len(line) + len(text)
        start = place
