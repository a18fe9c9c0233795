"""Bytes in, bytes out: a source file, its byte-exact character view, and its lines."""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, count
from operator import add

_UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")
_UTF8_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class SourceFile:
    """One file; `text` maps each byte to one character (latin-1), so offsets are byte offsets."""

    path: str
    data: bytes = field(repr=False)

    @cached_property
    def text(self) -> str:
        """The bytes as characters 0-255, whatever the file's encoding."""
        return self.data.decode("latin-1")

    @cached_property
    def _matches(self) -> dict[re.Pattern[str], bool]:
        return {}

    def matches(self, pattern: re.Pattern[str]) -> bool:
        """Whether a pattern is found in the text; kept, as headers are asked for each unit that includes them."""
        found = self._matches.get(pattern)
        if found is None:
            found = self._matches[pattern] = pattern.search(self.text) is not None
        return found

    @cached_property
    def problem(self) -> str | None:
        """Why the file cannot be ported as C++ source; None when it can."""
        if self.data.startswith(_UTF16_BOMS):
            return "the file is UTF-16; no C++ compiler for AMD GPUs reads it: convert it to UTF-8"
        if b"\0" in self.data:
            return "the file contains NUL bytes"
        return None

    @cached_property
    def body_start(self) -> int:
        """Offset after a UTF-8 byte order mark, if there is one."""
        return len(_UTF8_BOM) if self.data.startswith(_UTF8_BOM) else 0

    @cached_property
    def newline(self) -> str:
        """The line end used most; CRLF only when most lines end so."""
        return "\r\n" if 2 * self.data.count(b"\r\n") > self.data.count(b"\n") else "\n"

    @cached_property
    def _line_starts(self) -> list[int]:
        lengths = map(len, self.data.split(b"\n")[:-1])
        return list(map(add, accumulate(lengths, initial=0), count()))

    @property
    def line_count(self) -> int:
        """Number of lines, a last line without newline included."""
        return self.data.count(b"\n") + (not self.data.endswith(b"\n") and bool(self.data))

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column (in bytes) of an offset, both from 1."""
        line = bisect.bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def line_start(self, line: int) -> int:
        """Offset of the first byte of a line, counted from 1."""
        return self._line_starts[line - 1]

    def line_text(self, line: int) -> str:
        """The characters of a line without its line end."""
        start = self._line_starts[line - 1]
        end = self._line_starts[line] if line < len(self._line_starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")
