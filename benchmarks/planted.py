"""Bugs planted in right ports, by class, and whether `porter validate` rejects them: `python -m benchmarks.planted`.

Every sample, or every folder of `--samples` with one source and one case file, is ported; one place at a time of a
kernel or device function of the port is made wrong, and the sample's
own cases check the result. A mutant that does not compile, or cannot be judged, does not count as rejected. Prints a
table by class, the survivors, and those that do not count.
"""

from __future__ import annotations

import argparse
import collections
import functools
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

SAMPLES = Path(__file__).parents[1] / "samples"
_SKIPPED = {"cublas_curand", "nccl_allreduce", "nvrtc_string", "torch_extension"}
"""No kernels with a case, or none in a file of their own."""
_BODY = re.compile(r"\b__(?:global|device)__\b[^;{}]*\{")
_TRUNCATED = r"__float2half_rz(\1)"
_PORTED = "ported"
_NOT_JUDGED = "not judged"
Change = tuple[str, str]
CLASSES: dict[str, tuple[Change, ...]] = {
    "barrier removed": ((r"__syncthreads\(\);", r";"), (r"(?:block|cta)\.sync\(\);", r";")),
    "warp barrier removed": ((r"porter::\w*syncwarp\([^;()]*\);", r";"),),
    "fence removed": ((r"__threadfence(?:_block)?\(\);", r";"),),
    "32 lanes taken for 64": (
        (r"% (?:32|kWarp\w*)\b", r"% 64"),
        (r"/ (?:32|kWarp\w*)\b", r"/ 64"),
        (r"& 31\b", r"& 63"),
        (r">> 5\b", r">> 6"),
    ),
    "shuffle of the whole wavefront": ((r"porter::shfl_(\w+)_sync\((?:[^,()]|\([^()]*\))*, ", r"__shfl_\1("),),
    "shuffle one lane off": ((r"(porter::shfl_\w+\([^;]*?), (\w+)\)", r"\1, \2 + 1)"),),
    "half of the mask": ((r"0xffffffffu?", r"0xffffu"),),
    "one element too many": ((r"(\bi|\bindex|\bx|\brow|\bcol|\bk) < (\w+)", r"\1 <= \2"),),
    "one element short": ((r"(\bi|\bindex|\bx|\brow|\bcol|\bk) < (\w+)", r"\1 + 1 < \2"),),
    "atomic made plain": ((r"atomicAdd\(&?([^,;]+), ([^;]+)\);", r"*(&(\1)) += \2;"),),
    "scope narrowed": (
        (
            r"atomicAdd\(([^,;]+), ([^;]+)\)",
            r"__hip_atomic_fetch_add(\1, \2, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP)",
        ),
    ),
    "sign or operator": ((r" \+= ", r" -= "), (r" \* ", r" + "), (r"fmaxf\(", r"fminf("), (r" \+ ", r" - ")),
    "start value": ((r"= 0\.0f;", r"= 1.0f;"), (r"= 0;", r"= 1;"), (r"= 0u;", r"= 1u;")),
    "wrong axis": ((r"threadIdx\.x", r"threadIdx.y"), (r"blockIdx\.y", r"blockIdx.x")),
    "stride": ((r"\+= blockDim\.x", r"+= (blockDim.x + 1)"), (r"\+= 32\b", r"+= 64"), (r">>= 1", r">>= 2")),
    "accuracy": ((r"\bdouble\b", r"float"), (r"(expf|rsqrtf|sqrtf|logf)\(", r"\1(1.0005f * "), (r"1e-5f", r"1e-3f")),
    "half truncated": ((r"__float2half(?:_rn)?\(([^;]+?)\);", _TRUNCATED + ";"),),
    "result not stored": ((r"(\bout|\boutput|\by|\bdst)\[([^\]]+)\] = ", r"if (threadIdx.x != 5) \1[\2] = "),),
    "shared index": (
        (
            r"(?<!float )(?<!int )(?<!unsigned )(?<!double )(\bshared|\btile|\bpartial|\bscratch|\bs)\[(\w+)\]",
            r"\1[\2 ^ 1]",
        ),
    ),
}


@dataclass(frozen=True)
class Mutant:
    """A port with one place made wrong."""

    sample: Path
    file: str
    name: str
    line: int
    before: str
    after: str
    text: str


def bodies(text: str) -> Iterator[tuple[int, int]]:
    """Where functions for the device are."""
    for match in _BODY.finditer(text):
        depth, at = 1, match.end()
        while depth and at < len(text):
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
        yield match.end(), at


def mutants(sample: Path, file: str, text: str, chosen: random.Random, most: int) -> Iterator[Mutant]:
    """At most so many of each class."""
    spans = list(bodies(text))
    for name, changes in CLASSES.items():
        found = []
        for pattern, replacement in changes:
            for match in re.finditer(pattern, text):
                if any(a <= match.start() and match.end() <= b for a, b in spans):
                    found.append((match.start(), match.end(), match.expand(replacement)))
        for start, end, new in chosen.sample(found, min(most, len(found))):
            line = text.count("\n", 0, start) + 1
            changed = text[:start] + new + text[end:]
            lines = text.splitlines()[line - 1].strip(), changed.splitlines()[line - 1].strip()
            yield Mutant(sample, file, name, line, *lines, changed)


