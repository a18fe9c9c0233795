"""Random functions in C that also compile as device code, and what the host computes with them."""

# ruff: noqa: E501
from __future__ import annotations

import ctypes
import random
import subprocess
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from porter.validation.devices.core.hostcc import HostCompiler

PRELUDE = """
typedef unsigned int u32; typedef int i32; typedef unsigned long long u64; typedef long long i64; typedef unsigned short u16;
typedef unsigned char u8;
FN u32 rotl(u32 x, u32 k) { return x << (k & 31) | x >> (-k & 31); }
FN u32 safe_div(u32 a, u32 b) { return b ? a / b : a; }
FN i32 safe_rem(i32 a, i32 b) { return b == 0 || b == -1 ? a : a % b; }
FN u64 safe_div64(u64 a, u64 b) { return b ? a / b : a; }
FN u32 from_float(float x) { return x > -1000000.0f && x < 1000000.0f ? (u32)(i32)x : 7u; }
FN u32 from_double(double x) { return x > -1000000.0 && x < 1000000.0 ? (u32)(i32)x : 9u; }
FN u32 bits(float x) { u32 b; __builtin_memcpy(&b, &x, 4); return x == x ? b : 0x7fc00000u; }
FN u64 bits64(double x) { u64 b; __builtin_memcpy(&b, &x, 8); return x == x ? b : 0x7ff8000000000000ull; }
"""


