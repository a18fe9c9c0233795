"""`python -m tests.fuzz`: mutants for as long as asked, each in a child that may crash, hang or run out of memory."""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from porter.system import limits
from tests.fuzz.cuts import cuts
from tests.fuzz.mutate import mutant, smaller
from tests.fuzz.targets import BY_NAME, TARGETS, Target, examples

CORPUS = Path(__file__).parent / "corpus"
_ROUND = 400
"""Mutants in one child; the next one begins with a fresh memory."""


def failure(target: Target, data: bytes) -> str | None:
    """What is wrong with an input, by kind and place; None when all holds."""
    try:
        target.check(data)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        inner = next((f for f in reversed(frames) if "/tests/" not in f.filename), frames[-1])
        if type(error).__name__ == "Broken":
            lines = [line for line in str(error).splitlines() if line.strip()]
            places = [line.strip() for line in lines if line.strip().startswith("File ")]
            return f"{lines[0].split(':')[0]} {places[-1] if places else ''} {lines[-1] if places else lines[0]}"
        return f"crash {Path(inner.filename).name}:{inner.lineno} {type(error).__name__}: {error}"
    return None


def all_cuts() -> Iterator[tuple[Target, bytes]]:
    """Every example of a rule, cut everywhere, again and again."""
    while True:
        for example in examples():
            for text in cuts(example.decode("latin-1")):
                yield BY_NAME["source"], text.encode("latin-1")


def mutants(seed: int, names: Sequence[str], more: Sequence[Path]) -> Iterator[tuple[Target, bytes]]:
    """An endless stream that a seed decides."""
    dice = random.Random(seed)
    chosen = [target for target in TARGETS if not names or target.name in names]
    seeds = {target.name: target.seeds(more) for target in chosen}
    while True:
        (target,) = dice.choices(chosen, [target.share for target in chosen])
        yield target, mutant(seeds[target.name], dice)


class Run:
    """Counts, and findings in a folder."""

    def __init__(self, folder: Path, *, minimise: bool) -> None:
        self.folder, self.minimise = folder, minimise
        self.done = 0
        self.kinds: Counter[str] = Counter()
        folder.mkdir(parents=True, exist_ok=True)

    def keep(self, target: Target, data: bytes, what: str) -> None:
        """Writes an input that fails, the first of its kind as small as it gets."""
        kind = what.split("\n", 1)[0][:160]
        self.kinds[kind] += 1
        if self.kinds[kind] > 3:
            return
        name = f"{target.name}-{hashlib.sha256(data).hexdigest()[:12]}"
        (self.folder / name).write_bytes(data)
        if self.minimise and not what.startswith("died"):
            self._minimise(target, data, self.folder / name, what)
        print(f"{target.name}: {kind}\n  {self.folder / name} ({len(data)} bytes)", flush=True)

    def _minimise(self, target: Target, data: bytes, path: Path, what: str) -> None:
        """In a child as well: a part of an input may do worse than the whole."""
        child = os.fork()
        if not child:
            limits.begin_file()
            path.write_bytes(smaller(data, lambda part: (failure(target, part) or "")[:30] == what[:30], 300))
            os._exit(0)
        os.waitpid(child, 0)

    def round(self, stream: Iterator[tuple[Target, bytes]], until: float) -> None:
        """Some mutants in a child; the one during which it dies is a finding."""
        batch = [next(stream) for _ in range(_ROUND)]
        while batch and time.monotonic() < until:
            receiving, sending = os.pipe()
            child = os.fork()
            if not child:
                os.close(receiving)
                self._child(batch, sending, until)
            os.close(sending)
            with os.fdopen(receiving, "rb") as answers:
                lines = answers.read().decode("utf-8", "replace").splitlines()
            _, status = os.waitpid(child, 0)
            done = sum(line == "." for line in lines)
            self.done += done
            for line in lines:
                if line.startswith("!"):
                    number, _, what = line[1:].partition(" ")
                    self.keep(*batch[int(number)], what)
            if os.WIFSIGNALED(status) or os.WEXITSTATUS(status):
                target, data = batch[done]
                how = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else "an exit"
                self.keep(target, data, f"died {target.name} by {how}")
                self.done += 1
                batch = batch[done + 1 :]
            else:
                return

    def _child(self, batch: Sequence[tuple[Target, bytes]], sending: int, until: float) -> None:
        limits.limit_memory()
        for number, (target, data) in enumerate(batch):
            if time.monotonic() > until:
                break
            limits.begin_file()
            what = failure(target, data)
            limits.end_file()
            if what is not None:
                os.write(sending, f"!{number} {what.splitlines()[0]}\n".encode("utf-8", "replace"))
            os.write(sending, b".\n")
        os._exit(0)


def run(
    seconds: float,
    seed: int,
    names: Sequence[str],
    more: Sequence[Path],
    folder: Path,
    *,
    minimise: bool = True,
    most: int = 1 << 60,
) -> Run:
    """Mutants until the time is over or there were as many as wanted."""
    began = time.monotonic()
    run = Run(folder, minimise=minimise)
    stream = mutants(seed, names, more) if names != ["cuts"] else all_cuts()
    told = began
    while time.monotonic() - began < seconds and run.done < most:
        run.round(stream, began + seconds)
        if time.monotonic() - told > 60:
            told = time.monotonic()
            rate = run.done / (told - began) * 3600
            print(
                f"{run.done} mutants, {rate:.0f} an hour, {len(run.kinds)} kinds of findings",
                file=sys.stderr,
                flush=True,
            )
    return run


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--mutants", type=int, default=1 << 60, help="stop after so many")
    parser.add_argument("--seed", type=int, default=None, help="default: chosen by chance, and told")
    parser.add_argument("--target", action="append", default=[], choices=[*sorted(BY_NAME), "cuts"])
    parser.add_argument("--seeds", action="append", default=[], type=Path, help="folder with more code to begin with")
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings"))
    asked = parser.parse_args()
    seed = random.SystemRandom().randrange(1 << 32) if asked.seed is None else asked.seed
    print(f"seed {seed}", flush=True)
    limits.PROCESSOR_SECONDS = 10.0
    began = time.monotonic()
    done = run(asked.seconds, seed, asked.target, asked.seeds, asked.findings, most=asked.mutants)
    rate = done.done / (time.monotonic() - began) * 3600
    print(f"{done.done} mutants, {rate:.0f} an hour; {sum(done.kinds.values())} fail in {len(done.kinds)} ways")
    for kind, count in done.kinds.most_common():
        print(f"  {count:6} {kind}")
    return 1 if done.kinds else 0


if __name__ == "__main__":
    sys.exit(main())
