"""Warp-synchronous reductions and scans in the shapes people write, each with what it has to compute."""

# ruff: noqa: E501
from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

LANES, WARPS, PAD = 32, 4, 32
STEPS = {"down": (16, 8, 4, 2, 1), "xor": (16, 8, 4, 2, 1), "scan": (1, 2, 4, 8, 16)}
SHAPES = (
    "function",
    "template",
    "deduced",
    "constant",
    "recursive",
    "macro",
    "unrolled",
    "loop",
    "whole",
    "merge",
    "array",
    "object",
)
"""Where the steps stand: in a helper with the step as argument (plain, of any type, with a functor), as a template argument, recursion, a macro, the kernel
itself, a loop there, one helper with all steps, a helper in two statements with the value by reference, a helper with an array parameter, a structure."""
QUALIFIERS = ("pointer", "helper", "array", "none")
"""What is volatile: a pointer in the kernel and the helper's parameter; the parameter alone; the array itself and the parameter; nothing."""
FORMS = ("update", "both", "value")
"""`s[t] += s[t + d]`; `s[t] = v = v + s[t + d]`; `r = s[t + d]; v = v + r; s[t] = v;`"""


@dataclass(frozen=True)
class Variant:
    """One kernel: 4 warps, each with 32 padding zeros before its 32 elements and 32 after."""

    number: int
    pattern: str
    shape: str
    qualifier: str
    form: str
    kind: str

    @property
    def name(self) -> str:
        return f"k{self.number}_{self.pattern}_{self.shape}_{self.qualifier}_{self.form}"

    @property
    def code(self) -> tuple[str, str]:
        """The helpers and the kernel in CUDA."""
        return _code(self)

    def expected(self, values: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """What each lane's element is afterwards, step by step in lockstep; of `down` only lane 0 counts."""
        rows = values.reshape(WARPS, LANES).copy()
        for step in STEPS[self.pattern]:
            padded = np.zeros((WARPS, LANES + 2 * PAD), np.int64)
            padded[:, PAD : PAD + LANES] = rows
            lanes = np.arange(LANES)
            other = {"down": lanes + step, "xor": lanes ^ step, "scan": lanes - step}[self.pattern]
            rows = rows + padded[:, PAD + other]
        return rows


def variants() -> Iterator[Variant]:
    """All that make sense."""
    number = 0
    for pattern, shape, qualifier, form in itertools.product(STEPS, SHAPES, QUALIFIERS, FORMS):
        if shape == "merge" and form != "value":
            continue
        if qualifier == "helper" and shape in ("macro", "unrolled", "loop"):
            continue
        number += 1
        yield Variant(number, pattern, shape, qualifier, form, ("int", "float", "unsigned", "double")[number % 4])


def _code(v: Variant) -> tuple[str, str]:
    n = v.number
    volatile = "" if v.qualifier == "none" else "volatile "
    array = "volatile " if v.qualifier == "array" else ""
    kind = "T" if v.shape in ("template", "deduced", "merge", "constant", "recursive") else v.kind
    heads = {"template": "template <class T> ", "merge": "template <class T, class Op> ", "constant": "template <int d, class T> ",
             "recursive": "template <int d, class T> ", "deduced": "template <class T, class Op> "}  # fmt: skip
    parameter = f"{volatile}{kind} *s" if v.shape != "array" else f"{volatile}{kind} s[]"
    steps = STEPS[v.pattern]
    helper, use = "", ""
    if v.shape in ("function", "template", "deduced", "array", "merge"):
        by = ", const Op &op" if v.shape in ("deduced", "merge") else ""
        body = _step(v, "d", op="op" if by else "")
        qualifiers = "static __device__ __forceinline__" if n % 2 else "__device__"
        helper = f"{heads.get(v.shape, '')}{qualifiers} void step{n}({parameter}, {kind} &v, unsigned t, unsigned d{by}) {{ {body} }}\n"
        if by:
            helper = f"struct Plus{n} {{ template <class T> __device__ T operator()(T a, T b) const {{ return a + b; }} }};\n{helper}"
        use = " ".join(f"step{n}(p, v, t, {d}{f', Plus{n}()' if by else ''});" for d in steps)
    elif v.shape == "constant":
        helper = (
            f"{heads['constant']}__device__ void step{n}({parameter}, {kind} &v, unsigned t) {{ {_step(v, 'd')} }}\n"
        )
        use = " ".join(f"step{n}<{d}>(p, v, t);" for d in steps)
    elif v.shape == "recursive":
        up = v.pattern == "scan"
        following, first = ("d * 2", 1) if up else ("d / 2", 16)
        ends = "32" if up else "0"
        helper = (
            f"template <int d, class T> struct Step{n} {{ static __device__ void run({parameter}, T &v, unsigned t) {{ {_step(v, 'd')} Step{n}<{following}, T>::run(s, v, t); }} }};\n"
            f"template <class T> struct Step{n}<{ends}, T> {{ static __device__ void run({parameter}, T &, unsigned) {{ }} }};\n"
        )
        use = f"Step{n}<{first}, {v.kind}>::run(p, v, t);"
    elif v.shape == "object":
        helper = (
            f"struct Warp{n} {{ {volatile}{v.kind} *s; unsigned t;\n  __device__ Warp{n}({volatile}{v.kind} *p, unsigned i) : s(p), t(i) {{}}\n"
            f"  __device__ void step({v.kind} &v, int d) {{ {_step(v, 'd')} }}\n}};\n"
        )
        use = f"Warp{n} w(p, t); " + " ".join(f"w.step(v, {d});" for d in steps)
    elif v.shape == "macro":
        helper = f"#define STEP{n}(s, v, t, d) do {{ {_step(v, '(d)')} }} while (0)\n"
        use = " ".join(f"STEP{n}(p, v, t, {d});" for d in steps)
    elif v.shape == "unrolled":
        use = "\n    ".join(_step(v, str(d), base="p") for d in steps)
    elif v.shape == "loop":
        use = f"{_for(v)} {{ {_step(v, 'd', base='p')} }}"
    else:  # whole
        body = " ".join(_step(v, str(d)) for d in steps) if n % 2 else f"{_for(v)} {{ {_step(v, 'd')} }}"
        helper = f"__device__ void all{n}({parameter}, {v.kind} v, unsigned t) {{ {body} }}\n"
        use = f"all{n}(p, v, t);"
    pointer = "volatile " if v.qualifier in ("pointer", "array") else ""
    return helper, (
        f"__global__ void {v.name}(const {v.kind} *in, {v.kind} *out) {{\n"
        f"  __shared__ {array}{v.kind} buf[4 * 96];\n"
        f"  unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;\n"
        f"  for (int i = threadIdx.x; i < 4 * 96; i += blockDim.x) buf[i] = 0;\n  __syncthreads();\n"
        f"  {pointer}{v.kind} *p = buf + warp * 96;\n"
        f"  unsigned t = 32 + lane;\n  {v.kind} v = in[threadIdx.x];\n  p[t] = v;\n  __syncthreads();\n"
        f"  {{ {use} }}\n  __syncthreads();\n  out[threadIdx.x] = p[t];\n}}\n"
    )


def _for(v: Variant) -> str:
    return "for (int d = 1; d < 32; d *= 2)" if v.pattern == "scan" else "for (int d = 16; d > 0; d >>= 1)"


def _step(v: Variant, d: str, base: str = "s", op: str = "") -> str:
    """One step in the form of a variant."""
    other = {"down": f"{base}[t + {d}]", "xor": f"{base}[t ^ {d}]", "scan": f"{base}[t - {d}]"}[v.pattern]
    kind = "T" if v.shape in ("template", "deduced", "merge", "constant", "recursive") else v.kind
    if v.form == "update":
        if v.pattern == "xor":  # both sides of an exchange
            return f"{{ {kind} r = {other}; {base}[t] = {base}[t] + r; }}"
        return f"{base}[t] += {other};"
    added = f"{op}(v, r)" if op else "v + r"
    if v.form == "both":
        return f"{base}[t] = v = {added.replace('r)', other + ')') if op else f'v + {other}'};"
    if v.shape == "merge":
        return f"{kind} r = {other}; {base}[t] = v = {added};"
    return f"{{ {kind} r = {other}; v = {added}; {base}[t] = v; }}"
