"""bits.hpp against the words of CUDA's manual, computed one by one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from porter.validation.devices import gfx942
from porter.validation.devices.core.result import NotRun, Ran
from porter.validation.toolchain.clang import Assembled, assemble

from tests.include import hip
from tests.include.host import Library

SIGNATURES = {
    "popc": "int(unsigned)",
    "popcll": "int(unsigned long long)",
    "ffs": "int(int)",
    "ffsll": "int(long long)",
    "umul24": "unsigned(unsigned, unsigned)",
    "fns": "unsigned(unsigned, unsigned, int)",
}
SHIFTS = {
    "shift_left_u": "unsigned(unsigned, unsigned)",
    "shift_right_u": "unsigned(unsigned, unsigned)",
    "shift_right_s": "int(int, unsigned)",
    "shift_left_ull": "unsigned long long(unsigned long long, unsigned)",
}
_BOTH = "#ifdef __HIP__\n#define BOTH __host__ __device__ inline\n#else\n#define BOTH inline\n#endif\n"
SHIFT_WRAPPERS = _BOTH + "".join(
    f"namespace porter {{ BOTH {word} {name}({word} a, unsigned n) {{ return {name.rpartition('_')[0]}(a, n); }} }}\n"
    for name, word in ((name, signature.partition("(")[0]) for name, signature in SHIFTS.items())
)
"""The templates under a name for each type."""
DOTS = [f"{name}_{sign}" for name in ("dp4a", "dp2a_lo", "dp2a_hi") for sign in "su"]


def _dot_wrapper(name: str) -> str:
    word = "int" if name.endswith("_s") else "unsigned"
    parameters = f"{word} a, {word} b, {word} c"
    return f"namespace porter {{ inline {word} {name}({parameters}) {{ return {name[:-2]}(a, b, c); }} }}\n"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    words = {name: "int" if name.endswith("_s") else "unsigned" for name in DOTS}
    signatures = SIGNATURES | SHIFTS | {name: f"{word}({word}, {word}, {word})" for name, word in words.items()}
    extra = SHIFT_WRAPPERS + "".join(_dot_wrapper(name) for name in DOTS)
    return Library(tmp_path_factory.mktemp("bits"), "porter/bits.hpp", signatures, extra)


def _words(seed: int, bits: int = 32, count: int = 500) -> npt.NDArray[np.uint64]:
    """Random numbers with few, about half and many bits set, and the edges."""
    rng = np.random.default_rng(seed)
    dense, sparse = (rng.integers(0, 1 << bits, (3, count), dtype=np.uint64) for _ in range(2))
    edges = np.array([0, 1, 1 << bits - 1, (1 << bits) - 1], np.uint64)
    return np.concatenate([dense[0], dense[1] & dense[2] & sparse[0], sparse[1] | sparse[2], edges])


@pytest.mark.parametrize(("suffix", "bits"), [("", 32), ("ll", 64)])
def test_counting_bits(library: Library, suffix: str, bits: int) -> None:
    words = _words(bits, bits)
    unsigned = words.astype(np.uint64 if bits == 64 else np.uint32)
    signed = unsigned.view(np.int64 if bits == 64 else np.int32)
    values = [int(word) for word in words]
    assert library.call(f"popc{suffix}", unsigned).tolist() == [bin(v).count("1") for v in values]
    assert library.call(f"ffs{suffix}", signed).tolist() == [(v & -v).bit_length() for v in values]


def test_umul24(library: Library) -> None:
    a, b = _words(1), _words(2)
    expected = [(int(x) % 2**24) * (int(y) % 2**24) % 2**32 for x, y in zip(a, b, strict=True)]
    assert library.call("umul24", a, b).tolist() == expected


def test_shifts_by_any_count(library: Library) -> None:
    """As on numbers without end: what leaves the word is gone, and a sign goes on."""
    words = _words(8, 64)
    counts = np.random.default_rng(9).integers(0, 70, len(words)).astype(np.uint32)
    whole = [(int(word), int(count)) for word, count in zip(words, counts, strict=True)]
    short = [(word % 2**32, count) for word, count in whole]
    unsigned = words.astype(np.uint32)
    signed = unsigned.view(np.int32)
    assert library.call("shift_left_u", unsigned, counts).tolist() == [(w << n) % 2**32 for w, n in short]
    assert library.call("shift_right_u", unsigned, counts).tolist() == [w >> n for w, n in short]
    assert library.call("shift_left_ull", words, counts).tolist() == [(w << n) % 2**64 for w, n in whole]
    expected = [int(word) >> int(count) for word, count in zip(signed, counts, strict=True)]
    assert library.call("shift_right_s", signed, counts).tolist() == expected


def _nth_set_bit(mask: int, base: int, n: int) -> int:
    """The loop of the PTX manual."""
    if n == 0:
        return base if mask >> base & 1 else 0xFFFFFFFF
    position, left = base, abs(n)
    while 0 <= position < 32:
        left -= mask >> position & 1
        if left == 0:
            return position
        position += 1 if n > 0 else -1
    return 0xFFFFFFFF


def test_fns(library: Library) -> None:
    rng = np.random.default_rng(3)
    masks = rng.choice(_words(4), 4000)
    bases, numbers = rng.integers(0, 32, 4000), rng.integers(-34, 35, 4000)
    expected = [_nth_set_bit(int(m), int(b), int(n)) for m, b, n in zip(masks, bases, numbers, strict=True)]
    assert library.call("fns", masks, bases, numbers).tolist() == expected


def _pieces(word: int, bits: int, signed: bool) -> list[int]:
    raw = [word >> place & (1 << bits) - 1 for place in range(0, 32, bits)]
    return [x - (1 << bits) if signed and x >> bits - 1 else x for x in raw]


@pytest.mark.parametrize("name", DOTS)
def test_dot_products(library: Library, name: str) -> None:
    signed = name.endswith("_s")
    inputs = [_words(seed) for seed in (5, 6, 7)]
    expected = []
    for a, b, c in zip(*(column.tolist() for column in inputs), strict=True):
        left = _pieces(a, 8 if name.startswith("dp4a") else 16, signed)
        right = _pieces(b, 8, signed)[2 if "_hi" in name else 0 :]
        expected.append((c + sum(x * y for x, y in zip(left, right))) % 2**32)  # noqa: B905
    result = library.call(name, *(column.astype(np.uint32).view(np.int32) for column in inputs))
    assert result.astype(np.uint32).tolist() == expected


def test_dot_product_is_one_instruction(tmp_path: Path) -> None:
    kernel = """#include "porter/bits.hpp"
