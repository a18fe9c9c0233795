"""B002: cusparseSpSM_solve without the work space."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes, reports

_SOLVE, _ANALYSIS = "cusparseSpSM_solve", "cusparseSpSM_analysis"
_SOLVE_COUNT = 10
_DESCRIPTOR = 9
_BUFFER = 10


class SpsmSolveBuffer(Rule):
    """Sparse triangular solve without its buffer

    `cusparseSpSM_solve` uses the buffer that `cusparseSpSM_analysis` was given. `hipsparseSpSM_solve` takes it as one
    more argument. It is passed where the file has one analysis of the same descriptor.
    """

    code = "B002"
    triggers = frozenset({_SOLVE})
    answers = triggers
    hazards = ("cusparse-hipsparse",)
    examples = (
        fixes(
            """
            void f() {
              cusparseSpSM_analysis(h, a, b, &alpha, A, B, C, CUDA_R_32F, alg, descr, buffer);
              cusparseSpSM_solve(h, a, b, &alpha, A, B, C, CUDA_R_32F, alg, descr);
            }
            """,
            """
            void f() {
              cusparseSpSM_analysis(h, a, b, &alpha, A, B, C, CUDA_R_32F, alg, descr, buffer);
              cusparseSpSM_solve(h, a, b, &alpha, A, B, C, CUDA_R_32F, alg, descr, buffer);
            }
            """,
        ),
        reports("void f() { cusparseSpSM_solve(h, a, b, &alpha, A, B, C, CUDA_R_32F, alg, descr); }"),
        clean("void f() { cusparseSpSM_solve(h, a, b, &alpha, A, B, C, CUDA_R_32F, alg, descr, buffer); }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per solve."""
        buffers = list(self._buffers(unit))
        for index in unit.occurrences(_SOLVE):
            arguments = [unit.slice(span) for span in unit.arguments(index)]
            if len(arguments) != _SOLVE_COUNT:
                continue
            span = unit.span(index)
            known = {buffer for descriptor, buffer in buffers if descriptor == arguments[_DESCRIPTOR]}
            if len(known) != 1:
                message = "hipsparseSpSM_solve takes the buffer of the analysis as its last argument"
                yield self.finding(unit, span, message, Effort.MANUAL)
                continue
            end = unit.arguments(index)[-1].end
            edits = (Edit(end, end, f", {known.pop()}"),)
            yield self.finding(unit, span, "hipsparseSpSM_solve takes the buffer as well", Effort.NONE, edits)

    @staticmethod
    def _buffers(unit: Unit) -> Iterator[tuple[str, str]]:
        """Descriptor and buffer of each analysis."""
        for index in unit.occurrences(_ANALYSIS) if _ANALYSIS in unit.tokens.names else ():
            arguments = [unit.slice(span) for span in unit.arguments(index)]
            if len(arguments) > _BUFFER:
                yield arguments[_DESCRIPTOR], arguments[_BUFFER]
