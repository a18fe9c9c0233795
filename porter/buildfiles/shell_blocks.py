"""Stretches of shell scripts that a condition may be put around: whole lines of whole statements."""

from __future__ import annotations

import tree_sitter

from porter.buildfiles.make import parsed_shell

_LISTS = frozenset({"program", "do_group", "compound_statement", "if_statement", "else_clause", "elif_clause"})
"""Nodes whose children stand one behind the other; a condition shares its line with `if`."""


class Statements:
    """The statements of one script."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.root = parsed_shell(data)

    def around(self, start: int, end: int) -> tuple[int, int]:
        """The lines of the innermost statement that has a stretch and its lines to itself."""
        node = self.root.descendant_for_byte_range(start, max(end - 1, start))
        while node is not None and node.parent is not None:
            if node.parent.type in _LISTS and node.is_named and (lines := self._lines(node)) is not None:
                return lines
            node = node.parent
        return 0, len(self.data)

    def is_text(self, offset: int) -> bool:
        """Whether a place is in a text that is handed on."""
        node = self.root.descendant_for_byte_range(offset, offset)
        while node is not None and node.type != "heredoc_body":
            node = node.parent
        return node is not None

    def _lines(self, node: tree_sitter.Node) -> tuple[int, int] | None:
        first = self.data.rfind(b"\n", 0, node.start_byte) + 1
        newline = self.data.find(b"\n", max(node.end_byte - 1, node.start_byte))
        last = len(self.data) if newline < 0 else newline + 1
        behind = self.data[node.end_byte : last].strip().lstrip(b";").strip()
        alone = not self.data[first : node.start_byte].strip() and (not behind or behind.startswith(b"#"))
        return (first, last) if alone else None
