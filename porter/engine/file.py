"""Ports one file: find, accept, apply, and again on the result until nothing changes."""

from __future__ import annotations

import bisect
import functools
import re
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from porter.cpp.cursor import TOO_DEEP
from porter.cpp.headers import Headers, Included
from porter.cpp.lex import Tokens
from porter.cpp.plain_types import typed_kernels
from porter.cpp.runtime_strings import runtime_sources
from porter.engine import asking
from porter.engine import edits as editing
from porter.engine.calls import calls_of
from porter.engine.dialect import Dialect
from porter.engine.embedded import KERNEL_IN_STRING, Embedded, embed
from porter.engine.fixpoint import is_name_for_name, is_settled
from porter.engine.insertion import include_edit
from porter.engine.own_lines import Lines
from porter.engine.rule import Rule, known_words
from porter.engine.second_look import SecondLook
from porter.engine.semantics import Semantics
from porter.engine.support import FOLDER, SupportTable
from porter.engine.suppress import Allowance, allowances, covering, idle, words_for
from porter.engine.trace import Trace
from porter.engine.unit import Unit
from porter.model import Edit, Effort, Finding, Kernel, PortedFile, Settings, Span
from porter.names.table import NameTable
from porter.source import SourceFile

CUSTOM = "custom-rewrite"
"""The rule that is asked before all others."""
MAX_PASSES = 6
"""A file that still changes after so many passes is a bug of ours, and reported as one."""

CONFLICT, NOT_CONVERGED, UNREADABLE, BAD_ALLOW, RULE_FAILED, NOT_PARSED, INACTIVE_BRANCH, DEEP, IDLE_ALLOW = (
    "E001",
    "E002",
    "E003",
    "E004",
    "E005",
    "E006",
    "E007",
    "E009",
    "E011",
)
_PARTLY = frozenset({NOT_CONVERGED, RULE_FAILED, NOT_PARSED, DEEP})
"""Findings that say that rules did not see all of a file."""
_BUILD_RULE = re.compile(r"K\d{3}")


@dataclass(frozen=True)
class Context:
    """What all files of a run share."""

    settings: Settings
    names: NameTable
    support: SupportTable
    rules: tuple[Rule, ...]
    declared: frozenset[str] = frozenset()
    headers: frozenset[str] = frozenset()
    renamed: Mapping[str, str] = field(default_factory=dict)
    parse: Callable[[SourceFile, Tokens, bool], Semantics | None] | None = None
    included_file: Included | None = None
    beside: Callable[[], tuple[SourceFile, ...]] | None = None
    """Of a header: what a source that includes it includes besides."""
    dialect: Dialect | None = None
    """What the project says of the file as a whole; None: its name and its text decide."""
    defines: tuple[str, ...] = ()
    hidden: frozenset[str] = frozenset()
    """Of the declared names those that the file declares itself, where no other sees them."""
    for_amd: frozenset[str] = frozenset()
    """Of the declared names those that the project declares for AMD's compiler alone."""
    trace: Trace | None = None
    """Says which files need not be looked at; None: all are."""
    header_files: dict[Path, Headers] = field(default_factory=dict)
    """The project's headers as this run found them, by the project's root."""

    def unit(self, source: SourceFile) -> Unit:
        """A file as the rules of this run see it."""
        return Unit(
            source,
            self.settings,
            self.names,
            self.support,
            self.declared,
            self.headers,
            self.renamed,
            self.parse,
            self.included_file,
            self.dialect,
            self.defines,
            self.hidden,
            self.for_amd,
            self.beside,
        )


def _is_colour_profile(source: SourceFile) -> bool:
    """Whether it is no C++: images have profiles in `.icc` files, too."""
    return source.path.lower().endswith(".icc") and source.data[36:40] == b"acsp"


def _as_it_is(source: SourceFile, output: str) -> PortedFile:
    return PortedFile(source.path, output, source.data, False, (), lines=source.line_count)


