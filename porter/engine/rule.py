"""What a rule is: an explanation, examples that are its tests, and a search that yields findings."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from porter.engine.dialect import Dialect
from porter.engine.edits import apply
from porter.engine.notices import NOTICES
from porter.engine.unit import Unit
from porter.model import Edit, Effort, Finding, Rewrite, Settings, Span

__all__ = [
    "Dialect",
    "Edit",
    "Effort",
    "Example",
    "Explained",
    "Finding",
    "Rewrite",
    "Rule",
    "Settings",
    "Span",
    "Unit",
    "answered_names",
    "apply",
    "clean",
    "fixes",
    "reports",
    "todo",
]
"""All that a rule needs, whatever it is about: a rule imports this module, and those that know its subject."""


@dataclass(frozen=True, slots=True)
class Example:
    """A source and what the rule makes of it; tested as written, printed by `porter explain`."""

    before: str
    after: str | None
    effort: Effort | None
    """The highest effort the rule reports; None: the rule reports nothing."""
    path: str
    settings: Settings = field(default_factory=Settings)
    todo: str | None = None
    """A known miss: what should happen, and does not yet."""
    renamed: tuple[tuple[str, str], ...] = ()
    """Files of the project and their new names."""


def _text(source: str) -> str:
    """An example without the indentation it has in its rule; tabs (of Makefiles) are kept."""
    return source if "\t" in source else inspect.cleandoc(source)


def fixes(before: str, after: str, *, effort: Effort = Effort.NONE, path: str = "example.cu") -> Example:
    """The rule rewrites `before` to `after`."""
    return Example(_text(before), _text(after), effort, path)


def reports(source: str, *, effort: Effort = Effort.MANUAL, path: str = "example.cu") -> Example:
    """The rule reports and leaves the text alone."""
    text = _text(source)
    return Example(text, text, effort, path)


def clean(source: str, *, path: str = "example.cu") -> Example:
    """A near miss: the rule must say nothing."""
    return Example(_text(source), None, None, path)


def todo(source: str, wanted: str, *, path: str = "example.cu") -> Example:
    """A known miss: the rule says nothing yet, and `wanted` is what it should say."""
    return Example(inspect.cleandoc(source), None, None, path, todo=wanted)


class Explained:
    """What every rule has, whatever files it is for: a code, a name, an explanation and examples.

    The docstring is the explanation: first line the title, then why it breaks on AMD, and what to do.
    """

    code: ClassVar[str]
    """Stable, never reused: a letter for the group and three digits."""
    examples: ClassVar[tuple[Example, ...]] = ()
    hazards: ClassVar[tuple[str, ...]] = ()
    """Slugs of the hazard list this rule covers."""

    def __init__(self, name: str, group: str) -> None:
        self.name = name
        self.group = group

    @property
    def title(self) -> str:
        """First line of the explanation."""
        return self.explanation.partition("\n")[0]

    @property
    def explanation(self) -> str:
        """The docstring, cleaned."""
        return inspect.getdoc(type(self)) or ""


class Rule(Explained):
    """Base of the rules for C++ and CUDA: one subclass per file below `rules/`, named after its file."""

    triggers: ClassVar[frozenset[str]] = frozenset()
    """Identifiers (or `#include <...>` names) without which the rule cannot find anything; empty: always asked."""
    text: ClassVar[str] = ""
    """A regular expression without a match of which in the text the rule cannot find anything, where there are no
    triggers, or they stand in too many files."""
    in_sight: ClassVar[str] = ""
    """A regular expression without a match of which in the file or in a header of the project that it includes the rule
    cannot find anything; besides `text`."""
    by_names: ClassVar[bool] = False
    """Whether the rule finds something only at names or headers that the tables have, or that are built like CUDA's."""
    answers: ClassVar[frozenset[str]] = frozenset()
    """CUDA names that HIP lacks or has with other arguments, and whose every use this rule rewrites, reports or knows
    to be right: the rules over the name tables say nothing more about them."""
    only_reports: ClassVar[bool] = False
    """Whether no finding of the rule changes the file: it is asked about the original alone, and not about what edits
    made of that, of which only edits count."""
    settles: ClassVar[bool] = False
    """Whether what the rule writes around a text, or takes away, lets no other rule find what it did not find before:
    where its edits bring no new name that means something, the file need not be looked at again."""
    native_mode_only: ClassVar[bool] = False
    """Whether it finds something with `--warp native` alone."""
    dialect: ClassVar[Dialect] = Dialect.CUDA
    """Whose lines it is asked about: CUDA's, AMD's own (and then no others), or both."""

    def find(self, unit: Unit) -> Iterator[Finding]:
        """Yields findings; changes nothing."""
        raise NotImplementedError

    def applies(self, unit: Unit) -> bool:
        """Whether any trigger occurs in the unit."""
        triggers = self.triggers
        return not triggers or not triggers.isdisjoint(unit.identifiers) or not triggers.isdisjoint(unit.included)

    def finding(
        self,
        unit: Unit,
        span: Span,
        message: str,
        effort: Effort,
        edits: tuple[Edit, ...] = (),
        includes: tuple[str, ...] = (),
    ) -> Finding:
        """A finding of this rule at a byte range."""
        if self.only_reports and (edits or includes):
            raise TypeError(f"{self.code} says that it only reports")
        line, column = unit.source.position(span.start)
        return Finding(
            code=self.code,
            rule=self.name,
            effort=effort,
            path=unit.source.path,
            line=line,
            column=column,
            message=message,
            span=span,
            kernel=unit.kernel_at(span.start),
            edits=edits,
            includes=includes,
        )


def known_words() -> frozenset[str]:
    """The codes and names of all findings that there are, in files of any kind."""
    return _rules_words() | {word for notice in NOTICES for word in (notice.code, notice.name)}


@functools.cache
def _rules_words() -> frozenset[str]:
    return frozenset(word for rule in Rule.__subclasses__() for word in (rule.code, _file_name(rule)))


def answered_names(settings: Settings) -> frozenset[str]:
    """The names that rules other than those over the tables deal with, without the rules that are switched off."""
    return _answered(settings.disabled)


@functools.cache
def _answered(disabled: frozenset[str]) -> frozenset[str]:
    rules = (rule for rule in Rule.__subclasses__() if not disabled & {rule.code, _file_name(rule)})
    return frozenset(name for rule in rules for name in rule.answers)


def _file_name(rule: type[Rule]) -> str:
    return rule.__module__.rpartition(".")[2].replace("_", "-")
