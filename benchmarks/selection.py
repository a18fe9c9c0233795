"""Copy a sample of a corpus with the folders it refers to: `python -m benchmarks.selection OUT`."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from benchmarks.corpus import program_names, referenced_folders


def folders_for(corpus: Path, names: list[str]) -> list[str]:
    """The CUDA folders of the programs and, transitively, the siblings their builds reach."""
    wanted = [f"{name}-cuda" for name in names]
    for folder in wanted:
        wanted += sorted(referenced_folders(corpus / folder) - set(wanted))
    return wanted


def copy_selection(corpus: Path, out: Path, names: list[str]) -> int:
    """Number of folders copied; links stay links."""
    out.mkdir(parents=True)
    folders = folders_for(corpus, names)
    for folder in folders:
        shutil.copytree(corpus / folder, out / folder, symlinks=True)
    return len(folders)


def main(argv: list[str] | None = None) -> int:
    """Refuses an existing OUT."""
    parser = argparse.ArgumentParser(prog="benchmarks.selection", description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--every", type=int, default=4)
    parser.add_argument("--offset", type=int, default=0)
    arguments = parser.parse_args(argv)
    if arguments.out.exists():
        parser.error(f"{arguments.out} exists")
    names = program_names(arguments.corpus, arguments.every, arguments.offset)
    print(f"{len(names)} programs, {copy_selection(arguments.corpus, arguments.out, names)} folders")
    return 0


if __name__ == "__main__":
    sys.exit(main())
