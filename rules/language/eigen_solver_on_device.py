"""L025: Eigen's solver of eigenvalues in device code."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.cpp.heads import find_heads
from porter.cpp.syntax import Tokens, template_end
from porter.engine.rule import Effort, Finding, Rule, Unit, clean, reports

_SOLVER = "SelfAdjointEigenSolver"
_DIRECT = "computeDirect"
_SMALL = re.compile(r"Matrix[23][fd]|[,<]\s*([23])\s*,\s*\1\b")
_MOST_TOKENS = 60


class EigenSolverOnDevice(Rule):
    """Eigen's solver of eigenvalues in device code

    `Eigen::SelfAdjointEigenSolver` of a matrix larger than 3 by 3 calls functions of the host on its way
    (`HouseholderSequence`, products of triangular views). nvcc warns of the calls, and compiles. Clang refuses them in
    a kernel. `computeDirect`, which 2 by 2 and 3 by 3 matrices have, is for both sides.
    """

    code = "L025"
    only_reports = True
    triggers = frozenset({_SOLVER})
    examples = (
        reports(
            "template <class S, int n> __device__ void f(Eigen::Matrix<S, n, n> &m) "
            "{ Eigen::SelfAdjointEigenSolver<Eigen::Matrix<S, n, n>> s(m); m = s.eigenvectors(); }"
        ),
        reports("__global__ void f(M12 *m) { SelfAdjointEigenSolver<M12> s; s.compute(*m); }"),
        clean("__device__ void f(M &m) { Eigen::SelfAdjointEigenSolver<M> s; s.computeDirect(m); }"),
        clean("__device__ void f(Eigen::Matrix3f &m) { Eigen::SelfAdjointEigenSolver<Eigen::Matrix3f> s(m); }"),
        clean("__device__ void f(M &m) { Eigen::SelfAdjointEigenSolver<Eigen::Matrix<float, 3, 3>> s(m); }"),
        clean("void f(M &m) { Eigen::SelfAdjointEigenSolver<M> s(m); }"),
        clean(
            "template <class M> class SelfAdjointEigenSolver { __device__ SelfAdjointEigenSolver &direct(M &); };"
            "\ntemplate <class M> __device__ SelfAdjointEigenSolver<M> &SelfAdjointEigenSolver<M>::direct(M &m) "
            "{ solve<SelfAdjointEigenSolver, 9>::run(*this, m); return *this; }"
        ),
        reports(
            "template <class M> class SelfAdjointEigenSolver;\n"
            "template <class M> __device__ void f(M &m) { SelfAdjointEigenSolver<M> s; s.compute(m); }"
        ),
        clean("__device__ void g(); void f(M &m) { Eigen::SelfAdjointEigenSolver<M> s(m); }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per solver."""
        tokens = unit.tokens
        if _is_defined(tokens):
            return  # Eigen's own header, where it is used by nothing
        bodies = [
            (head.body, head.end)
            for side in ("__device__", "__global__")
            for head in find_heads(tokens, side)
            if head.body is not None
        ]
        direct = tokens.names.get(_DIRECT, ())
        for index in tokens.names.get(_SOLVER, ()):
            inside = [(first, last) for first, last in bodies if first < index < last]
            if not inside or any(first < place < last for first, last in inside for place in direct):
                continue
            end = template_end(tokens, index + 1, min(index + _MOST_TOKENS, len(tokens.texts))) or index + 1
            written = unit.source.text[tokens.starts[index] : tokens.end(end - 1)]
            if not _SMALL.search(written):
                message = f"{_SOLVER} calls functions of the host: nvcc warns and compiles, clang refuses them here"
                yield self.finding(unit, unit.span(index), message, Effort.MANUAL)


def _is_defined(tokens: Tokens) -> bool:
    """Whether the file has the class itself, with its body."""
    return any(
        tokens.texts[index - 1] in ("class", "struct") and tokens.texts[index + 1] in ("{", ":")
        for index in tokens.names.get(_SOLVER, ())
        if 0 < index < len(tokens.texts) - 1
    )