def port(source: SourceFile, context: Context, output: str, support_path: str = "") -> PortedFile:
    """Ports one file to a fixed point.

    `support_path` is prefixed to our support headers in #include lines (`../` per folder below the root).
    """
    if source.problem is not None:
        return _as_it_is(source, output) if _is_colour_profile(source) else _unportable(source, output)
    if context.trace is not None and not context.trace.concerns(source, context.included_file):
        return _as_it_is(source, output)
    endless: frozenset[str] = frozenset()
    while True:
        done = _ported(source, context, output, support_path, endless)
        if isinstance(done, PortedFile):
            return done
        endless |= done


def _ported(
    source: SourceFile, context: Context, output: str, support_path: str, endless: frozenset[str]
) -> PortedFile | frozenset[str]:
    """The file at its fixed point, or the codes of the rules that still change it after the last pass.

    What the rules in `endless` ask for is reported and not done.
    """
    first = context.unit(source)
    lines = Lines(source, first.dialects)
    rules = lines.asked(context.rules)
    if context.dialect is not first.dialects.file:
        context = replace(context, dialect=first.dialects.file)
    unit = first
    kept: list[Finding] = []
    support: set[str] = set()
    crashes: list[str] = []
    notes: list[Finding] = []
    lost: list[editing.Conflict] = []
    passes = 0
    trail: list[Sequence[Edit]] = []
    own = tuple(rule for rule in asking.named(rules, CUSTOM) if rule.applies(unit))
    if own:
        unit, kept = _rewritten(unit, context, own, support_path, crashes, lines, trail)
    asked, data, before, alike = unit, unit.source.data, len(trail), True
    rules = asking.others(rules, CUSTOM)
    while True:
        passes += 1
        embedded = _embedded(unit, context, rules)
        found, accepted, inserted = _one_pass(
            unit, embedded, rules, support_path, crashes, support, lines, trail, endless
        )
        if passes == 1:
            notes = [note for one in embedded for note in one.findings(_parser_notes(one.unit, ()))]
            inside = tuple(kernel for one in embedded for kernel in one.kernels())
        kept += _reported(found, accepted, trail, source, passes == 1)
        if passes == 1:
            lost += accepted.conflicts
            rules = asking.changing(rules)
        if not accepted.edits and inserted is None:
            break
        if passes > MAX_PASSES:
            if codes := frozenset(finding.code for finding in accepted.findings if finding.edits) - endless:
                return codes
            kept.append(_not_converged(source, frozenset()))
            break
        support |= {i for f in accepted.findings for i in f.includes if i.startswith(FOLDER + "/")}
        changes = [*accepted.edits, *([inserted] if inserted else [])]
        trail.append(editing.in_order(changes))
        text = editing.apply(unit.source.text, changes)
        data = text.encode("latin-1")
        if first.tokens.is_balanced and is_settled(unit, accepted, inserted, rules, text):
            break
        edited = SourceFile(source.path, data)
        alike = alike and not _changes_directive(unit, changes)
        unit = _looked_at_again(context, edited, asked, trail[before:]) if alike else context.unit(edited)
    kernels = (*_kernels(first), *inside)
    kept += _unsettled(lost, kept)
    kept = lines.compiled(kept)
    kept += [*_parser_notes(asked, kept if asked is first else ()), *notes, *_deep_notes(first)]
    kept += [_not_converged(source, endless)] if endless else []
    kept += _idle_allows(first, lines, context, kept)
    calls = calls_of(first.tokens, first.dialects, kept, first.headed_functions_seen)
    return PortedFile(
        path=source.path,
        output=output,
        data=data,
        changed=data != source.data,
        findings=tuple(sorted(kept, key=_order)),
        kernels=kernels,
        lines=source.line_count,
        passes=passes,
        crashes=tuple(crashes),
        support=tuple(sorted(support)),
        edits=editing.compose(trail, len(source.text)),
        calls=calls,
    )


def _looked_at_again(context: Context, source: SourceFile, asked: Unit, trail: Sequence[Sequence[Edit]]) -> Unit:
    """The file after edits; what clang said before them holds for all that they did not write."""
    unit = context.unit(source)
    original = asked.__dict__.get("semantics")
    if original is not None and unit.parse is not None:
        parse = functools.partial(unit.parse, source, unit.tokens, True)
        unit.__dict__["semantics"] = SecondLook(original, tuple(trail), parse)
    return unit


