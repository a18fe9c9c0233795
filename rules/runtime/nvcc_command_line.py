"""R035: command lines of nvcc that a program puts together."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.cpp.literals import read_literal
from porter.cpp.syntax import STRING
from porter.engine.rule import Effort, Finding, Rule, Unit, clean, reports

_ONLY_NVCCS = (
    r"(?<![\w-])(?:-gencode[= ]*(?=arch|\s*$)|--generate-code\b|-Xptxas\b|-Xcompiler\b|--expt-"
    r"(?:relaxed-constexpr|extended-lambda)\b|-x cu(?!\w))"
)
_OUTPUT = r"(?<![\w-])--?(?:cubin|ptx|fatbin)(?![\w-])"
"""Options of many a program's own, were it not for `-o` behind them."""
_OPTION = re.compile(rf"{_ONLY_NVCCS}|{_OUTPUT}(?=.*\s-o(?!\S))", re.DOTALL)
_SENTENCE = re.compile(r"(?<![-\w])[A-Za-z][a-z]+ [a-z]{2,} (?:[a-z]{2,} )?[a-z-]")


class NvccCommandLine(Rule):
    """Command line of nvcc that a program puts together

    A program that compiles kernels while it runs, by nvcc and not by NVRTC, has nvcc's options in its texts:
    `"{} {} -cubin -o {} {}"`, `"-gencode=arch=compute_%d,code=sm_%d"`. They compile in a port, and the command fails:
    hipcc has `--offload-arch=gfx942`, `--genco` for a code object, and no `-Xptxas` or `-cubin`
    (rules/buildfiles/flags.toml has the flags in turn). Told once per file; sentences about such options are not.
    """

    code = "R035"
    only_reports = True
    text = f"{_ONLY_NVCCS}|{_OUTPUT}"
    examples = (
        reports('std::string f(S a) { return fmt::format("cd {} && {} {} -cubin -o {}", a.d, a.nvcc, a.in, a.o); }'),
        reports('void f(std::vector<std::string> &v) { v.push_back("--expt-relaxed-constexpr"); }'),
        reports('void f(int a, int b) { printf("-gencode arch=compute_%d%d,code=sm_%d%d", a, b, a, b); }'),
        reports('void f(std::string &s) { s += " -Xptxas -v"; }'),
        clean('bool f(const char *a) { return !strcmp(a, "-ptx") || !strcmp(a, "--cubin"); }'),
        clean('void f() { puts("Please build with -gencode arch=compute_80,code=sm_80"); }'),
        clean('// -gencode arch=compute_80\nconst char *f = "--gpu-architecture=compute_80 -use_fast_math";'),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per file."""
        tokens = unit.tokens
        for place in re.finditer(STRING, tokens.kinds):
            literal = read_literal(tokens, place.start(), place.start())
            option = _OPTION.search(literal.text) if literal is not None else None
            if literal is None or option is None or _SENTENCE.search(literal.text) is not None:
                continue
            message = f"{option[0].strip()} is an option of nvcc's, in a command that the program puts together"
            instead = "hipcc's are --offload-arch=gfx942, and --genco for a code object"
            yield self.finding(unit, unit.span(place.start()), f"{message}: {instead}", Effort.MANUAL)
            return
