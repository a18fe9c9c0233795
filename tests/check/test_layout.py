"""Code that only moves or is laid out anew brings nothing new: random edits outside of kernels."""

from __future__ import annotations

import random
import re
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from porter.check.fail_on import FailOn
from porter.check.store import Store
from porter.cpp.lex import lex
from tests.check.repositories import REDUCE, SPIN, TEXTURE, checked, commit, git, repository

HOST = """\
void set_up(float *x, int n) {
  cudaChannelFormatDesc kind;
  cudaDeviceSetLimit(cudaLimitStackSize, n);
  int lanes = 32; unsigned mask = __ballot_sync(0xffffffffu, x != 0);
}
"""
NAMED = """
__global__ void tall(int *flag, int *value) { while (atomicExch(flag, 1) == 1) { } *value += 1; *flag = 0; }
"""
PARTS = (HOST, REDUCE.replace("#include <cuda_runtime.h>\n", ""), SPIN, TEXTURE, NAMED)
HEAD = "#include <cuda_runtime.h>\n"
_BLANKS = ("\n", " ", "\n\n", "\t", "  // a comment; with { braces }\n", " /* one\n two */ ")


def laid_out(text: str, chance: random.Random) -> str:
    """The same tokens with other blanks and comments between them; directives and strings stay lines of their own."""
    pieces: list[str] = []
    for line in text.splitlines(keepends=True):
        if line.lstrip().startswith("#"):
            pieces.append(line if not pieces or pieces[-1].endswith("\n") else f"\n{line}")
            continue
        tokens = lex(line)
        for index, word in enumerate(tokens.texts[: len(tokens)]):
            after = tokens.text[tokens.end(index) : tokens.starts[index + 1]]
            space = chance.choice(_BLANKS) if re.fullmatch(r"\s+", after) and chance.random() < 0.5 else after
            pieces.append(word + space)
    return "".join(pieces)


def noise(chance: random.Random) -> str:
    """Something between two definitions that no rule has anything to say about."""
    number = chance.randrange(10**6)
    return chance.choice(
        (
            "\n",
            f"// note {number}\n",
            f"static int helper_{number}(int a) {{ return a + {number}; }}\n",
            f"#define VALUE_{number} {number}\n",
            f"struct Point{number} {{ float x, y; }};\n",
            f"namespace n{number} {{ constexpr int k = {number}; }}\n",
        )
    )


@settings(max_examples=10)
@given(st.integers(0, 2**32))
def test_nothing_is_new_when_code_moves(seed: int) -> None:
    """Parts in another order and in other files, noise between them, another layout: the gate stays open."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        root = repository(Path(folder) / "project", {"a.cu": HEAD + "".join(PARTS)})
        store = Store(Path(folder) / "known.sqlite")
        assert checked(root, fail_on=FailOn.REVIEW, store=store, update_baseline=True).passed
        before = commit(root)
        parts = list(PARTS)
        chance.shuffle(parts)
        files = {"a.cu": HEAD, "b.cu": HEAD}
        for part in parts:
            name = chance.choice(sorted(files))
            moved = laid_out(part, chance) if chance.random() < 0.7 else part
            files[name] += noise(chance) + moved + "\n" + noise(chance)
        commit(root, files)
        result = checked(root, before, store=store)
        assert not result.failing, (seed, [f"{f.path}:{f.line} {f.code} {f.message}" for f in result.failing])
        assert not result.stale, (seed, result.stale)
        assert git(root, "status", "--porcelain") == ""


SAMPLES = Path(__file__).resolve().parents[2] / "samples"
REAL = (
    "wmma_gemm/wmma_gemm.cu",
    "texture_filter/texture_filter.cu",
    "nvrtc_string/nvrtc_string.cu",
    "inline_ptx/ptx.cuh",
    "cublas_curand/cublas_curand.cu",
)


def edited_outside(text: str, chance: random.Random) -> str:
    """Real code with noise between its definitions, and other blanks at the ends of its lines."""
    tokens = lex(text)
    depth, places = 0, []
    for index, word in enumerate(tokens.texts):
        if tokens.directive_of(index) is not None:
            continue
        depth += (word == "{") - (word == "}")
        if word in ("}", ";") and depth == 0:
            places.append(tokens.end(index))
    for place in sorted(chance.sample(places, min(len(places), 5)), reverse=True):
        end = text.find("\n", place)
        if end >= 0 and not text[place:end].strip():
            text = f"{text[:end]}\n{noise(chance)}{text[end:]}"
    lines = [line + chance.choice(("", "", " ", "\t")) * (not line.endswith("\\")) for line in text.split("\n")]
    return "\n".join(lines)


@settings(max_examples=4)
@given(st.integers(0, 2**32))
def test_nothing_is_new_in_real_code_when_only_its_surroundings_change(seed: int) -> None:
    """Samples with all kinds of findings: noise between definitions, renamed files, other line ends."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        texts = {name: (SAMPLES / name).read_text("utf-8") for name in REAL}
        root = repository(Path(folder) / "project", texts)
        store = Store(Path(folder) / "known.sqlite")
        before = checked(root, store=store, update_baseline=True)
        assert before.findings
        commit(root)
        moved = {name: edited_outside(text, chance) for name, text in texts.items()}
        if chance.random() < 0.5:
            moved = {name: text.replace("\n", "\r\n") for name, text in moved.items()}
        gone = []
        if chance.random() < 0.5:
            gone.append("cublas_curand/cublas_curand.cu")
            moved["random/renamed.cu"] = moved.pop(gone[0])
        commit(root, moved, *gone)
        for since in ("HEAD~1", None):
            result = checked(root, since, store=store)
            assert not result.failing, (seed, [f"{f.path}:{f.line} {f.code} {f.message}" for f in result.failing])
            assert not result.stale, (seed, [entry.described() for entry in result.stale])