def _changes_directive(unit: Unit, edits: Iterable[Edit]) -> bool:
    """Whether an edit in a preprocessor line other than an #include does more than put a name for a name."""
    lines = [directive for directive in unit.tokens.directives if directive.name not in ("include", "pragma")]
    starts = [directive.start for directive in lines]
    more = (edit.start for edit in edits if not is_name_for_name(unit, edit))
    places = ((start, bisect.bisect_right(starts, start) - 1) for start in more)
    return any(place >= 0 and start < lines[place].end for start, place in places)


def _rewritten(
    unit: Unit,
    context: Context,
    rules: tuple[Rule, ...],
    support_path: str,
    crashes: list[str],
    lines: Lines,
    trail: list[Sequence[Edit]],
) -> tuple[Unit, list[Finding]]:
    """The file after the user's own rewrites, which come before all rules; `trail` gets what they changed."""
    kept: list[Finding] = []
    support: set[str] = set()
    source = unit.source
    for passes in range(1, MAX_PASSES + 1):
        found, accepted, inserted = _one_pass(unit, (), rules, support_path, crashes, support, lines, trail)
        kept += _reported(found, accepted, trail, source, passes == 1)
        changes = [*accepted.edits, *([inserted] if inserted else [])]
        if not changes:
            return unit, kept
        trail.append(editing.in_order(changes))
        unit = context.unit(SourceFile(source.path, editing.apply(unit.source.text, changes).encode("latin-1")))
    return unit, [*kept, _not_converged(source, frozenset(finding.code for finding in accepted.findings))]


def _order(finding: Finding) -> tuple[int, int, str, str]:
    return (finding.span.start, finding.span.end, finding.code, finding.message)


def find(
    unit: Unit,
    rules: Iterable[Rule],
    crashes: list[str] | None = None,
    lines: Lines | None = None,
    trail: Sequence[Sequence[Edit]] = (),
) -> list[Finding]:
    """All findings of the rules in one unit, suppressions marked; with `lines`, only where a rule is at home.

    A rule that raises is left out for this file: the others must not suffer, and the finding says so. Tracebacks are
    added to `crashes`, and comments that suppress to `lines.covered`.
    """
    findings: list[Finding] = []
    at_home = None if lines is None or lines.keeps_all else lines
    for rule in asking.asked(unit, tuple(rules)):
        try:
            if type(rule).applies is Rule.applies or rule.applies(unit):
                found = rule.find(unit)
                findings += found if at_home is None else at_home.kept(rule, found, trail)
        except RecursionError:
            message = f"rule {rule.code} was left out for this file"
            findings.append(_engine_finding(unit.source, DEEP, "too-deep", message, Effort.REVIEW))
        except MemoryError:
            raise
        except Exception as error:
            findings.append(_rule_failed(unit, rule, error))
            if crashes is not None:
                crashes.append(traceback.format_exc())
    findings = [editing.apart(finding, unit.source.text) if finding.edits else finding for finding in findings]
    allowed = allowances(unit.source, unit.tokens)
    if not allowed:
        return findings
    by_line: defaultdict[int, list[Allowance]] = defaultdict(list)
    for allowance in allowed:
        by_line[allowance.line].append(allowance)
    by = [covering(finding, by_line) for finding in findings]
    if lines is not None:
        lines.covered.update((a.number, word) for f, a in zip(findings, by, strict=True) if a for word in words_for(f))
    marked = [_suppress(finding, allowance) for finding, allowance in zip(findings, by, strict=True)]
    return marked + [_bad_allow(unit, allowance) for allowance in allowed if not allowance.reason]


def _suppress(finding: Finding, allowance: Allowance | None) -> Finding:
    return finding if allowance is None else replace(finding, suppressed=allowance.reason, edits=(), includes=())


def _embedded(unit: Unit, context: Context, rules: tuple[Rule, ...]) -> tuple[Embedded, ...]:
    """The kernels in strings of a file that are compiled at run time."""
    if not asking.named(rules, KERNEL_IN_STRING):
        return ()
    sources = runtime_sources(unit.tokens)
    return tuple(embed(unit.source, source, context.unit) for source in sources if source.literal is not None)


