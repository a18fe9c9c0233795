"""Text of the `hipcc` that builds programs for the virtual MI300X: clang, and the drop-in library to link with.

Copied into a folder of the cache with SETTINGS filled in; it imports nothing of porter, so that it starts fast.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from porter.validation.programs.wrapper_stand_ins import linked_stand_ins

SETTINGS: dict[str, Any] = {}  # compiler, options (to compile), libraries (to link), stand_ins, build_stand_ins
SOURCES = (".cu", ".hip", ".cpp", ".cc", ".cxx", ".c++", ".C", ".cuh")
WITH_VALUE = {
    *("-o", "-I", "-L", "-D", "-U", "-l", "-x", "-include", "-isystem", "-idirafter", "-MF", "-MT", "-MQ"),
    *("-Xclang", "-Xlinker"),
}
DROPPED = (
    *("--offload-arch", "--amdgpu-target", "--rocm-path", "--hip-path", "--gcc-toolchain"),
    "-fno-gpu-rdc",
)
NO_LINK = {"-c", "-E", "-S", "-M", "-MM", "-fsyntax-only"}
QUESTIONS = {"--version", "-v", "-V", "-dumpversion", "-print-targets"}
OTHERS = ("ROCM_PATH", "HIP_PATH", "HIP_DEVICE_LIB_PATH")
"""Clang looks for a ROCm of its own there, and takes its version for that of the headers that it is given."""


def command(words: list[str]) -> list[str]:
    """The command line for clang."""
    if QUESTIONS.issuperset(words) and words:
        return [SETTINGS["compiler"], *words]
    out: list[str] = []
    takes, compiles, openmp, level = False, False, False, False
    language: str | None = None
    for word in words:
        if takes:
            takes = False
            out.append(word)
        elif word in WITH_VALUE:
            takes = word != "-x"
            if takes:
                out.append(word)
            else:
                language = ""
        elif language == "":
            language = word
        elif word.startswith("-fopenmp"):  # the pragmas are left out: hosts run serially
            openmp = True
        elif word.startswith(DROPPED) or (word == "--hip-link" and "-fgpu-rdc" not in words):
            continue
        elif word.endswith(SOURCES) and not word.startswith("-"):
            compiles = True
            out += ["-x", "hip", word, "-x", "none"]
        elif word.endswith(".c") and not word.startswith("-"):
            compiles = True
            out += ["-x", "hip" if language == "hip" else "c", word, "-x", "none"]
        else:
            level = level or word.startswith("-O")
            out.append(word)
    # device code that is linked with the program has its target there
    options = SETTINGS["options"] if compiles or "-fgpu-rdc" in words else []
    if options and not level:
        options = [*options, "-O3"]  # as hipcc does; clang alone does not optimise
    link = [] if any(word in NO_LINK for word in words) else SETTINGS["libraries"]
    if link:
        link = [*linked_stand_ins(words, SETTINGS["stand_ins"], SETTINGS["build_stand_ins"]), *link]
    if openmp:
        options = [*options, "-idirafter", str(Path(__file__).resolve().parent / "include")]
        link = [*link, "-lgomp"] if link else link
    return [SETTINGS["compiler"], *options, *out, *link]


def main() -> None:
    """Run it; the folder of this script holds the tools that clang looks for."""
    here = Path(__file__).resolve().parent
    os.environ["PATH"] = str(here) + os.pathsep + os.environ.get("PATH", "")
    for name in OTHERS:
        os.environ.pop(name, None)
    if "-print-targets" in sys.argv:  # CMake reads off clang's answer where its ROCm is
        print(f"Found HIP installation: {here / 'rocm'}, version 0", file=sys.stderr, flush=True)
    words = command(sys.argv[1:])
    try:
        os.execv(words[0], words)
    except OSError as error:
        sys.exit(f"{words[0]}: {error.strerror}")


if __name__ == "__main__":
    main()