def planted(samples: Path, folder: Path, chosen: random.Random, most: int) -> list[Mutant]:
    """The mutants of all samples."""
    made: list[Mutant] = []
    for sample in sorted(p for p in samples.iterdir() if p.is_dir() and p.name not in _SKIPPED):
        port = folder / sample.name
        done = porter("port", str(sample), "-o", str(port))
        if done.returncode not in (0, 1) or not port.is_dir():  # 1: work is left
            raise SystemExit(f"{sample} is not ported: {done.stderr.strip()[-300:]}")
        for file in sorted(port.glob("*.hip")):
            made += mutants(sample, file.name, file.read_text("utf-8"), chosen, most)
    return made


def porter(*words: str) -> subprocess.CompletedProcess[str]:
    """One command."""
    command = (sys.executable, "-m", "porter", *words)
    return subprocess.run(command, capture_output=True, text=True, check=False)


def statuses(sample: Path, ports: Path, file: str, text: str) -> dict[str, str] | str:
    """What becomes of each case of a sample with this text in one file of its port; or why nothing does."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "sample"
        shutil.copytree(sample, root)
        # in a folder of its own: a header of the original's name is another one there
        shutil.copytree(ports / sample.name, root / _PORTED, ignore=shutil.ignore_patterns("*.case.toml"))
        (root / _PORTED / file).write_text(text, "utf-8")
        for case in root.glob("*.case.toml"):
            said = case.read_text("utf-8")
            at = said.index("\n#" if "\n#" in said[: said.index("[[case]]")] else "\n[[case]]")
            case.write_text(f'{said[:at]}\nport = "{_PORTED}/{file}"\n{said[at:]}', "utf-8")
        done = porter("validate", str(root), "--jobs", "1", "--format", "json")
        try:
            return {case["name"]: case["status"] for case in json.loads(done.stdout)["cases"]}
        except (ValueError, KeyError):
            return f"{_NOT_JUDGED}: {done.stderr.strip()[:100]}"


@functools.cache
def sound(sample: Path, ports: Path, file: str) -> frozenset[str]:
    """The cases that pass with the port as it is."""
    found = statuses(sample, ports, file, (ports / sample.name / file).read_text("utf-8"))
    return frozenset() if isinstance(found, str) else frozenset(n for n, s in found.items() if s == "passed")


def verdict(mutant: Mutant, ports: Path) -> str:
    """`passed`, or why the worst of the sample's cases did not."""
    fine = sound(mutant.sample, ports, mutant.file)
    if not fine:
        return "not-run"
    found = statuses(mutant.sample, ports, mutant.file, mutant.text)
    if isinstance(found, str):
        return found
    counted = collections.Counter(status for name, status in found.items() if name in fine)
    wrong = [status for status in counted if status not in ("passed", "not-run")]
    if "build-failed" in counted:
        return "build-failed"
    return wrong[0] if wrong else "passed" if counted["passed"] else "not-run"


def main(judge: Callable[[Mutant, Path], str] = verdict) -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=Path, default=SAMPLES, help="folders with a source and its cases")
    parser.add_argument("--most", type=int, default=1, help="of each class in each file")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=int, default=10**6)
    parser.add_argument("--first", type=int, default=0, help="leave out so many of them: a long run in parts")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    chosen = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        made = planted(options.samples, Path(folder), chosen, options.most)
        chosen.shuffle(made)
        made = made[: options.limit][options.first :]
        found = []
        for status in pool.map(lambda mutant: judge(mutant, Path(folder)), made):
            found.append(status)
            print(f"{len(found)} of {len(made)}: {made[len(found) - 1].name}: {status}", file=sys.stderr, flush=True)
    print(table(list(zip(made, found, strict=True))))


def table(found: Sequence[tuple[Mutant, str]]) -> str:
    """How many of each class are rejected, and those that pass, do not compile or were not judged, by name."""
    rows = [(mutant, status) for mutant, status in found if is_judged(status)]
    lines = []
    for name in CLASSES:
        mine = [status for mutant, status in rows if mutant.name == name]
        lines.append(f"{name}: {sum(status != 'passed' for status in mine)} of {len(mine)} rejected")
    lines.append(f"together: {sum(status != 'passed' for _, status in rows)} of {len(rows)} rejected")
    failed = sum(status == "build-failed" for _, status in found)
    left = len(found) - len(rows) - failed
    lines.append(f"of {len(found)} mutants, {failed} do not compile and {left} were not judged")
    for mutant, status in found:
        if status == "passed" or not is_judged(status):
            lines.append(f"{mutant.sample.name}/{mutant.file}:{mutant.line}: {mutant.name}, {status}:")
            lines.append(f"  - {mutant.before}\n  + {mutant.after}")
    return "\n".join(lines)


def is_judged(status: str) -> bool:
    """Whether a mutant compiled, ran and was compared."""
    return status not in ("build-failed", "not-run") and not status.startswith(_NOT_JUDGED)


if __name__ == "__main__":
    main()
