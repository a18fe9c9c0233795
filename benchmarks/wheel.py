"""Whether a wheel works alone: installed plainly for each Python, made read-only, every command from another folder.

python -m benchmarks.wheel PYTHON... [--user]
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KERNEL = "#include <cuda_runtime.h>\n__global__ void k(float *x) { x[0] = __shfl_sync(~0u, x[1], 0); }\n"
TEST = "def test_nothing():\n    assert True\n"
EXTRA = "pip install 'porter["
"""What a command says that lacks a package."""
COMMANDS: tuple[tuple[str, tuple[int, ...], str], ...] = (
    ("--version", (0,), "porter"),
    ("doctor", (0, 1), ""),
    ("scan a.cu", (0,), ""),
    ("port a.cu -o out", (0,), ""),
    ("check .", (0, 1, 2), ""),
    ("explain cudaMalloc", (0,), "hipMalloc"),
    ("rules", (0,), "W102"),
    ("build out", (0, 1, 2), ""),
    ("cases init a.cu -o -", (2,), EXTRA),
    ("validate .", (2,), EXTRA),
    ("run -- true", (0, 2), ""),
    ("lsp", (2,), EXTRA),
    ("mcp", (2,), EXTRA),
    ("all a.cu -o all", (0, 1), EXTRA),
)
"""Command, exit codes that are right on any machine, and what it has to say."""


def main() -> None:
    """One line per Python and command; 1 where one is not as it should be."""
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("pythons", nargs="+", metavar="PYTHON")
    arguments.add_argument("--user", action="store_true", help="Install with --user instead, into a home of its own.")
    arguments.add_argument("--only", default="", metavar="WORD", help="Commands that have this word.")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        source = folder / "source"  # a build leaves its own folder in the tree that it builds
        for name in ("porter", "rules", "validation"):
            shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("pyproject.toml", "setup.py", "README.md"):
            shutil.copy(ROOT / name, source)
        wrong = sum(
            tried(python, source, folder / str(at), user=given.user, only=given.only)
            for at, python in enumerate(given.pythons)
        )
    sys.exit(1 if wrong else 0)


def tried(python: str, source: Path, folder: Path, *, user: bool, only: str) -> int:
    """Makes the wheel and installs it, and counts the commands that are not as they should be."""
    home = folder / "home"
    home.mkdir(parents=True)
    done([python, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(folder), str(source)], folder, {})
    (wheel,) = folder.glob("porter-*.whl")  # what is compiled is for this Python alone
    environment = {"HOME": str(home), "XDG_CACHE_HOME": str(home / ".cache"), "PYTHONUSERBASE": str(home / ".local")}
    place = home / ".local"
    if not user:
        place = folder / "venv"
        done([python, "-m", "venv", str(place)], folder, environment)
        python = str(place / "bin" / "python")
    done(
        [python, "-m", "pip", "install", "-q", *(["--user"] if user else []), str(wheel), "pytest"], folder, environment
    )
    for path in sorted(place.rglob("*"), reverse=True):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode & ~0o222)
    work = folder / "work"
    work.mkdir()
    (work / "a.cu").write_text(KERNEL)
    (work / "test_a.py").write_text(TEST)
    version = done([python, "--version"], work, environment).stdout.strip()
    lines = [(f"porter {words}", [python, "-m", "porter", *words.split()], *rest) for words, *rest in COMMANDS]
    lines.append(("pytest --porter-cases", [python, "-m", "pytest", "-q", "--porter-cases"], (0,), ""))
    wrong, before = 0, installed(place)
    for name, command, codes, said in (line for line in lines if only in line[0]):
        answer = done(command, work, environment, check=False)
        text = answer.stdout + answer.stderr
        fine = answer.returncode in codes and said in text and "bug in porter" not in text and "Traceback" not in text
        wrong += not fine
        print(
            f"{version}, {name}: {answer.returncode} {'as it should be' if fine else 'WRONG: ' + text[-600:]}",
            flush=True,
        )
    if written := installed(place) ^ before:
        print(f"{version}: WRONG: written into the installation: {sorted(written)[:5]}", flush=True)
        wrong += 1
    return wrong


def installed(place: Path) -> set[tuple[str, int]]:
    """Files and their sizes; root may write what is read-only, so that alone would show nothing."""
    return {(str(path), path.lstat().st_size) for path in place.rglob("*") if "__pycache__" not in path.parts}


def done(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], *, check: bool = True
) -> subprocess.CompletedProcess[str]:
    """A process without this one's packages."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    return subprocess.run(
        command,
        cwd=folder,
        env={**kept, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=check,
        timeout=600,
    )


if __name__ == "__main__":
    main()
