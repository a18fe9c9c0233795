"""Blocks that the text of a kernel fixes: what is told of them, and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from porter.validation.draft.blocks import block_of, strides_of
from porter.validation.draft.guessing import GUESSES, search
from porter.validation.draft.init import draft

KNOWN = {"TILE": 16, "BLOCK": 256, "ROWS": 8, "HUGE_N": 4096}


def number(written: str) -> int | None:
    text = written.strip()
    halved = text.removesuffix("/ 2").strip()
    return KNOWN[halved] // 2 if halved != text else KNOWN.get(text) or (int(text) if text.isdigit() else None)


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("int i = blockIdx.x * blockDim.x + threadIdx.x; a[i] = 1;", ()),
        ("int i = blockIdx.x * stride + threadIdx.x; a[i] = 1;", ()),  # no number
        ("__shared__ float s[BLOCK]; s[threadIdx.x + 1] = 1;", ()),  # not by the thread alone
        ("__shared__ float s[HUGE_N]; s[threadIdx.x] = 1;", ()),  # more than a block has
        ("int i = other.x * BLOCK + threadIdx.x;", ()),
        ("int i = blockIdx.x * BLOCK + threadIdx.x;", (256,)),
        ("int tid = threadIdx.x; int gid = BLOCK * blockIdx.x + tid;", (256,)),
        ("int y = threadIdx.y + blockIdx.y * ROWS, x = threadIdx.x + TILE * blockIdx.x;", (16, 8)),
        ("int i = __mul24(blockIdx.x, BLOCK) + threadIdx.x;", (256,)),
        ("__shared__ float s[BLOCK]; const int t = threadIdx.x; s[t] = 1;", (256,)),
        ("__shared__ float s[TILE][TILE + 1]; s[threadIdx.y][threadIdx.x] = 1;", (16, 16)),
        ("__shared__ float s[32][33]; s[threadIdx.y][threadIdx.x] = 1;", (32, 32)),
        ("int y = threadIdx.y + blockIdx.y * ROWS;", ()),  # nothing tells x
        ("using R = cub::BlockReduce<float, BLOCK>; __shared__ int s[TILE]; s[threadIdx.x] = 1;", (256,)),
        ("using R = cub::BlockReduce<float, N>; a[threadIdx.x] = 1;", ()),
        ("int i = threadIdx.y * pitch + threadIdx.x;", ()),  # no number
        ("int i = threadIdx.y * TILE + threadIdx.x * 2;", (16,)),  # rows of 16, all the same
        ("int i = n.threadIdx.y * TILE + other.threadIdx.x;", ()),
        ("int y = threadIdx.y, x = threadIdx.x; s[y * TILE + x] = 1;", (16,)),
        ("int y = threadIdx.y, x = threadIdx.x; s[x * 6 + y] = 1;", (6, 6)),  # square, where one side is told
        ("int y = threadIdx.y, x = threadIdx.x; s[x * 64 + y] = 1;", ()),  # a square of more than 1024
        ("if (threadIdx.x == TILE - 1) a[0] = 1; if (threadIdx.y == ROWS / 2 - 1) a[1] = 1;", (16, 4)),
        ("if (threadIdx.x == n - 1) a[0] = 1;", ()),
        ("if (threadIdx.x == 0) a[threadIdx.x - 1] = 1;", ()),
        ("__launch_bounds__(BLOCK) k(int* a) { a[threadIdx.x] = 1; }", (256,)),
        ("__launch_bounds__(BLOCK, 2) k(int* a) { a[threadIdx.y * 32 + threadIdx.x] = 1; }", (32, 8)),
        ("__launch_bounds__(BLOCK) k(int* a) { a[threadIdx.y * 48 + threadIdx.x] = 1; }", (48,)),  # not a whole number
        ("__launch_bounds__(HUGE_N) k(int* a) { a[threadIdx.x] = 1; }", ()),
    ],
)
def test_what_is_told(body: str, wanted: tuple[int, ...]) -> None:
    assert block_of(body, number) == wanted


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("for (int i = t; i < n; i += step) s[i] = 1;", ()),
        ("for (int i = t; i < n; i += 4) s[i] = 1;", ()),  # no warp's multiple
        ("for (int k = 0; k < 4; k++) s[t + k * HUGE_N] = 1;", ()),
        ("for (int i = t; i < n; i += BLOCK) s[i] = 1;", (256,)),
        ("s[t + i * 512] = a[t + 512 * i]; b[i] = c[j + 64 * k];", (512, 64)),
    ],
)
def test_what_loops_step_by(body: str, wanted: tuple[int, ...]) -> None:
    assert strides_of(body, number) == wanted


def test_rows_of_threads_and_what_loops_step_by_make_a_block(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(
        "__global__ void k(float* a) {\n  extern __shared__ float s[];\n"
        "  int at = threadIdx.y * 128 + threadIdx.x;\n"
        "  for (int i = 0; i < 4; i++) s[at + i * 512] = a[at];\n  a[at] = s[at]; }\n"
    )
    (part,) = draft(tmp_path / "k.cu", assuming=True).parts
    assert part.block == (128,) and part.strides == (512,)
    going = search(part)
    seen = [next(line for line in next(going).after if line.startswith("block"))]
    seen += [next(line for line in going.send("not run").after if line.startswith("block")) for _ in range(4)]
    assert seen == ["block = [128, 1]"] * 4 + ["block = [128, 4]"]


def test_a_block_by_values_that_nothing_defines(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(
        "__global__ void k(float* a) {\n  __shared__ float s[NX * NY];\n"
        "  if (threadIdx.x == NX - 1 && threadIdx.y == NY / 2 - 1) a[0] = s[0]; }\n"
    )
    (part,) = draft(tmp_path / "k.cu", assuming=True).parts
    assert part.block == () and part.block_with is not None
    assert part.block_with({"NX": "8", "NY": "4"}) == ((8, 2), ())


def test_it_is_tried_first_and_the_usual_ones_after_it(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(
        "#define TILE 8\n"
        "template <int N> __global__ void k(float* a) {\n  __shared__ float s[TILE][N + 1];\n"
        "  s[threadIdx.y][threadIdx.x] = a[threadIdx.x];\n  a[threadIdx.y] = s[threadIdx.y][threadIdx.x]; }\n"
    )
    (part,) = draft(tmp_path / "k.cu", assuming=True).parts
    assert part.kernel == "k<4>" and part.block == (4, 8)
    going = search(part)
    assert "block = [4, 8]" in next(going).after
    for _ in range(3):  # smaller sizes, as many as threads, large ones
        assert "block = [4, 8]" in going.send("not run").after
    assert f"block = [{GUESSES[0].block[1][0]}, {GUESSES[0].block[1][1]}]" in going.send("not run").after
