"""K305: C++'s standard given with a C file, in Makefiles."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.buildfiles.rule import BuildRule, BuildUnit, Edit, Effort, Finding, Kind, clean, fixes
from porter.buildfiles.unit import removal

_STANDARD = re.compile(r"(?<!\S)-?-std=(?:c|gnu)\+\+\w+")
_ALL = "-std=c++% -std=gnu++% --std=c++% --std=gnu++%"
_REFERENCE = re.compile(r"\$(?:\((\w+)\)|\{(\w+)\})")
_SOURCE = re.compile(r".+\.(c|cu|cpp|cc|cxx|C|c\+\+|hip|cuh)")


class MakeCFile(BuildRule):
    """C++'s standard in the command that compiles a C file

    nvcc hands `.c` files to the host's C compiler, which warns of `-std=c++17` and goes on; hipcc compiles them with
    clang, which refuses it. The flag is left out where a command of a Makefile compiles C alone.
    """

    code = "K305"
    kinds = frozenset({Kind.MAKE})
    examples = (
        fixes(
            "CC = nvcc\nF = -O3 -std=c++17\n%.o: %.c\n\t$(CC) $(F) -c $< -o $@",
            "CC = nvcc\nF = -O3 -std=c++17\n"
            "%.o: %.c\n\t$(CC) $(filter-out -std=c++% -std=gnu++% --std=c++% --std=gnu++%,$(F)) -c $< -o $@",
            path="Makefile",
        ),
        fixes(
            "CC = nvcc\nS = -std=c++14\nF = -O3 ${S}\n.c.o:\n\t$(CC) ${F} -c $<",
            "CC = nvcc\nS = -std=c++14\nF = -O3 ${S}\n"
            ".c.o:\n\t$(CC) $(filter-out -std=c++% -std=gnu++% --std=c++% --std=gnu++%,${F}) -c $<",
            path="Makefile",
        ),
        fixes(
            "a.o: a.h ./a.c\n\tnvcc -std=c++17 -O2 ./a.c \\\n\t-c -o a.o",
            "a.o: a.h ./a.c\n\tnvcc -O2 ./a.c \\\n\t-c -o a.o",
            path="Makefile",
        ),
        clean("CC = nvcc\nF = -std=c++17\n%.o: %.cu\n\t$(CC) $(F) -c $<", path="Makefile"),
        clean("CC = gcc\nF = -std=c++17\n%.o: %.c\n\t$(CC) $(F) -c $<", path="Makefile"),
        clean("CC = nvcc\nF = -std=c++17\na: a.c b.cu\n\t$(CC) $(F) a.c b.cu -o a", path="Makefile"),
        clean("CC = nvcc\nF = -std=c++17\nmain: a.o\n\t$(CC) $(F) a.o -o main", path="Makefile"),
        clean("CC = nvcc\nF = -std=c11\n%.o: %.c\n\t$(CC) $(F) -c $<", path="Makefile"),
        clean("CC = nvcc\nF = -std=c++17\na.o: a.c\n\t$(CC) $(F) -x c++ -c $<", path="Makefile"),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """Yields findings; changes nothing."""
        make = unit.makefile
        if "-std=" not in unit.text:
            return
        named = make.holding(_STANDARD)
        for line in make.lines:
            if not make.calls_nvcc(line.start, line.end):
                continue
            words = [word for list_ in make.words(line.start, line.end)[:1] for word in list_]
            texts = [word.text for word in words]
            if not _is_c_alone(texts, line.first) or "-x" in texts:
                continue
            for word in words:
                reference = _REFERENCE.fullmatch(word.text)
                if _STANDARD.fullmatch(word.text):
                    edit = removal(unit.text, word.start, word.end)
                elif reference is not None and (reference[1] or reference[2]) in named:
                    edit = Edit(word.start, word.end, f"$(filter-out {_ALL},{word.text})")
                else:
                    continue
                message = f"{word.text}: clang takes no standard of C++ for a C file; left out there"
                yield self.finding(unit, word.start, word.end, message, Effort.NONE, (edit,))


def _is_c_alone(texts: list[str], first: str) -> bool:
    """Whether the sources that a command names are all C; `$<` is the rule's first prerequisite."""
    named = [first if text == "$<" else text for text in texts]
    endings = {found[1] for text in named if (found := _SOURCE.fullmatch(text if text[:1] != "." else f"_{text}"))}
    return endings == {"c"}
