"""Text of the `nvcc` that builds programs for the virtual NVIDIA GPU: the real one, with PTX and a shared runtime.

Copied into a folder of the cache with SETTINGS filled in; it imports nothing of porter, so that it starts fast.
"""

from __future__ import annotations

import os
import re
import sys
from typing import Any

from porter.validation.programs.wrapper_removed import with_removed
from porter.validation.programs.wrapper_stand_ins import linked_stand_ins

SETTINGS: dict[str, Any] = {}  # compiler, options, removed, stand_ins, build_stand_ins
TARGETS = ("-arch", "--gpu-architecture", "-code", "--gpu-code", "-gencode", "--generate-code", "-cudart", "--cudart")
SEPARATE = re.compile(r"^(-rdc=true|--relocatable-device-code=true|-dc|--device-c|-dlink|-rdc|-lcudadevrt)$")
LEAST, MOST = 80, 120
SOURCES = (".cu", ".cpp", ".cc", ".cxx", ".c")


def command(words: list[str]) -> list[str]:
    """The command line for nvcc."""
    out: list[str] = []
    given, takes = LEAST, False
    for word in words:
        if takes:
            takes = False
            given = max(given, _architecture(word))
        elif word in TARGETS:
            takes = True
        elif word.partition("=")[0] in TARGETS:
            given = max(given, _architecture(word))
        elif word in ("-lcudart_static", "-lcudart"):
            continue
        else:
            out.append(word)
    if not any(word.endswith((*SOURCES, ".o", ".a")) for word in out):
        return [SETTINGS["compiler"], *words]
    beside = linked_stand_ins(words, SETTINGS["stand_ins"], SETTINGS["build_stand_ins"])
    if any(SEPARATE.match(word) for word in words):
        target = [f"-gencode=arch=compute_{given},code=[compute_{given},sm_{given}]"]
    else:
        target = [f"-arch=compute_{given}"]
    return [SETTINGS["compiler"], *target, "-cudart", "shared", *SETTINGS["options"], *beside, *out]


def _architecture(word: str) -> int:
    numbers = [int(number) for number in re.findall(r"(?:sm|compute)_(\d+)", word)]
    return max([number for number in numbers if number <= MOST], default=LEAST)


def main() -> None:
    """Run it."""
    words = command(sys.argv[1:])
    if SETTINGS["removed"] and any(word.endswith(SOURCES) for word in sys.argv[1:]):
        sys.exit(with_removed(words, SETTINGS["removed"]))
    try:
        os.execv(words[0], words)
    except OSError as error:
        sys.exit(f"{words[0]}: {error.strerror}")


if __name__ == "__main__":
    main()