def _one_pass(
    unit: Unit,
    embedded: Iterable[Embedded],
    rules: tuple[Rule, ...],
    support_path: str,
    crashes: list[str],
    support: set[str],
    lines: Lines,
    trail: Sequence[Sequence[Edit]],
    endless: frozenset[str] = frozenset(),
) -> tuple[list[Finding], editing.Accepted, Edit | None]:
    found = find(unit, rules, crashes, lines, trail)
    kept = {finding.span.start for finding in found if finding.rule == KERNEL_IN_STRING and finding.suppressed}
    for one in embedded:
        if one.start in kept:
            continue
        inside = find(one.unit, rules, crashes)
        found += one.findings(inside)
        support |= one.support(inside)
    found = [_not_done(finding) if finding.code in endless else finding for finding in found]
    accepted = editing.accept(found)
    wanted = _include_lines(unit, accepted.findings, support_path)
    return found, accepted, include_edit(unit.source, unit.tokens, wanted, accepted.edits)


def _include_lines(unit: Unit, findings: Iterable[Finding], support_path: str) -> list[str]:
    """The #include operands that accepted findings need and the file lacks: system headers first."""
    wanted = sorted({include for finding in findings for include in finding.includes}, key=_include_key)
    present = unit.included_by_port
    lines: list[str] = []
    for include in wanted:
        name = include.strip("<>")
        target = name if include.startswith("<") else support_path + name
        if target not in present:
            lines.append(include if include.startswith("<") else f'"{target}"')
    return lines


def _include_key(include: str) -> tuple[bool, str]:
    return (not include.startswith("<"), include)


def _reported(
    found: Iterable[Finding],
    accepted: editing.Accepted,
    trail: Sequence[Sequence[Edit]],
    source: SourceFile,
    first: bool,
) -> Iterable[Finding]:
    """Findings of this pass that belong in the report: later passes add only what they rewrote."""
    winners = set(map(id, accepted.findings))
    losers = {id(conflict.loser) for conflict in accepted.conflicts}
    for finding in found:
        if not first and id(finding) not in winners:
            continue
        if id(finding) in losers:
            continue
        yield editing.mapped_back(finding, trail, source)


def _kernels(unit: Unit) -> tuple[Kernel, ...]:
    """The kernels with types; clang is asked where the types' own words do not tell, or macros make kernels."""
    if not unit.kernels and not unit.program.kernel_heads:
        return ()
    if unit.kernels and "semantics" not in unit.__dict__ and not unit.program.makes_kernels:
        typed = typed_kernels(unit.kernels, unit.declared)
        if typed is not None:
            known = {function.name: function.qualified for function in unit.device_functions}
            return tuple(replace(k, callees=tuple(known.get(c, c) for c in k.callees)) for k in typed)
    semantics = unit.outline
    return semantics.kernels if semantics is not None else unit.kernels


def _unsettled(lost: Iterable[editing.Conflict], kept: Iterable[Finding]) -> list[Finding]:
    """Conflicts of the first pass whose loser no later pass came back to, though not all its text was replaced."""
    done = {(finding.code, finding.line) for finding in kept}
    return [
        replace(
            loser,
            code=CONFLICT,
            rule="edit-conflict",
            effort=Effort.REVIEW,
            message=f"{loser.code} gave way to {winner.code} here: {loser.message}",
            edits=(),
            includes=(),
        )
        for winner, loser in ((conflict.winner, conflict.loser) for conflict in lost)
        if (loser.code, loser.line) not in done and not _covers(winner, loser)
    ]


def _covers(winner: Finding, loser: Finding) -> bool:
    """Whether all the text that the loser wanted to change is gone with the winner's edits."""
    return all(any(w.start <= e.start and e.end <= w.end for w in winner.edits) for e in loser.edits)


