"""K301: nvcc's flags in Makefiles and scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.buildfiles.flags import Word
from porter.buildfiles.rule import BuildRule, BuildUnit, Edit, Effort, Finding, Kind, clean, fixes, reports

_SEPARATE = re.compile(r"(?<!\S)(?:-dc|--device-c|(?:-rdc|--relocatable-device-code)[= ]true)(?!\S)")
_DEVICE_LINK = re.compile(r"(?<!\S)(?:-dlink|--device-link)(?!\S)")
_SOURCE = re.compile(r"\.(?:cu|cpp|cc|cxx|c|C)\Z")
_DOES_NOT_LINK = {
    *("-c", "--compile", "-dc", "--device-c", "-dw", "--device-w", "-E", "--preprocess", "-M", "-MM", "-lib", "--lib"),
    *("-ptx", "--ptx", "-cubin", "--cubin", "-fatbin", "--fatbin", "-fgpu-rdc", "-S"),
}


class MakeFlags(BuildRule):
    """Flags of nvcc in a Makefile or script

    Flags in command lines that call nvcc, and in the variables that these use, are those of hipcc afterwards;
    rules/buildfiles/flags.toml is the table. Flags that no other compiler has are rewritten wherever they stand.
    nvcc links device code with the program by itself; hipcc has to be told where that code was compiled apart.
    """

    code = "K301"
    kinds = frozenset({Kind.MAKE, Kind.SHELL})
    hazards = ("nvcc-flags-rejected", "nvcc-flags-silently-misread", "fast-math-flag", "makefile-nvcc", "rdc-link")
    examples = (
        fixes(
            "NVCC = hipcc\nNVCCFLAGS = -O2 -arch=sm_80 -Xcompiler -Wall",
            "NVCC = hipcc\nNVCCFLAGS = -O2 --offload-arch=gfx942 -Wall",
            path="Makefile",
        ),
        fixes("a:\n\t$(NVCC) -G a.c -o a", "a:\n\t$(NVCC) -g -Xarch_device -O0 a.c -o a", path="Makefile"),
        fixes(
            "F=--use_fast_math\nnvcc $F a.c\n",
            "F=-fgpu-flush-denormals-to-zero"
            "\\ -fno-hip-fp32-correctly-rounded-divide-sqrt\\ -fcuda-approx-transcendentals\n"
            "nvcc $F a.c\n",
            path="build.sh",
        ),
        fixes(
            "nvcc -dc -ftz=true a.c\n",
            "nvcc -fgpu-rdc -c -fgpu-flush-denormals-to-zero a.c\n",
            path="build.sh",
            effort=Effort.REVIEW,
        ),
        fixes(
            "F = -gencode=arch=compute_70,code=sm_70 \\\n\t-gencode=arch=compute_80,code=sm_80\nifdef A\nendif\n"
            "a:\n\tnvcc $(F)",
            "F = --offload-arch=gfx942 \\\n\t\nifdef A\nendif\na:\n\tnvcc $(F)",
            path="Makefile",
        ),
        fixes(
            "F = -O3\nmain: $(OBJ)\n\tnvcc $(F) $(OBJ) -o $@\n%.o: %.cu\n\tnvcc $(F) -dc $< -o $@",
            "F = -O3\nmain: $(OBJ)\n\tnvcc -fgpu-rdc --hip-link $(F) $(OBJ) -o $@\n%.o: %.cu\n"
            "\tnvcc $(F) -fgpu-rdc -c $< -o $@",
            path="Makefile",
            effort=Effort.REVIEW,
        ),
        fixes(
            "S = 60 70\nF = $(foreach s,$(S),-gencode arch=compute_$(s),code=sm_$(s))\na:\n\tnvcc $(F)",
            "S = 60 70\nF = $(foreach s,$(S),--offload-arch=gfx942)\na:\n\tnvcc $(F)",
            path="Makefile",
        ),
        fixes(
            "S = 60 70\nF = ${foreach s, ${S},-gencode arch=compute_${s},code=sm_${s}} -G\na:\n\tnvcc ${F}",
            "S = 60 70\nF = ${foreach s, ${S},--offload-arch=gfx942} -g -Xarch_device -O0\na:\n\tnvcc ${F}",
            path="Makefile",
        ),
        fixes(
            'NVCCFLAGS = -Xcompiler \\"-Wl,-rpath,$(A)/lib/\\" -Xcompiler "-Wall -g"\na:\n\tnvcc $(NVCCFLAGS)',
            "NVCCFLAGS = -Wl,-rpath,$(A)/lib/ -Wall -g\na:\n\tnvcc $(NVCCFLAGS)",
            path="Makefile",
        ),
        clean("HIPFLAGS = --amdgpu-target=gfx90a\nGENCODE_HIP = --amdgpu-target=gfx90a\na:\n\thipcc", path="Makefile"),
        fixes(
            "ifeq ($(D), 1)\n\tF = -O0 -G\nendif\na:\n\tnvcc $(F)",
            "ifeq ($(D), 1)\n\tF = -O0 -g -Xarch_device -O0\nendif\na:\n\tnvcc $(F)",
            path="Makefile",
        ),
        fixes(
            "CFLAGS = -O3 --x cu  # CC is given by the one who calls\n.c.o:\n\t$(CC) -c $(CFLAGS) $<",
            "CFLAGS = -O3 -x hip  # CC is given by the one who calls\n.c.o:\n\t$(CC) -c $(CFLAGS) $<",
            path="Makefile",
        ),
        fixes(
            'F="-x cu -arch=sm_$CC"\nnvcc $F a.c\n', 'F="-x hip --offload-arch=gfx942"\nnvcc $F a.c\n', path="build.sh"
        ),
        fixes(
            "$(foreach s,70 80,$(eval F += -gencode arch=compute_$(s),code=sm_$(s)))\na:\n\tnvcc $(F)",
            "$(foreach s,70 80,$(eval F += --offload-arch=gfx942))\na:\n\tnvcc $(F)",
            path="Makefile",
        ),
        reports("a:\n\t$(NVCC) --frobnicate a.c", path="Makefile", effort=Effort.REVIEW),
        reports("a:\n\t${NVCC} -dlink -o all.o *.o", path="Makefile", effort=Effort.MANUAL),
        reports("nvcc -ptx -o a.ptx a.c\n", path="build.sh", effort=Effort.MANUAL),
        clean("CXX = g++\na:\n\t$(CXX) -G a.c", path="Makefile"),
        clean(
            "S = $(shell find src -name x.c)\na:\n\tnvcc -O2 $(S) -o a | sed -r 's/a/b/' && rm -rf b", path="Makefile"
        ),
        fixes(
            'NVCC = hipcc\nNVCCFLAGS = -Xcompiler "-Wall -std=c99" -Xcompiler -std=c++17',
            "NVCC = hipcc\nNVCCFLAGS = -Wall -std=c++17",
            path="Makefile",
        ),
        clean("# nvcc -arch=sm_80\nall:", path="Makefile"),
        clean(
            "CXX_ARCH_FLAGS += -arch x86_64\nCXX_ARCH_FLAGS += -arch i386\nall:\n\t$(CXX) $(CXX_ARCH_FLAGS)",
            path="Makefile",
        ),
        clean(
            "NVCCFLAGS = -O2 $(shell hipcc --version | grep -Eo 'V[0-9]+' | cut -d. -f1 | sort --unique)\n"
            "a:\n\tnvcc $(NVCCFLAGS) a.c",
            path="Makefile",
        ),
        clean(
            "NVCCFLAGS = $(shell $(PY) -c 'x' --includes) $(shell /usr/bin/pkg-config --cflags y)\n"
            "a:\n\tnvcc $(NVCCFLAGS)",
            path="Makefile",
        ),
        clean("a:\n\tnvcc -I/a/$$(uname -m)-linux/include -L$(B)/$$(uname $(X) -s)/lib a.c", path="Makefile"),
        clean("cmake -C $H -DCMAKE_HIP_COMPILER=/usr/bin/nvcc ..", path="build.sh"),
        fixes(
            "F = --cuda-gpu-arch\nG = $(F)=sm_80\na:\n\tnvcc $(G) a.c",
            "F = --offload-arch\nG = $(F)=sm_80\na:\n\tnvcc $(G) a.c",
            path="Makefile",
            effort=Effort.REVIEW,
        ),
        clean("a:\n\tnvcc -O2 `pkg-config --libs x | cut -c3-` a.c $(shell ls | grep -e x)", path="Makefile"),
        clean("nvcc -O2 a.c $(pkg-config --libs x | cut -c3-)\n", path="build.sh"),
        reports("a:\n\tnvcc `pkg-config --libs x` --frobnicate a.c", path="Makefile", effort=Effort.REVIEW),
        reports(
            "NVCCFLAGS = $(shell pkg-config --libs x) --frobnicate\na:\n\tnvcc $(NVCCFLAGS)",
            path="Makefile",
            effort=Effort.REVIEW,
        ),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """Yields findings; changes nothing."""
        make = unit.makefile
        for assignment in make.assignments:
            if "-" not in unit.text[assignment.start : assignment.end]:
                continue
            certain = assignment.name in make.flag_variables
            glue = "\\ " if _is_bare_word(unit, assignment.start, assignment.end) else " "
            for words in make.words(assignment.start, assignment.end):
                for number, command in enumerate(_commands(unit.text, words)):
                    another = number > 0 or _is_another_command(unit.text, command) or _substitutes(command[0].text)
                    known = certain and (not another or make.calls_nvcc(command[0].start, command[-1].end))
                    yield from self.flags(unit, command, all_known=known, arch_flags=True, glue=glue)
        for line in make.lines:
            if unit.kind is Kind.SHELL and any(a.start <= line.start < a.end for a in make.assignments):
                continue
            certain = make.calls_nvcc(line.start, line.end)
            for words in make.words(line.start, line.end):
                for command in _commands(unit.text, words) if certain else (words,):
                    known = certain and make.calls_nvcc(command[0].start, command[-1].end)
                    yield from self.flags(unit, command, all_known=known, arch_flags=True)
        yield from self._links(unit)

    def _links(self, unit: BuildUnit) -> Iterator[Finding]:
        """Lines that link what was compiled with -dc; a device link of its own is a person's work."""
        make = unit.makefile
        code = "".join(text for _, text in make.code)
        if not _SEPARATE.search(code) or _DEVICE_LINK.search(code):
            return
        for line in make.lines:
            words = make.words(line.start, line.end)[0]
            at = next((i for i, word in enumerate(words) if make.calls_nvcc(word.start, word.end)), None)
            if at is not None and self._is_link(unit, words[at + 1 :]):
                where = words[at]
                new = Edit(where.end, where.end, " -fgpu-rdc --hip-link")
                message = "links device code that was compiled apart: nvcc does so by itself, hipcc has to be told"
                yield self.finding(unit, where.start, where.end, message, Effort.NONE, (new,))

    @staticmethod
    def _is_link(unit: BuildUnit, words: list[Word]) -> bool:
        texts = {word.text for word in words}
        named = [a for a in unit.makefile.assignments if any(f"({a.name})" in t or f"{{{a.name}}}" in t for t in texts)]
        texts |= {word for a in named for word in unit.text[a.start : a.end].split()}
        inputs = any(text.startswith("$") or text.endswith((".o", ".a")) for text in texts)
        return "-o" in texts and inputs and not texts & _DOES_NOT_LINK and not any(map(_SOURCE.search, texts))


