"""`python -m tests.fuzz.kills`: commands killed at any moment, run again, and compared with an undisturbed run."""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_DATE = re.compile(rb"\d{4}-\d\d-\d\d \d\d:\d\d UTC")
_UNSEEN = (".git/", ".porter-tmp-")


@dataclass(frozen=True)
class Command:
    """What is killed, and what is looked at afterwards."""

    name: str
    arguments: Callable[[Path], list[str]]
    """In a folder with the samples in `src` and their port in `ported`."""
    again: tuple[str, ...] = ()
    """Options that the second try needs."""


COMMANDS = (
    Command("port", lambda at: ["port", f"{at}/src", "-o", f"{at}/out"]),
    Command("in-place", lambda at: ["port", "--in-place", f"{at}/src"], ("--force",)),
    Command("dual", lambda at: ["port", "--style", "dual", f"{at}/src", "-o", f"{at}/out"]),
    Command(
        "check", lambda at: ["check", f"{at}/src", "--format", "json", "-o", f"{at}/out.json", "--update-baseline"]
    ),
    Command("report", lambda at: ["report", f"{at}/port.json", "-o", f"{at}/out.html"]),
    Command("build", lambda at: ["build", f"{at}/ported", "--format", "json"]),
    Command("validate", lambda at: ["validate", f"{at}/src/block_reduce", "--format", "json"]),
)


def porter(*arguments: str, cache: Path) -> subprocess.Popen[bytes]:
    """A run of its own process group."""
    environment = {**os.environ, "PORTER_CACHE_DIR": str(cache)}
    command = [sys.executable, "-m", "porter", *arguments]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=quiet, stderr=quiet, stdin=quiet, start_new_session=True
    )


def prepare(at: Path, samples: int) -> None:
    """A few samples in a git repository."""
    for sample in sorted(path for path in (ROOT / "samples").iterdir() if path.is_dir())[:samples]:
        shutil.copytree(sample, at / "src" / sample.name)
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    for words in (("init", "-q"), ("add", "-A"), (*identity, "commit", "-q", "-m", "x")):
        subprocess.run(["git", *words], cwd=at / "src", check=True, capture_output=True)
    base = [sys.executable, "-m", "porter", "port", str(at / "src")]
    with (at / "port.json").open("wb") as report:
        subprocess.run([*base, "-o", str(at / "ported"), "--format", "json"], cwd=ROOT, stdout=report, check=False)


def state(at: Path) -> Mapping[str, str]:
    """All files by digest."""
    files = (path for path in sorted(at.rglob("*")) if path.is_file())
    named = ((path.relative_to(at).as_posix(), path) for path in files)
    return {
        name: hashlib.sha256(_DATE.sub(b"", path.read_bytes().replace(os.fsencode(at), b"@"))).hexdigest()
        for name, path in named
        if not any(part in name for part in _UNSEEN)
    }


def undisturbed(command: Command, made: Path, at: Path, cache: Path) -> tuple[Mapping[str, str], int, float]:
    """State, exit code and seconds of a run that nobody kills."""
    shutil.copytree(made, at, symlinks=True)
    began = time.monotonic()
    code = porter(*command.arguments(at), cache=cache).wait()
    return state(at), code, time.monotonic() - began


def killed(command: Command, made: Path, at: Path, cache: Path, after: float) -> tuple[Mapping[str, str], int, bool]:
    """State and exit code after a kill and the same command again; whether there was something left to kill."""
    shutil.rmtree(at, ignore_errors=True)
    shutil.copytree(made, at, symlinks=True)
    process = porter(*command.arguments(at), cache=cache)
    time.sleep(after)
    hit = process.poll() is None
    os.killpg(process.pid, signal.SIGKILL) if hit else None
    process.wait()
    code = porter(*command.arguments(at), *(command.again if hit else ()), cache=cache).wait()
    return state(at), code, hit


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.kills", description=__doc__)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no other one after so long")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--samples", type=int, default=6)
    parser.add_argument("--command", action="append", choices=[command.name for command in COMMANDS], default=[])
    parser.add_argument("--keep", type=Path, help="folder for what came out wrong, and what is right beside it")
    asked = parser.parse_args()
    dice = random.Random(asked.seed)
    chosen = [command for command in COMMANDS if not asked.command or command.name in asked.command]
    wrong, hits = 0, Counter[str]()
    with tempfile.TemporaryDirectory(prefix="porter-kills-") as folder:
        made, at, cache = Path(folder) / "made", Path(folder) / "at", Path(folder) / "cache"
        made.mkdir()
        prepare(made, asked.samples)
        known = {}
        for command in chosen:
            shutil.rmtree(at, ignore_errors=True)
            known[command.name] = undisturbed(command, made, at, cache)
            if asked.keep is not None:
                shutil.copytree(at, asked.keep / command.name, symlinks=True)
        until = time.monotonic() + asked.seconds
        for _ in range(asked.count):
            if time.monotonic() > until:
                break
            command = dice.choice(chosen)
            wanted, code, seconds = known[command.name]
            found, ended, hit = killed(command, made, at, cache, dice.random() * seconds)
            hits[command.name] += hit
            if not hit:  # it had ended already
                continue
            if (found, ended) != (wanted, code):
                wrong += 1
                odd = sorted(name for name in found.keys() | wanted.keys() if found.get(name) != wanted.get(name))
                print(f"{command.name}: exit {ended}, was {code}; differs: {odd[:5]}", flush=True)
                if asked.keep is not None:
                    shutil.copytree(at, asked.keep / f"{command.name}-{wrong}", symlinks=True)
    print(f"{sum(hits.values())} kills ({', '.join(f'{name} {count}' for name, count in hits.items())}), {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
