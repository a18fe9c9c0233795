"""C042: types of the project's own that <complex> has as functions, behind `using namespace std`."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes

_NAMES = frozenset({"real", "imag", "norm", "arg", "polar", "conj", "proj"})
_NOT_FREE = frozenset({".", "->", "::"})


class NameBesideStd(Rule):
    """Own type with a name of <complex>

    `typedef float real;` and `using namespace std;` go together as long as nobody includes <complex>. HIP's runtime
    header does, and then `real` is ambiguous. Each use says that it means the project's.
    """

    code = "C042"
    triggers = _NAMES
    examples = (
        fixes(
            "using namespace std;\ntypedef float real;\n__device__ real f(real x) { return (real)2 * x; }",
            "using namespace std;\ntypedef float real;\n__device__ ::real f(::real x) { return (::real)2 * x; }",
        ),
        fixes(
            "using namespace std;\ntypedef float real;\nfloat f(bool b, vector<real> x) { return b?1:real(2); }",
            "using namespace std;\ntypedef float real;\nfloat f(bool b, vector<::real> x) { return b?1: ::real(2); }",
        ),
        clean("typedef float real;\n__device__ real f(real x) { return x; }"),
        clean("using namespace std;\n__device__ float f(float real) { return real; }"),
        clean("using namespace std;\nstruct S { typedef float real; real x; };"),
        clean("using namespace std;\ntypedef float real;\nfloat f(C c) { return c.real() + std::real(c); }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per use."""
        for name in sorted(_NAMES & unit.identifiers):
            if not _is_own_type(unit, name) or not _opens_std(unit):
                continue
            texts = unit.tokens.texts
            for index in unit.tokens.names[name]:
                if texts[index - 1] in _NOT_FREE or _is_type_declared(texts, index):
                    continue
                start = unit.tokens.starts[index]
                message = f"{name} is ambiguous where HIP's header brings <complex> and std is open"
                scope = " ::" if unit.source.text[start - 1 : start] == ":" else "::"
                yield self.finding(unit, unit.span(index), message, Effort.NONE, (Edit(start, start, scope),))


def _is_own_type(unit: Unit, name: str) -> bool:
    """Whether a file in sight has `typedef ... name;` or `using name =` outside of all braces."""
    for tokens in unit.program.all_tokens:
        for index in tokens.names.get(name, ()):
            if _is_type_declared(tokens.texts, index):
                return next(tokens.braces_around(index), None) is None
    return False


def _is_type_declared(texts: list[str], index: int) -> bool:
    if texts[index + 1] == "=" and texts[index - 1] == "using":
        return True
    first = index
    while first > 0 and texts[first - 1] not in (";", "{", "}") and index - first < 8:
        first -= 1
    return texts[index + 1] == ";" and texts[first] == "typedef"


def _opens_std(unit: Unit) -> bool:
    return any(
        tokens.texts[index - 1 : index + 2] == ["using", "namespace", "std"]
        for tokens in unit.program.all_tokens
        for index in tokens.names.get("namespace", ())
    )