def _parser_notes(unit: Unit, findings: Iterable[Finding]) -> Iterable[Finding]:
    """What clang did not see of a file that it was asked about: the port of that rests on the tokens alone."""
    if unit.parse is None or unit.__dict__.keys().isdisjoint({"semantics", "outline"}):
        return
    semantics = unit.outline
    if semantics is None:
        message = "clang could not parse the file: it was ported from its tokens alone"
        yield _engine_finding(unit.source, NOT_PARSED, "not-parsed", message, Effort.REVIEW)
        return
    if semantics.own_errors:
        message = f"clang reports {semantics.own_errors} errors outside function bodies; there the tokens alone decided"
        yield _engine_finding(unit.source, NOT_PARSED, "not-parsed", message, Effort.NONE)
    skipped = [f for f in findings if f.fixed and semantics.is_inactive(f.span.start)]
    if skipped:
        message = f"{len(skipped)} rewrites from here on are in branches that no pass compiles: only the tokens decided"
        span = skipped[0].span
        yield _engine_finding(unit.source, INACTIVE_BRANCH, "inactive-branch", message, Effort.NONE, span)


def _deep_notes(unit: Unit) -> Iterable[Finding]:
    """Where the reader of bodies gave up, if it did: rules see nothing of what is inside."""
    offset = unit.tokens.memo.get(TOO_DEEP)
    if isinstance(offset, int):
        message = "from here on the code nests too deeply to be followed: names are renamed, no more"
        yield _engine_finding(unit.source, DEEP, "too-deep", message, Effort.REVIEW, Span(offset, offset))


def _unportable(source: SourceFile, output: str) -> PortedFile:
    finding = _engine_finding(source, UNREADABLE, "unreadable-source", source.problem or "", Effort.MANUAL)
    return PortedFile(source.path, output, source.data, False, (finding,), lines=source.line_count)


def _engine_finding(
    source: SourceFile, code: str, rule: str, message: str, effort: Effort, span: Span | None = None
) -> Finding:
    place = span or Span(0, 0)
    line, column = source.position(place.start)
    return Finding(code, rule, effort, source.path, line, column, message, place)


def _rule_failed(unit: Unit, rule: Rule, error: Exception) -> Finding:
    message = f"bug in porter: rule {rule.code} failed on this file and was left out: {type(error).__name__}: {error}"
    return _engine_finding(unit.source, RULE_FAILED, "rule-failed", message, Effort.MANUAL)


def _bad_allow(unit: Unit, allowance: Allowance) -> Finding:
    return _engine_finding(
        unit.source,
        BAD_ALLOW,
        "allow-without-reason",
        "an allow comment needs a reason after the bracket; it suppresses nothing",
        Effort.REVIEW,
        allowance.span,
    )


def _idle_allows(unit: Unit, lines: Lines, context: Context, kept: Iterable[Finding]) -> Iterator[Finding]:
    """Allow comments that cover nothing, of rules that had their say in all of the file."""
    allowed = allowances(unit.source, unit.tokens)
    if not allowed:
        return
    settings = context.settings
    by_mode = settings.warp == "native" or settings.native_kernels
    partly = context.parse is None or by_mode or not _PARTLY.isdisjoint(finding.code for finding in kept)
    asked = () if partly else lines.asked(context.rules)
    words = frozenset(word for rule in asked if not rule.native_mode_only for word in (rule.code, rule.name))
    known = known_words() | {code for one in allowed for code in one.codes if _BUILD_RULE.fullmatch(code)}
    for allowance, said in idle(allowed, lines.covered, words, known):
        message = f"an allow comment that covers nothing: {said}"
        yield _engine_finding(unit.source, IDLE_ALLOW, "idle-allow", message, Effort.NONE, allowance.span)


def _not_done(finding: Finding) -> Finding:
    if not finding.edits:
        return finding
    message = f"{finding.message}; not done: it would be done again in what it leads to"
    return replace(finding, edits=(), includes=(), effort=Effort.MANUAL, message=message)


def _not_converged(source: SourceFile, codes: frozenset[str]) -> Finding:
    what = f"rules {', '.join(sorted(codes))}" if codes else "lines of #include"
    return _engine_finding(
        source,
        NOT_CONVERGED,
        "not-converged",
        f"{what} still changed the file after {MAX_PASSES} passes, and were left out",
        Effort.MANUAL,
    )
