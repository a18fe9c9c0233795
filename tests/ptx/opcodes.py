"""Run instructions on rows of operands: every lane its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from porter.validation.devices.core.result import Ran
from porter.validation.devices.ptx import Module

HEAD = ".version 8.5\n.target sm_90\n.address_size 64\n"
_SIZE = {"pred": 4, "b16": 2, "b32": 4, "b64": 8}
_OUT = {2: np.uint16, 4: np.uint32, 8: np.uint64}
Spec = tuple[str, Sequence[str], str]
"""An instruction, the types of the registers %a, %b, %c, %e it reads, and that of %d, its result."""


def kernel(specs: Sequence[Spec]) -> str:
    """One kernel that runs every instruction on its own operands."""
    names = [f"o{i}" for i in range(len(specs))]
    names += [f"i{i}_{k}" for i, (_, kinds, _) in enumerate(specs) for k in range(len(kinds))]
    lines = [HEAD, f".visible .entry k({', '.join(f'.param .u64 {n}' for n in names)}) {{", ".reg .b32 %t, %w;"]
    lines.append("mov.u32 %t, %ctaid.x; mov.u32 %w, %ntid.x; mul.lo.u32 %t, %t, %w;")
    lines.append("mov.u32 %w, %tid.x; add.u32 %t, %t, %w;")
    for i, spec in enumerate(specs):
        lines += _body(i, *spec)
    return "\n".join([*lines, "ret; }"])


def _body(index: int, instruction: str, kinds: Sequence[str], result: str) -> list[str]:
    lines = ["{", ".reg .b64 %p, %o; .reg .b32 %w; .reg .pred %q;", f".reg .{result} %d;"]
    for k, kind in enumerate(kinds):
        register, size = "%" + "abce"[k], _SIZE[kind]
        lines.append(f".reg .{kind} {register};")
        lines.append(f"ld.param.u64 %p, [i{index}_{k}]; mad.wide.u32 %p, %t, {size}, %p;")
        if kind == "pred":
            lines.append(f"ld.global.u32 %w, [%p]; setp.ne.u32 {register}, %w, 0;")
        else:
            lines.append(f"ld.global.b{8 * size} {register}, [%p];")
    size = _SIZE[result]
    lines += [instruction, f"ld.param.u64 %o, [o{index}]; mad.wide.u32 %o, %t, {size}, %o;"]
    if result == "pred":
        return [*lines, "selp.u32 %w, 1, 0, %d; st.global.u32 [%o], %w;", "}"]
    return [*lines, f"st.global.b{8 * size} [%o], %d;", "}"]


def run(module: Module, columns: Sequence[Sequence[NDArray[Any]]], results: Sequence[str]) -> list[list[int]]:
    """Results by instruction and lane."""
    count = len(columns[0][0])
    outs = [np.zeros(count, _OUT[_SIZE[result]]) for result in results]
    inputs = [column for rows in columns for column in rows]
    done = module.launch("k", (count + 31) // 32, 32, [*outs, *inputs])
    assert isinstance(done, Ran), str(done)
    return [[int(v) for v in done.output(i)] for i in range(len(outs))]
