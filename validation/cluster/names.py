"""Paths of a worker in what it found out, as the client would have them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path

_HEX = r"[0-9a-f]{32}"
_KEPT = r"(?P<folder>/(?!ports/)[\w-]+/)(?P<digest>" + _HEX + r")(?P<name>/[\w.+-]+)"


def translator(prefix: str, own_cache: str, cache: str, others: Iterable[tuple[str, str]] = ()) -> Callable[[str], str]:
    """Takes a JSON text; gives it with the client's names. The client's root lies below the prefix.

    `others` are further folders of this machine with their names at home.
    """
    moved = [(json.dumps(one)[1:-1], json.dumps(home)[1:-1]) for one, home in others if one != home]
    escaped = _Names(*(json.dumps(text)[1:-1] for text in (prefix, own_cache, cache)))
    plain = _Names(prefix, own_cache, cache)

    def of_content(found: re.Match[str]) -> str:
        """A file that is named by its content has at home the name of the content that it has at home."""
        path = Path(found[0] if found.re is plain.kept else json.loads(f'"{found[0]}"'))
        home = escaped.cache if found.re is escaped.kept else plain.cache
        try:
            text = path.read_bytes().decode("latin-1")
        except OSError:
            return found[0]
        digest = hashlib.sha256(named(text, plain).encode("latin-1")).hexdigest()[: len(found["digest"])]
        return f"{home}{found['folder']}{digest}{found['name']}"

    def named(text: str, names: _Names) -> str:
        if names.prefix:
            text = names.kept.sub(of_content, text)
            text = text.replace(names.prefix, "")
        return text.replace(names.own, names.cache) if names.own != names.cache else text

    def translated(text: str) -> str:
        text = named(text, escaped)
        for one, home in moved:
            text = text.replace(f"{one}/", f"{home}/")
        return text

    return translated


class _Names:
    """What is replaced, as it is spelt in one kind of text."""

    def __init__(self, prefix: str, own: str, cache: str) -> None:
        self.prefix, self.own, self.cache = prefix, own, cache
        self.kept = re.compile(re.escape(own) + _KEPT)
