"""warp32.hpp: no warning anywhere, and no instruction more where the plain form was already right."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.include import hip

HEADER = '#include <hip/hip_runtime.h>\n#include "porter/warp32.hpp"\n'
LANE = "#define LANE __builtin_amdgcn_workitem_id_x()\n"

# Every function of the header, on every type that CUDA accepts.
EVERYTHING = hip.snippet("warp32_everything")

HALF = hip.snippet("warp32_half")

BF16 = hip.snippet("warp32_bf16")


@pytest.mark.slow
@pytest.mark.parametrize("target", hip.TARGETS)
@pytest.mark.parametrize("tree", hip.trees() or [None], ids=lambda tree: tree.version if tree else "none")
def test_no_warning_on_any_target_with_any_headers(target: str, tree: hip.HipTree | None, tmp_path: Path) -> None:
    tree = tree or hip.require_tree()
    sources = [(EVERYTHING, "hip/hip_runtime.h"), (HALF, "hip/hip_fp16.h"), (BF16, "hip/hip_bf16.h")]
    for source, needs in sources:
        if tree.has(needs):
            done = hip.compiled(source, tmp_path, target=target, tree=tree, flags=("-fsyntax-only",))
            assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("standard", ["c++14", "c++20"])
def test_other_language_standards(standard: str, tmp_path: Path) -> None:
    done = hip.compiled(EVERYTHING, tmp_path, flags=(f"-std={standard}", "-fsyntax-only", "-Wpedantic"))
    assert done.returncode == 0, done.stderr


def test_host_pass(tmp_path: Path) -> None:
    done = hip.compiled(EVERYTHING, tmp_path, host=True)
    assert done.returncode == 0, done.stderr


def test_unoptimised_code_compiles(tmp_path: Path) -> None:
    done = hip.compiled(EVERYTHING, tmp_path, flags=("-O0",))
    assert done.returncode == 0, done.stderr


# name -> (the plain HIP form, ours). `v` is the lane's float, `d` its int.
PAIRS = {
    "xor_1": ("__shfl_xor(v, 1, 32)", "porter::shfl_xor_sync(0xffffffff, v, 1)"),
    "xor_5": ("__shfl_xor(v, 5, 32)", "porter::shfl_xor_sync(0xffffffff, v, 5)"),
    "xor_16": ("__shfl_xor(v, 16, 32)", "porter::shfl_xor_sync(0xffffffff, v, 16)"),
    "xor_2_width_8": ("__shfl_xor(v, 2, 8)", "porter::shfl_xor_sync(0xffffffff, v, 2, 8)"),
    "xor_any": ("__shfl_xor(v, d, 32)", "porter::shfl_xor_sync(0xffffffff, v, d)"),
    "down_16": ("__shfl_down(v, 16, 32)", "porter::shfl_down_sync(0xffffffff, v, 16)"),
    "down_1_width_8": ("__shfl_down(v, 1, 8)", "porter::shfl_down_sync(0xffffffff, v, 1, 8)"),
    "up_4": ("__shfl_up(v, 4, 32)", "porter::shfl_up_sync(0xffffffff, v, 4)"),
    "from_0": ("__shfl(v, 0, 32)", "porter::shfl_sync(0xffffffff, v, 0)"),
    "from_7": ("__shfl(v, 7, 32)", "porter::shfl_sync(0xffffffff, v, 7)"),
    "double_from_0": ("__shfl((double)v, 0, 32)", "porter::shfl_sync(0xffffffff, (double)v, 0)"),
    "double_xor_2": ("__shfl_xor((double)v, 2, 32)", "porter::shfl_xor_sync(0xffffffff, (double)v, 2)"),
}
# Lane numbers that are not constant: CUDA takes them modulo 32, so the plain form has to do that as well.
RUNTIME = {
    "down_any": ("__shfl_down(v, d & 31, 32)", "porter::shfl_down_sync(0xffffffff, v, d)"),
    "up_any": ("__shfl_up(v, d & 31, 32)", "porter::shfl_up_sync(0xffffffff, v, d)"),
    "from_any": ("__shfl(v, d & 31, 32)", "porter::shfl_sync(0xffffffff, v, d)"),
    "from_masked": ("__shfl(v, d & 31, 32)", "porter::shfl_sync(0xffffffff, v, d & 31)"),
}
LOOPS = {
    "xor_loop": ("__shfl_xor(v, m, 32)", "porter::shfl_xor_sync(0xffffffff, v, m)"),
    "down_loop": ("__shfl_down(v, m, 32)", "porter::shfl_down_sync(0xffffffff, v, m)"),
}


def _kernels(pairs: dict[str, tuple[str, str]], body: str) -> str:
    template = (
        'extern "C" __global__ void %s(float* p, int* q) '
        "{{ float v = p[LANE]; int d = q[LANE]; {} p[LANE] = v; (void)d; }}\n"
    )
    text = ""
    for name, forms in pairs.items():
        for side, form in zip(("plain", "ours"), forms, strict=True):
            text += template.format(body.format(form)) % f"{side}_{name}"
    return HEADER + LANE + text


# Scheduling leaves different numbers of these; they wait and do nothing.
WAITING = ("s_nop", "s_waitcnt", "s_delay_alu")


def _count(instructions: list[str]) -> int:
    return sum(not line.startswith(WAITING) for line in instructions)


@pytest.mark.parametrize("target", hip.TARGETS)
def test_no_more_instructions_than_the_plain_form(target: str, tmp_path: Path) -> None:
    kernels = hip.assembly(_kernels(PAIRS | RUNTIME, "v = {};"), tmp_path, target=target)
    loops = hip.assembly(_kernels(LOOPS, "for (int m = 16; m > 0; m /= 2) v += {};"), tmp_path, target=target)
    kernels.update(loops)
    more = {
        name: (_count(kernels[f"ours_{name}"]), _count(kernels[f"plain_{name}"]))
        for name in PAIRS | RUNTIME | LOOPS
        if _count(kernels[f"ours_{name}"]) > _count(kernels[f"plain_{name}"])
    }
    assert not more


def test_butterfly_uses_no_lane_addresses(tmp_path: Path) -> None:
    kernels = hip.assembly(_kernels(LOOPS, "for (int m = 16; m > 0; m /= 2) v += {};"), tmp_path)
    code = "\n".join(kernels["ours_xor_loop"])
    assert "ds_bpermute" not in code
    assert code.count("_dpp") == 3 and code.count("ds_swizzle") == 2


VOTES = hip.snippet("warp32_votes")


def test_ballot_is_one_instruction_where_wavefronts_have_32_lanes(tmp_path: Path) -> None:
    kernels = hip.assembly(VOTES, tmp_path, target="gfx1100")
    assert _count(kernels["ours_ballot"]) == _count(kernels["plain_ballot"])
    assert sum(line.startswith("v_cmp") for line in kernels["ours_ballot"]) == 1
    assert not any("mbcnt_hi" in line or "lshr" in line for line in kernels["lanes"] + kernels["ours_ballot"])


def test_ballot_takes_the_own_half_of_64_lanes(tmp_path: Path) -> None:
    code = hip.assembly(VOTES, tmp_path)["ours_ballot"]
    assert any(line.startswith("v_lshrrev_b64") for line in code)


LOCKSTEP = hip.snippet("warp32_lockstep")


def _lds(code: list[str]) -> list[str]:
    return ["read" if "read" in line or "load" in line else "write" for line in code if line.startswith("ds_")]


def test_syncwarp_keeps_the_order_of_shared_memory(tmp_path: Path) -> None:
    ordered = hip.assembly(LOCKSTEP, tmp_path, flags=("-DSYNC=porter::syncwarp()",))["tail"]
    assert _lds(ordered) == ["write", *["read", "write"] * 4, "read"]
    assert not any(line.startswith("s_barrier") for line in ordered)


def test_without_syncwarp_the_compiler_does_reorder(tmp_path: Path) -> None:
    """The reason for the header's barrier; if this fails, the test above shows nothing."""
    loose = hip.assembly(LOCKSTEP, tmp_path, flags=("-DSYNC=",))["tail"]
    assert _lds(loose) != ["write", *["read", "write"] * 4, "read"]


UNSET = hip.snippet("warp32_unset")


def test_a_value_that_only_the_source_lane_has_set(tmp_path: Path) -> None:
    """One lane alone does the atomic: the branch around it is not dropped as undefined behaviour."""
    code = hip.assembly(UNSET, tmp_path, flags=("-Wno-sometimes-uninitialized", "-Wno-uninitialized"))["leader"]
    atomic = next(i for i, line in enumerate(code) if line.startswith("global_atomic_add"))
    assert any(line.startswith("s_and_saveexec") for line in code[:atomic])


DIVERGED = hip.snippet("warp32_diverged")


def test_votes_of_different_branches_stay_apart(tmp_path: Path) -> None:
    """The active lanes are an unwritten operand; a compiler that merges two votes changes their result."""
    kernels = hip.assembly(DIVERGED, tmp_path)
    assert "\n".join(kernels["masks"]).count("exec") >= 4
    assert sum(line.startswith("v_cmp_lt_u32") for line in kernels["branches"]) == 2
