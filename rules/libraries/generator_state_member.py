"""B006: members of cuRAND's generators."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Effort, Finding, Rule, Unit, clean, reports

_STATES = frozenset(
    f"curandState{kind}{ending}"
    for kind in ("", "XORWOW", "MRG32k3a", "Philox4_32_10", "Sobol32", "Sobol64", "ScrambledSobol32")
    for ending in ("", "_t")
)
_MEMBERS = frozenset({"v", "d", "s1", "s2", "ctr", "output", "key", "STATE", "i", "x", "c", "direction_vectors"}) | {
    f"boxmuller_{kind}" for kind in ("flag", "flag_double", "extra", "extra_double")
}
_BETWEEN = frozenset({"*", "&", "const", "__restrict__"})
_FURTHEST = 600
"""Tokens between the declaration of a state and where a member is named."""


class GeneratorStateMember(Rule):
    """Member of a cuRAND generator's state

    `state->v[0]` reads what cuRAND's XORWOW generator keeps. hipRAND's states hold rocRAND's engines, whose members
    have other names and are private: use `hiprand(state)` and its like, or a generator of the project's own.
    """

    code = "B006"
    only_reports = True
    triggers = _STATES
    examples = (
        reports("__device__ unsigned f(curandStateXORWOW_t *state) { return state->v[0] ^ state->d; }"),
        reports("__device__ float f(curandState &s) { return s.boxmuller_extra; }"),
        clean("__device__ unsigned f(curandState *state, int *v) { return curand(state) + v[0]; }"),
        clean("struct G { curandState state; int v; }; __device__ int f(G g) { return g.v; }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per place."""
        tokens = unit.tokens
        seen: set[int] = set()
        for state in sorted(index for name in _STATES for index in tokens.names.get(name, ())):
            variable = state + 1
            while tokens.texts[variable] in _BETWEEN:
                variable += 1
            for use in tokens.names.get(tokens.texts[variable], ()):
                member = use + 2
                if not variable < use < variable + _FURTHEST or member >= len(tokens) or member in seen:
                    continue
                if tokens.texts[use + 1] in (".", "->") and tokens.texts[member] in _MEMBERS:
                    seen.add(member)
                    message = (
                        f"{tokens.texts[member]} of {tokens.texts[state]}: hipRAND's generators have other members"
                    )
                    yield self.finding(unit, unit.span(member), message, Effort.MANUAL)
