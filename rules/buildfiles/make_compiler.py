"""K302: calls of nvcc, its targets, and the toolkit's folder in Makefiles and scripts."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator

from porter.buildfiles.flags import ARCHITECTURE, is_architecture, may_name_architecture
from porter.buildfiles.mentions import kind_of_build
from porter.buildfiles.rule import BuildRule, BuildUnit, Edit, Effort, Finding, Kind, clean, fixes, reports
from porter.buildfiles.written import is_said

_NVCC = re.compile(r"(?:(?<![\w.$({-])|(?<=:-))nvcc(?![\w.-])")
_HOME = re.compile(
    r"(?<!\w)(?:CUDA_HOME|CUDA_PATH|CUDA_ROOT|CUDA_DIR|CUDADIR|CUDA_INSTALL_PATH|CUDA_INSTALL_DIR|CUDA_TOOLKIT_PATH|"
    r"CUDA_TOOLKIT_ROOT_DIR|CUDA_BASE|CUDAROOT|CUDAHOME|CUDA_PREFIX|CUDATOOLKIT_HOME)(?!\w)"
)
_FOLDER = re.compile(
    r"(?:/(?:usr/local|opt)/cuda(?:-\d+(?:\.\d+)?)?|/[\w./-]{0,80}/hpc_sdk/\w+/[\d.]+/cuda(?:/\d+\.\d+)?)(?![\w-])"
)
_LIB64 = re.compile(r"(?<=[)}/\w])/lib(?:64|\$[({]\w+[)}])(?:/stubs)?(?![\w])")
_INCLUDE = re.compile(r"^[ ]*include[ \t]+([^\s#]+)[ \t]*$", re.MULTILINE)
_NO_SETTINGS = re.compile(r"[$*]|\.(?:d|dep|depend|P|Po)$|^\.?depend$")
"""Behind the last slash of what is included: a name that make makes, a list of what hangs on what."""
_USED = re.compile(rf"\$[({{](?:ROCM_PATH[)}}]|{_HOME.pattern})")
_BEHIND_FLAG = re.compile(r"\$[({]\w+[)}]=")
"""What stands before a target that is put behind a flag in a variable."""
_PROFILER = "rocprofv3 (rocprof-sys for whole programs)"
_SANITIZER = "hipcc -fsanitize=address, for gfx942:xnack+"
_TOOL_NAMES = {
    "cuobjdump": "llvm-objdump --offloading",
    "nvdisasm": "llvm-objdump -d",
    **dict.fromkeys(("nvprof", "nvvp", "nsys"), _PROFILER),
    **dict.fromkeys(("ncu", "nv-nsight-cu-cli"), "rocprof-compute"),
    "cuda-gdb": "rocgdb",
    **dict.fromkeys(("cuda-memcheck", "compute-sanitizer"), _SANITIZER),
    "nvlink": "hipcc --hip-link",
    "fatbinary": "clang-offload-bundler",
    "ptxas": "clang's own assembler",
    "bin2c": "xxd -i",
}
"""Each with the nearest of AMD's."""
_TOOLS = re.compile(rf"(?<![\w.$({{/-])(?:{'|'.join(_TOOL_NAMES)})(?=\s)")