def _is_bare_word(unit: BuildUnit, start: int, end: int) -> bool:
    """Whether a shell's variable gets a word without quotes: a blank in it would begin a command."""
    value = unit.text[start:end]
    return unit.kind is Kind.SHELL and unit.text[start - 1] not in "\"'" and _BARE.fullmatch(value) is not None


_BARE = re.compile(r"[^\s\"'()`]+")


def _commands(text: str, words: list[Word]) -> Iterator[list[Word]]:
    """The commands of a line, which `|`, `&&` and `;` part; first the one that others in backquotes stand in."""
    parts: list[list[Word]] = [[]]
    inside: list[list[Word]] = []
    quoted = False
    for word in words:
        begins = not quoted and _substitutes(word.text)
        into = inside if quoted or begins else parts
        last = into[-1] if into else []
        if not into or begins or (last and not _PARTS.isdisjoint(text[last[-1].end : word.start])):
            into.append([])
        into[-1].append(word)
        quoted = (quoted or begins) and not _is_closed(word.text)
    yield from (command for command in (*parts, *inside) if command)


_PARTS = frozenset("|;&")
_SUBSTITUTE = "$$("
_VARIABLE = re.compile(r"\$[({]\w+[)}]")


def _substitutes(word: str) -> bool:
    """Whether a command in backquotes begins with a word, or one in `$$( )` in it: `-I/a/$$(uname`."""
    return word.startswith("`") or _SUBSTITUTE in word


def _is_closed(word: str) -> bool:
    """Whether such a command ends in a word: `-m)-linux/include`."""
    inside = _VARIABLE.sub("", word)
    return (word.endswith("`") and len(word) > 1) or ")" in inside


_PROGRAM = re.compile(r"[a-z][\w-]*")
_IN_SHELL = re.compile(r"\$\(shell\s+[@(]*\Z")


def _is_another_command(text: str, words: list[Word]) -> bool:
    """Whether words are a command of their own, as those of `$(shell find src -name a.c)`."""
    start = words[0].start
    in_shell = _IN_SHELL.search(text, max(0, start - 20), start) is not None
    return in_shell or (len(words) > 1 and _PROGRAM.fullmatch(words[0].text) is not None)
