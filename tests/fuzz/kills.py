"""`python -m tests.fuzz.kills`: commands killed at any moment, run again, and compared with an undisturbed run."""

from __future__ import annotations

import argparse
import atexit
import contextlib
import hashlib
import importlib
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

from porter.__main__ import main as main_of_porter
from porter.engine.registry import all_rules

ROOT = Path(__file__).resolve().parents[2]
_DATE = re.compile(rb"\d{4}-\d\d-\d\d \d\d:\d\d UTC")
_TOLD = re.compile(
    rb'"(?:seconds|reused|parsed|key|sha256)": "?[\w.]+|\d+ parsed now|; \d+ were up to date|[0-9.]+ s\b'
)
"""What two undisturbed runs say differently."""
_INTERRUPTED = 130
_UNSEEN = (".git/", "making-")


@dataclass(frozen=True)
class Command:
    """What is killed, and what is looked at afterwards."""

    name: str
    arguments: Callable[[Path], list[str]]
    """In a folder with the samples in `src` and their port in `ported`."""
    again: tuple[str, ...] = ()
    """Options that the second try needs."""
    share: int = 1
    says_the_rest: bool = False
    """Whether the second run reports, in words and exit code, only what was left to do: in place, sources are gone."""
    cold: float = 0.0
    """How often it begins with an empty cache, which the killed run leaves as it is."""


COMMANDS = (
    Command("port", lambda at: ["port", f"{at}/src", "-o", f"{at}/out"], share=12, cold=0.1),
    Command("in-place", lambda at: ["port", "--in-place", f"{at}/src"], ("--force",), 12, says_the_rest=True),
    Command("dual", lambda at: ["port", "--style", "dual", f"{at}/src", "-o", f"{at}/out"], share=5),
    Command(
        "check",
        lambda at: ["check", f"{at}/src", "-o", f"json={at}/out.json", "--update-baseline"],
        share=6,
        cold=0.2,
    ),
    Command("report", lambda at: ["report", f"{at}/port.json", "-o", f"{at}/out.html"], share=4),
    Command(
        "history", lambda at: ["report", f"{at}/port.json", "--history", f"{at}/h.jsonl", "-o", f"{at}/h.md"], share=3
    ),
    Command("build", lambda at: ["build", f"{at}/ported", "--format", "json"], share=4, cold=0.3),
    Command("validate", lambda at: ["validate", f"{at}/one", "--format", "json"], share=4, cold=0.2),
    Command("all", lambda at: ["all", f"{at}/one", "-o", f"{at}/all", "--no-try", "--jobs", "1"], share=2, cold=0.1),
    Command(
        "cases", lambda at: ["cases", "init", f"{at}/one/one.cu", "-o", f"{at}/x.case.toml"], ("--force",), share=3
    ),
    Command("programs", lambda at: ["programs", "init", f"{at}/cmake", "--write"], share=2),
    Command("record", lambda at: ["record", "-o", f"{at}/cc.json", "--", "make", "-C", f"{at}/make"], share=2),
)
_KERNEL = """#include <cuda_runtime.h>
__global__ void one(float *out, const float *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + __shfl_xor_sync(0xffffffffu, in[i], 1);
}
void run(float *out, const float *in) { one<<<1, 64>>>(out, in, 64); }
"""


def porter(*arguments: str, cache: Path, told: Path) -> int:
    """A run as a process group of its own; a fork, as starting Python would take longer than what is killed."""
    child = os.fork()
    if child:
        with contextlib.suppress(OSError):  # the child does the same, and one of the two is first
            os.setpgid(child, child)
        return child
    code = 3
    try:
        os.setpgid(0, 0)
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a run in the background would not hear it
        os.environ["PORTER_CACHE_DIR"] = str(cache)
        for number, path in ((0, os.devnull), (1, str(told)), (2, os.devnull)):
            os.dup2(os.open(path, os.O_RDWR | (os.O_CREAT | os.O_TRUNC if number == 1 else 0), 0o600), number)
        sys.argv = ["porter", *arguments]
        main_of_porter()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 0
    except KeyboardInterrupt:  # before there was a command, as Python itself ends then
        code = _INTERRUPTED
    finally:
        sys.stdout.flush()
        atexit._run_exitfuncs()
        os._exit(code)


