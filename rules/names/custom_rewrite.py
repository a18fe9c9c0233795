"""A019: a rewrite of the project's own, from its porter.toml."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from porter.cpp.patterns import Match, edits_of, pattern, replacement
from porter.engine.rule import (
    Edit,
    Effort,
    Example,
    Finding,
    Rewrite,
    Rule,
    Settings,
    Span,
    Unit,
    clean,
    fixes,
    reports,
)


def _with(example: Example, *rewrites: Rewrite) -> Example:
    return replace(example, settings=Settings(rewrites=rewrites))


_COPY = Rewrite("myCopy($to, $from, $n)", "hipx::copy($to, $from, $n, 0)", include="<hipx/copy.h>")
_CHECK = Rewrite("CHECK($x, $rest...)", "HIP_CHECK($x, $rest...)", Effort.REVIEW, note="look at the message")


class CustomRewrite(Rule):
    """A rewrite that the settings ask for

    `[[rewrite]]` in porter.toml describes code of the project's own by a pattern, and what becomes of it, or only that
    a person has to look. These are done before all other rules, which then port what came out. Comments, strings and
    lines of AMD's own are left alone, and so is what a preprocessor line cuts in two.
    """

    code = "A019"
    by_names = True
    examples = (
        _with(
            fixes(
                "void f() { myCopy(a, b[g(1, 2)], 3); }",
                "void f() { hipx::copy(a, b[g(1, 2)], 3, 0); }",
            ),
            _COPY,
        ),
        _with(fixes("CHECK(x);", "HIP_CHECK(x);", effort=Effort.REVIEW), _CHECK),
        _with(fixes("CHECK(g<1, 2>(x), y, z);", "HIP_CHECK(g<1, 2>(x), y, z);", effort=Effort.REVIEW), _CHECK),
        _with(fixes("#define C(x) CHECK(x, 1)", "#define C(x) HIP_CHECK(x, 1)", effort=Effort.REVIEW), _CHECK),
        _with(
            reports("int f() { return nvOnly(1); }"),
            Rewrite("nvOnly($x)", None, Effort.MANUAL, "there is no like of it"),
        ),
        _with(clean('const char *s = "CHECK(x)"; // CHECK(x)'), _CHECK),
        _with(clean("CHECK(x,\n#if A\n1\n#else\n2\n#endif\n);"), _CHECK),
        _with(clean("void myCopy(int *to);"), _COPY),
        _with(clean("int CHECK;"), _CHECK),
        clean("CHECK(x);"),
    )

    def applies(self, unit: Unit) -> bool:
        """Whether a name that a pattern begins with occurs."""
        return any(pattern(rewrite.find).head in unit.tokens.names for rewrite in unit.settings.rewrites)

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per match."""
        for rewrite in unit.settings.rewrites:
            for match in pattern(rewrite.find).matches(unit.tokens):
                yield self._found(unit, rewrite, match)

    def _found(self, unit: Unit, rewrite: Rewrite, match: Match) -> Finding:
        tokens = unit.tokens
        span = Span(tokens.starts[match.first], tokens.end(match.last - 1))
        said = f": {rewrite.note}" if rewrite.note else ""
        if rewrite.replace is None:
            return self.finding(unit, span, f"{rewrite.find} is found{said}", rewrite.effort)
        find = pattern(rewrite.find)
        changes = edits_of(tokens, match, find, replacement(rewrite.replace, find.holes))
        edits = tuple(Edit(*change) for change in changes)
        includes = (rewrite.include,) if rewrite.include else ()
        return self.finding(
            unit, span, f"{rewrite.find} becomes {rewrite.replace}{said}", rewrite.effort, edits, includes
        )
