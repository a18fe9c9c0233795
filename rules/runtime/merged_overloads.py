"""R016: overloads for two CUDA types that are one type in HIP."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Effort, Finding, Rule, Unit, clean, reports

_MERGED = (
    frozenset({"CUresult", "cudaError_t", "cudaError"}),
    frozenset({"CUdevice_attribute", "cudaDeviceAttr"}),
    frozenset({"CUtexObject", "CUsurfObject", "cudaTextureObject_t", "cudaSurfaceObject_t"}),
)
_BRANCHES = frozenset({"if", "ifdef", "ifndef", "elif", "else", "endif"})
_SAME_IN_CUDA = (
    frozenset({"cudaError_t", "cudaError"}),
    frozenset({"CUtexObject", "CUsurfObject", "cudaTextureObject_t", "cudaSurfaceObject_t"}),
)


class MergedOverloads(Rule):
    """Overloads that become one function

    The driver's and the runtime's types differ in CUDA and are one in HIP: `CUresult` and `cudaError_t` both become
    `hipError_t`. A function overloaded for the two is defined twice after the renaming. Remove one of the definitions;
    where they stand in different branches of `#if`, make sure that only one branch is compiled.
    """

    code = "R016"
    only_reports = True
    triggers = frozenset({"CUresult", "CUdevice_attribute"})
    examples = (
        reports(
            """
            static const char *name(cudaError_t e) { return cudaGetErrorName(e); }
            static const char *name(CUresult e) { return "driver"; }
            """
        ),
        reports(
            """
            #ifdef __DRIVER_TYPES_H__
            static const char *name(cudaError_t e, int) { return cudaGetErrorName(e); }
            #endif
            #ifdef CUDA_DRIVER_API
            static const char *name(CUresult e, int) { return "driver"; }
            #endif
            """,
            effort=Effort.REVIEW,
        ),
        clean("const char *a(cudaError_t e) { return 0; }\nconst char *b(CUresult e) { return a(cudaSuccess); }"),
        clean("void f(cudaError_t e) { g(e); }\nvoid f(CUresult e, int n) { g(e); }"),
        clean("void f(cudaError_t e) { g(e); }\nvoid f(CUresult e);"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per second definition."""
        for types in _MERGED:
            first: dict[tuple[str, ...], tuple[int, str]] = {}
            for index, name in sorted((i, t) for t in types & unit.tokens.names.keys() for i in unit.occurrences(t)):
                signature = _definition(unit, index, types)
                if signature is None:
                    continue
                place, other = first.setdefault(signature, (index, name))
                if other != name and not any({name, other} <= same for same in _SAME_IN_CUDA):
                    apart = _stand_apart(unit, place, index)
                    message = f"{signature[0]} is overloaded for {other} and {name}, which are one type in HIP"
                    yield self.finding(unit, unit.span(index), message, Effort.REVIEW if apart else Effort.MANUAL)


def _stand_apart(unit: Unit, one: int, other: int) -> bool:
    """Whether a branch of the preprocessor begins or ends between two tokens."""
    starts = unit.tokens.starts
    return any(directive.name in _BRANCHES for directive in unit.tokens.directives_in(starts[one], starts[other]))


def _definition(unit: Unit, index: int, types: frozenset[str]) -> tuple[str, ...] | None:
    """The function whose definition has the type at `index` among its parameters: its name and all their types."""
    tokens = unit.tokens
    opened = next((i for i in range(index - 1, max(-1, index - 40), -1) if tokens.texts[i] in ("(", ")", ";", "{")), -1)
    if opened < 1 or tokens.texts[opened] != "(" or not tokens.texts[opened - 1].isidentifier():
        return None
    closed = tokens.partner.get(opened, 0)
    if not closed or not unit.next_is(closed, "{"):
        return None
    parameters: list[str] = []
    start = opened + 1
    for i in range(opened + 1, closed + 1):
        if i == closed or tokens.texts[i] == ",":
            words = ["*merged*" if text in types else text for text in tokens.texts[start:i] if text != "const"]
            named = len(words) > 1 and words[-1].isidentifier() and words[-2] not in ("unsigned", "::")
            parameters.append(" ".join(words[:-1] if named else words))
            start = i + 1
    return (tokens.texts[opened - 1], *parameters)
