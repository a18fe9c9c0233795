"""Blocks that the text of a kernel fixes: what is told of them, and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from porter.validation.draft.blocks import block_of
from porter.validation.draft.guessing import GUESSES, search
from porter.validation.draft.init import draft

KNOWN = {"TILE": 16, "BLOCK": 256, "ROWS": 8, "HUGE_N": 4096}


def number(written: str) -> int | None:
    text = written.strip()
    return KNOWN.get(text) or (int(text) if text.isdigit() else None)


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
    ],
)
def test_what_is_told(body: str, wanted: tuple[int, ...]) -> None:
    assert block_of(body, number) == wanted


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