def _any_left(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def ended(child: int) -> int:
    """Waits for a run."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


_LOADED = (
    *("porter.project.port", "porter.check.gate", "porter.check.formats", "porter.report.gap.write"),
    *(
        "porter.validation.build.run",
        "porter.validation.run.plan",
        "porter.validation.draft.init",
        "porter.whole.steps",
    ),
)
"""What commands load when they begin: a fork has it."""


def prepare(bench: Bench, samples: int) -> None:
    """A few samples in a git repository, their port and its report; a kernel with a case; build files."""
    at = bench.made
    for sample in sorted(path for path in (ROOT / "samples").iterdir() if path.is_dir())[:samples]:
        shutil.copytree(sample, at / "src" / sample.name)
    for name, text in {
        "one/one.cu": _KERNEL,
        "src/own/one.cu": _KERNEL.replace("<cuda_runtime.h>", '"types.cuh"'),
        "src/own/types.cuh": "#include <cuda_runtime.h>\ntypedef cudaStream_t Stream;\n",
        "src/own/two.cu": '#include "types.cuh"\nint two(Stream s) { return cudaStreamSynchronize(s); }\n',
        "src/own/CMakeLists.txt": "enable_language(CUDA)\nadd_library(own one.cu two.cu)\n",
        "src/README": "cudaMalloc\n",
        "cmake/CMakeLists.txt": "add_test(NAME fast COMMAND tests/fast)\n",
        "cmake/porter.toml": 'rocm = "6.3"\n',
        "make/Makefile": "a.o: a.cpp\n\tc++ -c a.cpp\n",
        "make/a.cpp": "int a;\n",
    }.items():
        (at / name).parent.mkdir(parents=True, exist_ok=True)
        (at / name).write_text(text, "utf-8")
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    for words in (("init", "-q"), ("add", "-A"), (*identity, "commit", "-q", "-m", "x")):
        subprocess.run(["git", *words], cwd=at / "src", check=True, capture_output=True)
    words = ("port", str(at / "src"), "-o", str(at / "ported"), "--format", "json")
    ended(porter(*words, cache=bench.cache, told=at / "port.json"))
    case = at / "one" / "one.case.toml"
    ended(porter("cases", "init", str(at / "one/one.cu"), "-o", str(case), cache=bench.cache, told=bench.told))


def state(at: Path, told: Path) -> Mapping[str, str]:
    """All files and what was said, by digest."""
    files = (path for path in sorted(at.rglob("*")) if path.is_file())
    named = [(path.relative_to(at).as_posix(), path) for path in files]
    return {
        name: _digest(path, at)
        for name, path in (*named, ("(said)", told))
        if not any(part in name for part in _UNSEEN)
    }


def _digest(path: Path, at: Path) -> str:
    data = path.read_bytes().replace(os.fsencode(at), b"@")
    return hashlib.sha256(_TOLD.sub(b"", _DATE.sub(b"", data))).hexdigest()


@dataclass(frozen=True)
class Bench:
    """The folders of a session."""

    made: Path
    at: Path
    cache: Path
    told: Path

    def fresh(self) -> None:
        """The beginning."""
        shutil.rmtree(self.at, ignore_errors=True)
        shutil.copytree(self.made, self.at, symlinks=True)

    def start(self, command: Command, *more: str) -> int:
        """The command, in the background."""
        return porter(*command.arguments(self.at), *more, cache=self.cache, told=self.told)

    def undisturbed(self, command: Command) -> tuple[Mapping[str, str], int, float]:
        """State, exit code and seconds of a run that nobody kills, the caches warm."""
        for _ in range(2):
            self.fresh()
            began = time.monotonic()
            code = ended(self.start(command))
            seconds = time.monotonic() - began
        if code not in (0, 1):
            raise SystemExit(f"{command.name}: exit {code} where nobody kills it")
        found = state(self.at, self.told)
        return {**found, "(said)": "of the rest"} if command.says_the_rest else found, code, seconds

    def killed(
        self, command: Command, after: float, how: signal.Signals, known: int
    ) -> tuple[Mapping[str, str], int, bool]:
        """State and exit code after a kill and the same command again; whether there was something left to kill."""
        self.fresh()
        child = self.start(command)
        time.sleep(after)
        hit = os.waitpid(child, os.WNOHANG)[0] == 0
        if hit:
            os.killpg(child, how)
            came = ended(child)
            until = time.monotonic() + 5  # its workers end by themselves
            while _any_left(child) and time.monotonic() < until:
                time.sleep(0.001)
            if how is signal.SIGINT and came not in (_INTERRUPTED, known):
                return {"(code)": f"{came} after Ctrl-C"}, came, True
        code = ended(self.start(command, *(command.again if hit else ())))
        found = state(self.at, self.told)
        if hit and command.says_the_rest:
            return {**found, "(said)": "of the rest"}, known, hit
        return found, code, hit


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.kills", description=__doc__)
    parser.add_argument("--count", type=int, default=50, help="kills that hit something")
    parser.add_argument("--interrupt", action="store_true", help="Ctrl-C, which has to end with exit code 130")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no other one after so long")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--samples", type=int, default=2)
    parser.add_argument("--command", action="append", choices=[command.name for command in COMMANDS], default=[])
    parser.add_argument("--keep", type=Path, help="folder for what came out wrong, and what is right beside it")
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="porter-kills-"))  # a context of tempfile would end in every fork
    try:
        return kill(asked, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def kill(asked: argparse.Namespace, folder: Path) -> int:
    """As many kills as asked for, and how many came out wrong."""
    dice = random.Random(asked.seed)
    for module in _LOADED:
        importlib.import_module(module)
    all_rules()
    chosen = [command for command in COMMANDS if not asked.command or command.name in asked.command]
    wrong, hits = 0, Counter[str]()
    how = signal.SIGINT if asked.interrupt else signal.SIGKILL
    bench = Bench(*(folder / name for name in ("made", "at", "cache", "told")))
    bench.made.mkdir()
    prepare(bench, asked.samples)
    known = {}
    for command in chosen:
        known[command.name] = bench.undisturbed(command)
        print(f"{command.name}: exit {known[command.name][1]}, {known[command.name][2]:.2f} s", flush=True)
        if asked.keep is not None:
            shutil.copytree(bench.at, asked.keep / command.name, symlinks=True)
    until = time.monotonic() + asked.seconds
    while hits.total() < asked.count and time.monotonic() < until:
        (command,) = dice.choices(chosen, [command.share for command in chosen])
        wanted, code, seconds = known[command.name]
        if cold := dice.random() < command.cold:
            shutil.rmtree(bench.cache, ignore_errors=True)
        found, came, hit = bench.killed(command, dice.random() * seconds * (3 if cold else 1), how, code)
        if not hit:  # it had ended already
            continue
        hits[command.name] += 1
        if hits.total() % 25 == 0:
            print(f"{hits.total()} kills, {wrong} wrong", flush=True)
        if (found, came) != (wanted, code):
            wrong += 1
            odd = sorted(name for name in found.keys() | wanted.keys() if found.get(name) != wanted.get(name))
            print(f"{command.name}: exit {came}, was {code}; differs: {odd[:5]}", flush=True)
            if asked.keep is not None:
                shutil.copytree(bench.at, asked.keep / f"{command.name}-{wrong}", symlinks=True)
                shutil.copy(bench.told, asked.keep / f"{command.name}-{wrong}.said")
    print(f"{hits.total()} kills ({', '.join(f'{name} {count}' for name, count in hits.items())}), {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