class MakeCompiler(BuildRule):
    """nvcc and CUDA's folder in a Makefile or script

    `nvcc` is `hipcc`; `sm_80` on its own (the value of a variable) is the AMD target gfx942; CUDA_HOME and its kin are
    ROCM_PATH, `/usr/local/cuda` is `/opt/rocm`, whose libraries are in `lib`. NVIDIA's other tools are reported. Where
    a Makefile uses such a variable, defines none, and includes a file whose name says nothing of make, that file is
    left as it is: it may still define CUDA's name, and the port's would be empty.
    """

    code = "K302"
    kinds = frozenset({Kind.MAKE, Kind.SHELL})
    hazards = ("makefile-nvcc",)
    examples = (
        fixes("NVCC ?= nvcc\nARCH ?= sm_80", "NVCC ?= hipcc\nARCH ?= gfx942", path="Makefile"),
        fixes(
            "CUDA_HOME ?= /usr/local/cuda-12.2\nL = -L$(CUDA_HOME)/lib64\nNVCC = $(CUDA_HOME)/bin/nvcc",
            "ROCM_PATH ?= /opt/rocm\nL = -L$(ROCM_PATH)/lib\nNVCC = $(ROCM_PATH)/bin/hipcc",
            path="Makefile",
        ),
        fixes(
            "S := 64\nL = -L${CUDA_PATH}/lib$(S)\nNVCC = nvcc",
            "S := 64\nL = -L${ROCM_PATH}/lib\nNVCC = hipcc",
            path="Makefile",
        ),
        fixes(
            "CUDA_HOME ?= $(CUDA_PATH)\nL = -L${CUDA_HOME}/lib64\nNVCC = nvcc",
            "ROCM_PATH ?= /opt/rocm\nL = -L${ROCM_PATH}/lib\nNVCC = hipcc",
            path="Makefile",
        ),
        fixes(
            "ifdef CUDA_PATH\nCUDA_DIR = ${CUDA_PATH}\nendif\nNVCC = nvcc",
            "ifdef ROCM_PATH\nROCM_PATH = /opt/rocm\nendif\nNVCC = hipcc",
            path="Makefile",
        ),
        fixes("CUDA_HOME := $(CUDA_PATH)\nNVCC = nvcc", "ROCM_PATH := $(ROCM_PATH)\nNVCC = hipcc", path="Makefile"),
        fixes('NVCC="${1:-nvcc}"\n"$NVCC" a.c\n', 'NVCC="${1:-hipcc}"\n"$NVCC" a.c\n', path="build.sh"),
        fixes(
            "H = /opt/nvidia/hpc_sdk/Linux_x86_64/22.7/cuda/11.7\nNVCC = /s/hpc_sdk/Linux_x86_64/22.7/cuda/bin/nvcc",
            "H = /opt/rocm\nNVCC = /opt/rocm/bin/hipcc",
            path="Makefile",
        ),
        fixes(
            "CUDA ?= /usr/local/cuda\nL = -L $(CUDA)/lib64 -L${CUDA}/lib64/stubs -L$(OTHER)/lib64\nNVCC = nvcc",
            "CUDA ?= /opt/rocm\nL = -L $(CUDA)/lib -L${CUDA}/lib -L$(OTHER)/lib64\nNVCC = hipcc",
            path="Makefile",
        ),
        fixes("L = -L$(CUDA_HOME)/lib64\nA = a.hip", "L = -L$(ROCM_PATH)/lib\nA = a.hip", path="Makefile"),
        fixes("F = $(FLAG)=sm_80\nG = $(FLAG)", "F = $(FLAG)=gfx942\nG = $(FLAG)", path="Makefile"),
        fixes(
            "CUDA_HOME ?= /home/x/cuda-4.2\nNVCC = nvcc",
            "ROCM_PATH ?= /home/x/cuda-4.2\nNVCC = hipcc",
            path="Makefile",
            effort=Effort.REVIEW,
        ),
        fixes(
            'export CUDA_HOME="/usr/local/cuda/"\nnvcc a.c -I$CUDA_HOME\n',
            'export ROCM_PATH="/opt/rocm/"\nhipcc a.c -I$ROCM_PATH\n',
            path="a.sh",
        ),
        fixes(
            "CUDA_PATH ?= $(shell dirname $(CUDA_BIN))/..\nCUDA_DIR = $(BASE)/x # /my/cuda\nNVCC = nvcc",
            "ROCM_PATH ?= $(shell dirname $(CUDA_BIN))/..\nROCM_PATH = $(BASE)/x # /my/cuda\nNVCC = hipcc",
            path="Makefile",
        ),
        fixes(
            "a:\n\t@echo make CUDA_HOME=/my/cuda\n\tmake CUDA_DIR=$(D) -C src/cuda\n\tnvcc a.c",
            "a:\n\t@echo make ROCM_PATH=/my/cuda\n\tmake ROCM_PATH=$(D) -C src/cuda\n\thipcc a.c",
            path="Makefile",
        ),
        reports("a:\n\tcuobjdump -sass a.o", path="Makefile"),
        reports("#!/bin/sh\ncompute-sanitizer --tool racecheck ./a\n", path="test.sh"),
        reports("#!/bin/sh\nncu --set full ./a\n", path="test.sh"),
        reports("include ../site.cfg\na:\n\t$(ROCM_PATH)/bin/hipcc a.hip", path="Makefile", effort=Effort.REVIEW),
        clean("include ../make.config\nL = -L$(ROCM_PATH)/lib", path="Makefile"),
        clean("include ../site.cfg\nROCM_PATH ?= /opt/rocm\nL = -L$(ROCM_PATH)/lib", path="Makefile"),
        clean("include ../site.cfg\n-include a.cfg\nL = -lamdhip64", path="Makefile"),
        clean("include $(DEPS)\ninclude .depend\ninclude a.d\nL = -L$(ROCM_PATH)/lib", path="Makefile"),
        clean("A = with-nvcc\nB = use:nvcc-a", path="Makefile"),
        clean("MPI = /opt/nvidia/hpc_sdk/Linux_x86_64/22.7/comm_libs/mpi/lib64\nA = cuda", path="Makefile"),
        clean("# nvcc\nUSE_CUDA = 1\nF = nvcc.log", path="Makefile"),
        clean("export CUDA_HOME=/usr/local/cuda\npip install .\n", path="ci.sh"),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """Yields findings; changes nothing."""
        make = unit.makefile
        nvcc, tools = "nvcc" in unit.text, any(tool in unit.text for tool in _TOOL_NAMES)
        cuda = nvcc or (unit.kind is Kind.MAKE and ("cuda" in unit.text or "CUDA" in unit.text))
        for start, text in make.code:
            for match in _NVCC.finditer(text) if nvcc else ():
                yield self.replaced(unit, start + match.start(), start + match.end(), "hipcc")
            for match in _TOOLS.finditer(text) if tools else ():
                where = (start + match.start(), start + match.end())
                message = f"{match[0]} is NVIDIA's tool: nearest to it is {_TOOL_NAMES[match[0]]}"
                yield self.finding(unit, *where, message, Effort.MANUAL)
            if cuda:
                yield from self._folders(unit, start, text)
        yield from self._elsewhere(unit)
        if not may_name_architecture(unit.text):
            return
        for assignment in make.assignments:
            for words in make.words(assignment.start, assignment.end):
                for word in words:
                    behind = _BEHIND_FLAG.match(word.text)
                    first = behind.end() if behind is not None else 0
                    if is_architecture(word.text[first:]):
                        yield self.replaced(unit, word.start + first, word.end, ARCHITECTURE)

    def _elsewhere(self, unit: BuildUnit) -> Iterator[Finding]:
        """The first file that may define what is used here by the port's name, and keeps CUDA's."""
        if unit.kind is not Kind.MAKE or "include" not in unit.text or _USED.search(unit.text) is None:
            return
        if any(one.name == "ROCM_PATH" or _HOME.fullmatch(one.name) for one in unit.makefile.assignments):
            return
        for match in _INCLUDE.finditer(unit.text):
            name = match[1].rpartition("/")[2]
            if _NO_SETTINGS.search(name) is None and kind_of_build(name) is None:
                message = f"{name} is left as it is: if it defines CUDA's folder, that has to be ROCM_PATH there"
                yield self.finding(unit, match.start(1), match.end(1), message, Effort.REVIEW)
                return

    def _folders(self, unit: BuildUnit, start: int, text: str) -> Iterator[Finding]:
        for match in _HOME.finditer(text) if "CUDA" in text else ():
            first, last = start + match.start(), start + match.end()
            if unit.text[first - 2 : first] in ("$(", "${") and _would_name_itself(unit, first):
                yield self.replaced(unit, first - 2, last + 1, "/opt/rocm", "ROCM_PATH cannot be set to itself")
            elif (kept := _kept_folder(unit, last)) is not None:
                message = f"{match[0]} becomes ROCM_PATH, and keeps a folder of CUDA's, {kept}: it has to be ROCm's"
                yield self.finding(unit, first, last, message, Effort.REVIEW, (Edit(first, last, "ROCM_PATH"),))
            else:
                yield self.replaced(unit, first, last, "ROCM_PATH")
        for match in _FOLDER.finditer(text):
            yield self.replaced(unit, start + match.start(), start + match.end(), "/opt/rocm")
        if "/lib" not in text:
            return
        words = [word.start() for word in re.finditer(r"\S+", text)]
        for match in _LIB64.finditer(text):
            before = text[words[bisect.bisect_right(words, match.start()) - 1] : match.start()]
            if _HOME.search(before) or "ROCM_PATH" in before or _is_folder(unit, before):
                edit = Edit(start + match.start(), start + match.end(), "/lib")
                message = f"{match[0]} of the toolkit becomes /lib"
                yield self.finding(unit, edit.start, edit.end, message, Effort.NONE, (edit,))


_NAMED = re.compile(r"\$[({](\w+)[)}]$")


def _is_folder(unit: BuildUnit, text: str) -> bool:
    """Whether a text ends with the toolkit's folder, or with a variable whose value that is."""
    if _FOLDER.search(text) or "/opt/rocm" in text:
        return True
    named = _NAMED.search(text)
    if named is None:
        return False
    values = {unit.text[a.start : a.end].strip() for a in unit.makefile.assignments if a.name == named[1]}
    return any(value == "/opt/rocm" or _FOLDER.fullmatch(value) for value in values)


_VALUE = {
    Kind.MAKE: re.compile(r"[ \t]*[?:+]{0,2}=[ \t]*([^\n#]+)"),
    Kind.SHELL: re.compile(r"=(\"[^\"\n]+\"|'[^'\n]+'|[^\s;#&|]+)"),
}
_LONGEST = 400
_OF_CUDA = re.compile(r"[\w.@+~-]*(?:/[\w.@+~-]*)*/[\w.@+~-]*(?i:cuda)[\w.@+~-]*(?:/[\w.@+~-]+)*")


def _kept_folder(unit: BuildUnit, end: int) -> str | None:
    """A folder of CUDA's that the variable whose name ends here gets, and that no other rewrite makes ROCm's."""
    line = unit.text[unit.text.rfind("\n", 0, end) + 1 : end]
    if is_said(unit.text, end):
        return None
    is_argument = line.startswith("\t") or len(line.split()) > 2
    value = _VALUE[Kind.SHELL if is_argument else unit.kind].match(unit.text, end)
    if value is None or "/" not in value[1]:
        return None
    rest = re.sub(r"\$\([^()]*\)|\$\{[^{}]*\}", "", _FOLDER.sub("", value[1][:_LONGEST]))
    found = _OF_CUDA.search(rest)
    return found[0] if found is not None else None


def _would_name_itself(unit: BuildUnit, place: int) -> bool:
    """Whether a place is in the value of one of the folder's names that make expands when it is used: all are one name
    in the port, and make ends at a variable that refers to itself."""
    if unit.kind is not Kind.MAKE:
        return False
    for assignment in unit.makefile.assignments:
        if assignment.start <= place < assignment.end and _HOME.fullmatch(assignment.name):
            operator = unit.text[: assignment.start].rstrip()[-2:]
            return operator[1:] == "=" and operator[0] not in ":+!"
    return False
