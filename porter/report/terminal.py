"""The text report on a terminal: the same lines, with what needs work in colour."""

from __future__ import annotations

import sys

_STYLES = {
    r"(?<![\w-])manual(?![\w-])": "red",
    r"(?<![\w-])review(?![\w-])": "yellow",
    r"^(?:porter|manual|review|gaps|kernels|rewritten|left out)\b[^:]*": "bold",
    r"(?<![\w-])[A-Z]\d{3}(?![\w-])": "cyan",
}


def show(text: str) -> None:
    """Prints a report; colours follow NO_COLOR and what the terminal can do."""
    from rich.console import Console
    from rich.text import Text

    console = Console(file=sys.stdout, highlight=False, soft_wrap=True)
    for line in text.splitlines():
        styled = Text(line)
        for pattern, style in _STYLES.items():
            styled.highlight_regex(pattern, style)
        console.print(styled)