class Generator:
    """Straight lines, branches, loops and arrays over a few typed variables."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.loops = 0

    def variable(self, kind: str) -> str:
        return f"{kind}{self.random.randrange(4)}"

    def expression(self, kind: str, depth: int) -> str:
        choose = self.random.choice
        if depth == 0 or self.random.random() < 0.15:
            constants = {"a": "0x{:x}u", "s": "{}", "q": "0x{:x}ull", "x": "{}.25f", "d": "{}.5"}
            limit = 1 << 32 if kind in "aq" else 100
            return (
                self.variable(kind)
                if self.random.random() < 0.7
                else constants[kind].format(self.random.randrange(limit))
            )
        left, right = self.expression(kind, depth - 1), self.expression(kind, depth - 1)
        if kind == "a":
            other = self.expression(choose("asqxd"), depth - 1)
            return choose([f"({left} {choose('+-*&|^')} {right})", f"({left} >> ({right} & 31))", f"({left} << ({right} & 31))",
                           f"rotl({left}, {right})", f"safe_div({left}, {right})", f"({left} < {right} ? {left} : {right})",
                           f"(u32)__builtin_popcount({left})", f"({left} > {right} ? {left} - {right} : {left} * 3u)",
                           f"(u32)(u8){left}", f"(u32)(u16)({left} + {right})", f"(u32)({other} != 0)",
                           f"bits({self.expression('x', depth - 1)})", f"from_float({self.expression('x', depth - 1)})",
                           f"(u32)({self.expression('q', depth - 1)} >> 17)", f"from_double({self.expression('d', depth - 1)})"])  # fmt: skip
        if kind == "s":
            return choose([f"(i32)((u32){left} {choose('+-*')} (u32){right})", f"({left} >> ((u32){right} & 31))",
                           f"safe_rem({left}, {right})", f"({left} < {right} ? {left} : {right})", f"(i32)(short){left}",
                           f"(i32)(signed char){right}", f"({left} & ~{right})", f"(i32){self.expression('a', depth - 1)}"])  # fmt: skip
        if kind == "q":
            return choose([f"({left} {choose('+-*&|^')} {right})", f"({left} >> ({right} & 63))", f"({left} << ({right} & 63))",
                           f"safe_div64({left}, {right} >> 40)", f"(u64){self.expression('a', depth - 1)}",
                           f"(u64)(i64){self.expression('s', depth - 1)}", f"bits64({self.expression('d', depth - 1)})",
                           f"(u64)__builtin_popcountll({left})", f"({left} < {right} ? {left} : {right})"])  # fmt: skip
        if kind == "x":
            return choose([f"({left} {choose('+-*')} {right})", f"({left} / {right})", f"__builtin_fabsf({left})",
                           f"(float){self.expression('s', depth - 1)}", f"(float){self.expression('a', depth - 1)}",
                           f"__builtin_sqrtf(__builtin_fabsf({left}))", f"__builtin_fmaf({left}, {right}, {left})",
                           f"({left} < {right} ? {left} : -{right})", f"(float){self.expression('d', depth - 1)}",
                           f"__builtin_floorf({left})", f"__builtin_truncf({right})"])  # fmt: skip
        return choose([f"({left} {choose('+-*')} {right})", f"({left} / {right})", f"(double){self.expression('s', depth - 1)}",
                       f"__builtin_fma({left}, {right}, {left})", f"(double){self.expression('x', depth - 1)}",
                       f"({left} < {right} ? {left} : {right})", f"__builtin_floor({left})"])  # fmt: skip

    def statement(self, depth: int) -> str:
        roll = self.random.random()
        kind = self.random.choice("aaasqqxxd")
        if depth and roll < 0.2:
            body = " ".join(self.statement(depth - 1) for _ in range(3))
            other = " ".join(self.statement(depth - 1) for _ in range(2))
            return f"if ({self.expression('a', 1)} & {1 << self.random.randrange(5)}) {{ {body} }} else {{ {other} }}"
        if depth and roll < 0.32:
            self.loops += 1
            i = f"i{self.loops}"
            body = " ".join(self.statement(depth - 1) for _ in range(2))
            return f"for (u32 {i} = 0; {i} < (a0 & 7) + 1; {i}++) {{ a1 += {i}; {body} if (a2 & 64) break; }}"
        if roll < 0.45:
            return f"m[{self.expression('a', 1)} & 7] ^= {self.expression('a', 2)};"
        if roll < 0.55:
            return f"{self.variable('a')} += m[{self.expression('a', 1)} & 7];"
        return f"{self.variable(kind)} = {self.expression(kind, 2)};"

    def function(self, name: str) -> str:
        body = "\n  ".join(self.statement(2) for _ in range(7))
        return f"""FN u64 {name}(u32 t) {{
  u32 a0 = t * 2654435761u, a1 = t, a2 = t ^ 0x9e3779b9u, a3 = 17; i32 s0 = (i32)(t * 40503u), s1 = -5, s2 = (i32)t, s3 = 1000;
  u64 q0 = t * 0x9e3779b97f4a7c15ull, q1 = 3, q2 = 0x123456789abcdefull, q3 = t; float x0 = t, x1 = 0.5f, x2 = -3.75f, x3 = t * 0.125f;
  double d0 = t, d1 = 0.1, d2 = -7.5, d3 = t * 0.01; u32 m[8] = {{1, 2, 3, 4, 5, 6, 7, t}};
  {body}
  u64 r = a0 ^ (u64)a1 << 7 ^ (u64)a2 << 14 ^ (u64)a3 << 21 ^ (u32)s0 ^ (u64)(u32)s1 << 9 ^ (u32)s2 ^ (u32)s3 ^ q0 ^ q1 ^ q2 ^ q3;
  r ^= bits(x0) ^ (u64)bits(x1) << 11 ^ bits(x2) ^ bits(x3) ^ bits64(d0) ^ bits64(d1) ^ bits64(d2) ^ bits64(d3);
  for (int k = 0; k < 8; k++) r = r * 31 + m[k];
  return r;
}}
"""


def functions(count: int) -> str:
    """Some functions, named f0, f1, ..."""
    return "\n".join(Generator(seed).function(f"f{seed}") for seed in range(count))


def on_host(compiler: HostCompiler, folder: Path, count: int, threads: int) -> list[NDArray[np.uint64]]:
    """What the host computes."""
    calls = "\n".join(
        f"void r{k}(u64* o) {{ for (u32 t = 0; t < {threads}; t++) o[t] = f{k}(t); }}" for k in range(count)
    )
    (folder / "code.c").write_text("#define FN static\n" + PRELUDE + functions(count) + calls)
    command = [compiler.path, "-O1", "-w", "-ffp-contract=off", "-fno-strict-aliasing", "-fPIC", "-shared",
               str(folder / "code.c"), "-o", str(folder / "code.so"), "-lm", "-march=native"]  # fmt: skip
    subprocess.run(command, check=True)
    library = ctypes.CDLL(str(folder / "code.so"))
    results = []
    for k in range(count):
        out = np.zeros(threads, np.uint64)
        getattr(library, f"r{k}")(ctypes.c_void_p(out.ctypes.data))
        results.append(out)
    return results
