"""Whether another pass over a file could find anything: most files need one pass."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping

from porter.cpp.lex import lex
from porter.engine.asking import settling, triggers_of
from porter.engine.edits import Accepted
from porter.engine.renames import looks_like_cuda
from porter.engine.rule import Rule
from porter.engine.unit import Unit
from porter.model import Edit

_OURS = "porter::"
"""A name that gets this before it is no longer CUDA's: it may mean something only to a rule that looks for the word."""
_NAME = re.compile(r"(?!\d)[\w:./]+")


def is_settled(unit: Unit, accepted: Accepted, inserted: Edit | None, rules: tuple[Rule, ...], text: str) -> bool:
    """Whether all that a pass did, with `text` as the result, was put names for names or what leaves nothing to do, and
    none of the new names means anything to anybody.

    Rules look for names and at what surrounds them. Nothing can turn up in the next pass unless a conflict put off a
    finding, an edit changed more than names, or a new name is one that a rule or a table has something to say about.
    """
    if accepted.conflicts:
        return False
    new = set(_names_in(inserted.text)) if inserted is not None else set()
    codes, triggers = settling(rules), triggers_of(rules)
    for finding in accepted.findings:
        for edit in finding.edits:
            old = unit.source.text[edit.start : edit.end]
            if edit.text == _OURS + old and _is_cudas_alone(unit, old):
                new |= {old} if any(rule.code != finding.code for rule in triggers.get(old, ())) else set()
            elif is_name_for_name(unit, edit):
                new |= _names_in(edit.text)
            elif finding.code in codes:
                new |= _names_in(edit.text) - _names_in(old)
            else:
                return False
    return not any(_means_something(unit, name, triggers, text) for name in new)


def _is_cudas_alone(unit: Unit, name: str) -> bool:
    """Whether the project declares no such name, so that what is meant by it hangs on no other place."""
    return name.isidentifier() and name not in unit.declared and name not in unit.own


def is_name_for_name(unit: Unit, edit: Edit) -> bool:
    """Whether an edit puts one name where another was."""
    return bool(_NAME.fullmatch(edit.text) and _NAME.fullmatch(unit.source.text, edit.start, edit.end))


@functools.lru_cache(maxsize=1 << 12)
def _names_in(text: str) -> frozenset[str]:
    tokens = lex(text)
    return frozenset((text, *tokens.names, *(include.name for include in tokens.includes)))


def _means_something(unit: Unit, name: str, triggers: Mapping[str, tuple[Rule, ...]], text: str) -> bool:
    if any(re.search(rule.text, text) is not None for rule in triggers.get(name, ())):
        return True
    return name in unit.names or name in unit.support.names or looks_like_cuda(name)
