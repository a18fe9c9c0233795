"""Whether another pass over a file could find anything: most files need one pass."""

from __future__ import annotations

import re
from collections.abc import Iterable

from porter.cpp.lex import lex
from porter.engine.asking import triggers_of
from porter.engine.edits import Accepted
from porter.engine.renames import looks_like_cuda
from porter.engine.rule import Rule
from porter.engine.unit import Unit
from porter.model import Edit

_NAME = re.compile(r"(?!\d)[\w:./]+")


def is_settled(unit: Unit, accepted: Accepted, inserted: Edit | None, rules: tuple[Rule, ...]) -> bool:
    """Whether all that a pass did was put names for names, and none of the new names means anything to anybody.

    Rules look for names and at what surrounds them. Nothing can turn up in the next pass unless a conflict put off a
    finding, an edit changed more than names, or a new name is one that a rule or a table has something to say about.
    """
    if accepted.conflicts or not all(is_name_for_name(unit, edit) for edit in accepted.edits):
        return False
    texts = {edit.text for edit in accepted.edits} | ({inserted.text} if inserted is not None else set())
    new = {name for text in texts for name in _names_in(text)}
    triggers = triggers_of(rules)
    return not any(_means_something(unit, name, triggers) for name in new)


def is_name_for_name(unit: Unit, edit: Edit) -> bool:
    """Whether an edit puts one name where another was."""
    return bool(_NAME.fullmatch(edit.text) and _NAME.fullmatch(unit.source.text, edit.start, edit.end))


def _names_in(text: str) -> Iterable[str]:
    tokens = lex(text)
    return (text, *tokens.names, *(include.name for include in tokens.includes))


def _means_something(unit: Unit, name: str, triggers: frozenset[str]) -> bool:
    return name in triggers or name in unit.names or name in unit.support.names or looks_like_cuda(name)