extern "C" __global__ void k(int* p) { p[0] = porter::dp4a(p[1], p[2], p[3]); }
extern "C" __global__ void u(unsigned* p) { p[0] = porter::dp4a(p[1], p[2], p[3]); }
extern "C" __global__ void v(char4* p, int* q) { q[0] = porter::dp4a(p[1], p[2], q[3]); }"""
    kernels = hip.assembly(kernel, tmp_path)
    assert all(any(line.startswith("v_dot4") for line in kernels[name]) for name in "kuv")


@pytest.mark.parametrize("target", hip.TARGETS)
def test_compiles_for_the_device(target: str, tmp_path: Path) -> None:
    kernel = """#include "porter/bits.hpp"
__global__ void k(unsigned* p, unsigned long m, short2 s, ushort2 us, char4 c, uchar4 uc) {
  p[0] = porter::popc(p[0]) + porter::popcll(m) + porter::ffs(p[0]) + porter::ffsll(m) + porter::umul24(p[0], p[1]);
  p[1] = porter::fns(p[0], 1, 2) + porter::dp2a_lo(s, c, 1) + porter::dp2a_lo(us, uc, 1u) + porter::dp2a_hi(1, 2, 3);
  p[2] = porter::dp2a_hi(s, c, 1) + porter::dp2a_hi(us, uc, 1u) + porter::dp4a(c, c, 1) + porter::dp4a(uc, uc, 1u);
}"""
    done = hip.compiled(kernel, tmp_path, target=target)
    assert done.returncode == 0, done.stderr


def test_dot_product_of_a_high_word(tmp_path: Path) -> None:
    """clang before 20 takes bytes of the low word for those of the high one, where it finds the sum itself."""
    device = gfx942.open_device()
    if isinstance(device, NotRun):
        pytest.skip(device.reason)
    source = tmp_path / "k.hip"
    source.write_text("""#include <hip/hip_runtime.h>
#include "porter/bits.hpp"
#include "porter/ptx.hpp"
extern "C" __global__ void k(int const* in, int* out) {
  int const s = in[threadIdx.x];
  out[2 * threadIdx.x] = porter::dp4a(-77 * s, __mulhi(s, s), s);
  out[2 * threadIdx.x + 1] = porter::ptx::dp4a_s32(-77 * s, __mulhi(s, s), s);
}""")
    made = assemble(source, options=("-I", str(hip.HEADERS)))
    assert isinstance(made, Assembled), made
    module = device.compile(made.text)
    assert not isinstance(module, NotRun), module
    given = _words(8)[:64].astype(np.uint32).view(np.int32)
    done = module.launch("k", 1, given.size, [given, np.zeros(2 * given.size, np.int32)])
    assert isinstance(done, Ran), done
    expected = []
    for s in given.tolist():
        left, right = _pieces(-77 * s & 0xFFFFFFFF, 8, True), _pieces((s * s >> 32) & 0xFFFFFFFF, 8, True)
        expected += 2 * [(s + sum(x * y for x, y in zip(left, right, strict=True))) % 2**32]
    assert done.output(1).view(np.uint32).tolist() == expected
