"""R029: programs of NVIDIA's that a program starts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.cpp.literals import read_literal
from porter.cpp.syntax import STRING
from porter.engine.rule import Effort, Finding, Rule, Unit, clean, reports

_STARTS = frozenset(
    {"system", "popen", "_popen", "_wpopen", "execl", "execlp", "execle", "execv", "execvp", "execvpe"}
    | {"posix_spawn", "posix_spawnp", "CreateProcess", "CreateProcessA", "CreateProcessW"}
)
_PROGRAMS = {
    "nvcc": "hipcc or amdclang++ compiles HIP, with other options",
    "nvidia-smi": "amd-smi or rocm-smi, which print other things",
    "ptxas": "AMD has no PTX",
    "cuobjdump": "llvm-objdump --offloading reads AMD's code",
    "nvdisasm": "llvm-objdump disassembles AMD's code",
    "nvprof": "rocprofv3",
    "nsys": "rocprofv3 or rocprof-sys-run",
    "ncu": "rocprof-compute",
    "cuda-memcheck": "AddressSanitizer in ROCm, or porter run with --races and --uninitialised",
    "compute-sanitizer": "AddressSanitizer in ROCm, or porter run with --races and --uninitialised",
    "cuda-gdb": "rocgdb",
}
_COMMAND = re.compile(rf"(?:\S*[/\\])?({'|'.join(map(re.escape, _PROGRAMS))})(?:\.exe)?(?:\s.*)?", re.DOTALL)


class CalledProgram(Rule):
    """Program of NVIDIA's that is started

    `system("nvcc -ptx kernel.cu")` and `popen("nvidia-smi ...", "r")` compile in a port, and fail or find no GPU when
    they run. In a file that starts programs, a literal that begins with the name of one of NVIDIA's is reported, with
    what AMD has instead.
    """

    code = "R029"
    only_reports = True
    triggers = _STARTS
    examples = (
        reports('int f() { return system("nvcc -ptx kernel.cu -o kernel.ptx"); }'),
        reports('FILE *f() { return popen("/usr/bin/nvidia-smi --query-gpu=name", "r"); }'),
        reports('void f(std::string s) { std::string c = "nvcc " + s; system(c.c_str()); }'),
        clean('void f() { puts("nvcc -ptx kernel.cu"); }'),
        clean('int f() { puts("nvcc failed?"[0]); return system("ls nvcc"); }'),
        clean('int f() { return system("nvccx -ptx"); }'),
        clean("struct S { int system; };"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per literal."""
        tokens = unit.tokens
        if not any(tokens.texts[index + 1] == "(" for name in _STARTS for index in tokens.names.get(name, ())):
            return
        for place in re.finditer(STRING, tokens.kinds):
            index = place.start()
            literal = read_literal(tokens, index, index)
            named = _COMMAND.fullmatch(literal.text) if literal is not None else None
            if named is not None and tokens.texts[index + 1] != "[":
                message = f"{named[1]} is NVIDIA's program; of AMD's: {_PROGRAMS[named[1]]}"
                yield self.finding(unit, unit.span(index), message, Effort.MANUAL)
