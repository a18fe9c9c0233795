"""C106: libcu++'s barriers and pipelines whose threads do different things."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Effort, Finding, Rule, Unit, clean, reports


class PipelineRoles(Rule):
    """Barrier or pipeline of libcu++ between threads that part

    `porter/libcudacxx.hpp` supplies `cuda::barrier` as a counter that is waited for in a loop. CUDA's threads make
    progress of their own, and those of one wavefront on gfx942 do not: where some of its 64 lanes wait and others
    arrive in another branch, the kernel hangs. Two warps of CUDA's share a wavefront, so that a producer warp and a
    consumer warp have to be 64 threads each. A pipeline with producers and consumers is not supplied.
    """

    code = "C106"
    only_reports = True
    triggers = frozenset({"barrier", "make_pipeline"})
    text = "cuda/"
    examples = (
        reports(
            "#include <cuda/barrier>\n__device__ void f(cuda::barrier<cuda::thread_scope_block> *b);",
            effort=Effort.REVIEW,
        ),
        reports(
            "#include <cuda/pipeline>\n"
            "__device__ void f() { auto p = cuda::make_pipeline(block, &state, cuda::pipeline_role::producer); }"
        ),
        clean("#include <cuda/pipeline>\n__device__ void f() { auto p = cuda::make_pipeline(block, &state); }"),
        clean("#include <cuda/barrier>\nstruct S { int barrier; }; namespace own { class barrier; } own::barrier *b;"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per place."""
        tokens = unit.tokens
        for index in tokens.names.get("barrier", ()):
            if tokens.texts[index - 2 : index] == ["cuda", "::"] and tokens.texts[index - 3] != "::":
                message = (
                    "threads of one wavefront that part, some to wait at it and some to arrive later, hang on gfx942"
                )
                yield self.finding(unit, unit.span(index), f"cuda::barrier: {message}", Effort.REVIEW)
        for index in tokens.names.get("make_pipeline", ()):
            if len(unit.arguments(index)) > 2:
                message = (
                    "a pipeline with producers and consumers is not supplied: let all threads do both, or copy plainly"
                )
                yield self.finding(unit, unit.span(index), message, Effort.MANUAL)
