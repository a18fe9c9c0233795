"""Which of the files that include a changed header can see the change: those that come to a name of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping

from porter.check.overlay import Asked
from porter.check.side import Side
from porter.cpp.declarations import chunks, differing_names, is_readable, names_declared
from porter.cpp.include_graph import reached_beyond
from porter.cpp.lex import Tokens, lex

Read = Callable[[str], str]
"""The text of a file by its path; empty where it cannot be read."""

_WORD = re.compile(r"\w+")
_MOST_NAMES = 2000


def seeing(changed: Iterable[str], head: Side, before: Side) -> frozenset[str]:
    """The files that include one of some changed ones, on either side, and can see what changed."""
    users = Asked(lambda path: {*head.users.get(path, ()), *before.users.get(path, ())} or None)
    changed = [path for path in changed if path in users]
    texts = {path: (_text(before, path), _text(head, path)) for path in changed}
    both = {path: pair if pair[0] and pair[1] else None for path, pair in texts.items()}
    return reached(both, users, lambda path: "\n".join(_text(side, path) for side in (head, before)))


def _text(side: Side, path: str) -> str:
    """What a file has on one side; a file that is the same on both is laid out for the first alone."""
    try:
        return (side.root / path).read_bytes().decode("latin-1") if path in side.known else ""
    except OSError:
        return ""


def reached(
    changed: Mapping[str, tuple[str, str] | None], users: Mapping[str, Collection[str]], of: Read
) -> frozenset[str]:
    """The files that include some changed ones, directly or not, and can see what changed in them.

    `changed` holds both texts of each, or None where there is one alone; `users` are the files that include each.
    """
    words: dict[str, frozenset[str]] = {}
    found: set[str] = set()
    for path, texts in changed.items():
        including = frozenset(reached_beyond(users, (path,)))
        names = differing_names(*map(lex, texts)) if texts is not None else None
        found |= including if names is None else _seeing(names, including, users, of, words)
    return frozenset(found)


def _seeing(
    names: frozenset[str],
    including: frozenset[str],
    users: Mapping[str, Collection[str]],
    of: Read,
    words: dict[str, frozenset[str]],
) -> frozenset[str]:
    """Files with one of some names, or with what other headers make of them, and so on."""
    found: set[str] = set()
    spread: set[str] = set()
    tokens: dict[str, Tokens] = {}
    known: set[str] = set()
    fresh = set(names)
    while fresh:
        known |= fresh
        if len(known) > _MOST_NAMES:
            return including
        made: set[str] = set()
        for path in sorted(including - spread):
            if path not in words:
                words[path] = frozenset(_WORD.findall(of(path)))
            if not _mentions(words[path], fresh):
                continue
            found.add(path)
            if not users.get(path):
                continue
            if path not in tokens:
                tokens[path] = lex(of(path))
            more = _made_of(tokens[path], fresh)
            if more is None:
                spread.add(path)
                found |= reached_beyond(users, (path,)) & including
            else:
                made |= more
        fresh = made - known
    return frozenset(found)


def _mentions(words: frozenset[str], names: set[str]) -> bool:
    """Whether a file has one of some names, or two parts that `##` could make one of."""
    return not words.isdisjoint(names) or any(
        name[:cut] in words and name[cut:] in words for name in names for cut in range(1, len(name))
    )


def _made_of(tokens: Tokens, names: set[str]) -> set[str] | None:
    """The names of declarations that mention some names; None where one of them has none."""
    if not is_readable(tokens):
        return None
    found: set[str] = set()
    for chunk in chunks(tokens):
        if not any(not names.isdisjoint(part) for part in chunk):
            continue
        declared = names_declared(chunk)
        if declared is None:
            return None
        found |= declared
    return found
