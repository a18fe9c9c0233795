"""X101: fragments of tensor cores."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes

_HEADER = "porter/wmma.hpp"
_NOTE = (
    "a logical warp of 32 lanes multiplies by MFMA in blocks of 4 x 4, at a fraction of the speed of the large "
    "forms: for full speed rewrite the kernel with rocWMMA, or call hipBLASLt [wmma-header]"
)
_USES = ("matrix_a", "matrix_b", "accumulator", "precision::tf32")
_LAYOUTS = ("row_major", "col_major", "layout_t", "mem_row_major", "mem_col_major")
_FUNCTIONS = ("fill_fragment", "load_matrix_sync", "mma_sync", "store_matrix_sync", "__float_to_tf32")
_MEMBERS = ("fragment", "helper_traits", *_USES, *_LAYOUTS, *_FUNCTIONS)


class WmmaFragments(Rule):
    """Tensor cores through `nvcuda::wmma`

    HIP has no `mma.h`, and the fragments of rocWMMA spread over 64 lanes, with other shapes. `porter/wmma.hpp` has
    CUDA's fragments, layouts and shapes for logical warps of 32 lanes: each half of a wavefront multiplies for itself,
    with MFMA where all lanes of the wavefront take part, otherwise lane by lane. The results are as accurate as CUDA's;
    the speed is a fraction of what the GPU can do, so that products that matter should go through rocWMMA or hipBLASLt.
    Not covered are 4-bit and 1-bit elements (`wmma::experimental`).
    """

    code = "X101"
    triggers = frozenset({"nvcuda", "mma_sync"})
    answers = frozenset(f"nvcuda::wmma::{member}" for member in _MEMBERS)
    hazards = ("wmma-header", "wmma-warp-count-math", "mfma-accumulate-order")
    examples = (
        fixes(
            """
            using namespace nvcuda;
            __global__ void k(const half *a, const half *b, float *c) {
              wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x;
              wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> y;
              wmma::fragment<wmma::accumulator, 16, 16, 16, float> z;
              wmma::fill_fragment(z, 0.0f);
              wmma::load_matrix_sync(x, a, 16);
              wmma::load_matrix_sync(y, b, 16);
              wmma::mma_sync(z, x, y, z);
              wmma::store_matrix_sync(c, z, 16, wmma::mem_row_major);
            }
            """,
            """
            using namespace porter::nvcuda;
            __global__ void k(const half *a, const half *b, float *c) {
              wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x;
              wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> y;
              wmma::fragment<wmma::accumulator, 16, 16, 16, float> z;
              wmma::fill_fragment(z, 0.0f);
              wmma::load_matrix_sync(x, a, 16);
              wmma::load_matrix_sync(y, b, 16);
              wmma::mma_sync(z, x, y, z);
              wmma::store_matrix_sync(c, z, 16, wmma::mem_row_major);
            }
            """,
            effort=Effort.REVIEW,
        ),
        fixes("namespace w = ::nvcuda::wmma;", "namespace w = porter::nvcuda::wmma;"),
        clean("namespace w = porter::nvcuda::wmma;"),
        clean("namespace nvcuda { int f(); }"),
        clean("void mma_sync(int); void g() { mma_sync(3); }"),
        clean("namespace my { namespace nvcuda { int f(); } } int g() { return my::nvcuda::f(); }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per mention of the namespace and per product."""
        tokens = unit.tokens
        for index in tokens.names.get("nvcuda", ()):
            if not unit.is_free(index) or unit.next_is(index, "{"):
                continue
            first = index - 1 if index and tokens.texts[index - 1] == "::" else index
            span = unit.span(first, index)
            edit = Edit(span.start, span.end, "porter::nvcuda")
            message = "fragments of logical warps of 32 lanes take the place of CUDA's [wmma-header]"
            yield self.finding(unit, span, message, Effort.NONE, (edit,), (_HEADER,))
        if tokens.names.keys().isdisjoint(("nvcuda", "wmma")):
            return
        for index in tokens.names.get("mma_sync", ()):
            if unit.next_is(index, "(") and tokens.texts[index - 1] not in (".", "->", "void"):
                yield self.finding(unit, unit.span(index), _NOTE, Effort.REVIEW)
