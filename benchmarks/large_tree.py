"""A tree of any size made of public ones, and what `porter port` and `check` cost on it: processor time, memory.

    python -m benchmarks.large_tree make DEST --files 10000 --from GIT_FOLDER...
    python -m benchmarks.large_tree measure DEST --work FOLDER [--jobs N]

`make` takes code from the HEAD of bare repositories, about a hundred lines per file on average; where they have too few
files, further copies differ in a comment at their end. `measure` ports, ports again, changes ten files, and checks.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

_CODE = (".cu", ".cuh", ".h", ".hh", ".hpp", ".cpp", ".cc", ".c", ".inl", ".hxx", ".cxx")
_CHANGED = 10


@dataclass(frozen=True)
class Blob:
    """A file of a repository."""

    repository: Path
    path: str
    digest: str


def blobs(repositories: Sequence[Path]) -> list[Blob]:
    """The code of all repositories, in an order that mixes them and is always the same."""
    found: list[Blob] = []
    for repository in repositories:
        listed = _git(repository, "ls-tree", "-r", "-z", "HEAD").decode("utf-8", "surrogateescape")
        for row in filter(None, listed.split("\0")):
            head, _, path = row.partition("\t")
            mode, kind, digest = head.split()
            if kind == "blob" and mode.startswith("100") and path.endswith(_CODE):
                found.append(Blob(repository, path, digest))
    return sorted(found, key=lambda blob: hashlib.sha256(f"{blob.digest}{blob.path}".encode(errors="replace")).digest())


def _git(repository: Path, *words: str) -> bytes:
    return subprocess.run(["git", "--git-dir", str(repository), *words], check=True, capture_output=True).stdout


class Reader:
    """Contents of blobs, through one process per repository."""

    def __init__(self) -> None:
        self._open: dict[Path, subprocess.Popen[bytes]] = {}

    def read(self, blob: Blob) -> bytes:
        """The bytes of one; none where the repository was fetched without it."""
        process = self._open.get(blob.repository)
        if process is None:
            words = ["git", "--git-dir", str(blob.repository), "cat-file", "--batch"]
            process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            self._open[blob.repository] = process
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(blob.digest.encode() + b"\n")
        process.stdin.flush()
        size = process.stdout.readline().split()[-1]
        if size == b"missing":
            return b""
        data = process.stdout.read(int(size) + 1)
        return data[:-1]

    def close(self) -> None:
        """Ends the processes."""
        for process in self._open.values():
            assert process.stdin is not None
            process.stdin.close()
            process.wait()


def make(destination: Path, files: int, repositories: Sequence[Path], lines_per_file: int = 100) -> tuple[int, int]:
    """Writes the tree; files and lines written. Long files are passed over while the average is above the wanted."""
    known, reader = blobs(repositories), Reader()
    written = lines = 0
    for copy in itertools.count():
        before = written
        for blob in known:
            if written == files:
                break
            data = reader.read(blob)
            count = data.count(b"\n")
            if not data or lines + count > (written + 200) * lines_per_file or b"\0" in data:
                continue
            mark = f"// copy {copy}\n".encode() if copy else b""
            name = blob.repository.parent.name if blob.repository.name == "repo" else blob.repository.name
            place = destination / f"copy{copy}" / name / blob.path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data + (b"" if data.endswith(b"\n") or not mark else b"\n") + mark)
            written, lines = written + 1, lines + count + bool(copy)
        if written in (files, before):
            break
    reader.close()
    return written, lines


@dataclass(frozen=True)
class Cost:
    """What a command took, with all its processes."""

    what: str
    code: int
    processor_seconds: float
    seconds: float
    client_mib: float
    all_mib: float
    """The most that all of its processes had at a time, shared pages counted once per process."""


def measured(what: str, words: Sequence[str], folder: Path) -> Cost:
    """Runs a command with an eye on it."""
    began = time.monotonic()
    before = os.times()
    with (folder / f"{what}.log").open("wb") as log:
        process = subprocess.Popen(words, stdout=log, stderr=subprocess.STDOUT, cwd=folder)
        most = [0.0, 0.0]
        ended = threading.Event()
        watcher = threading.Thread(target=_watch, args=(process.pid, most, ended))
        watcher.start()
        code = process.wait()
        ended.set()
        watcher.join()
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return Cost(what, code, used, time.monotonic() - began, *most)


def _watch(pid: int, most: list[float], ended: threading.Event) -> None:
    while not ended.wait(0.5):
        sizes = {one: _proportional(one) for one in _family(pid)}
        most[0] = max(most[0], sizes.get(pid, 0.0))
        most[1] = max(most[1], sum(sizes.values()))


def _family(pid: int) -> Iterator[int]:
    yield pid
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from _family(int(child))
    except OSError:
        return


def _proportional(pid: int) -> float:
    """MiB of a process, what it shares divided by those that share it."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return 0.0


def measure(tree: Path, work: Path, jobs: int) -> Iterator[Cost]:
    """Port, port again, change a few files and port again; then the gate, cold and since a commit."""
    porter = [sys.executable, "-m", "porter"]
    work.mkdir(parents=True, exist_ok=True)
    out = work / "port"
    shutil.rmtree(out, ignore_errors=True)
    os.environ["PORTER_CACHE_DIR"] = str(work / "cache")
    port = [*porter, "port", str(tree), "-o", str(out), "-j", str(jobs)]
    yield measured("port", port, work)
    yield measured("port-again", port, work)
    git = ["git", "-C", str(tree), "-c", "user.name=x", "-c", "user.email=x@x", "-c", "gc.auto=0"]
    if not (tree / ".git").exists():
        subprocess.run([*git, "init", "-q"], check=True)
        subprocess.run([*git, "add", "-Af"], check=True)
        subprocess.run([*git, "commit", "-qm", "all"], check=True)
    changed = [path for path in sorted(tree.rglob("*.cu")) if path.is_file()][:: max(1, 10_000 // 7)][:_CHANGED]
    stamp = f"// {time.time_ns()}\n__global__ void porter_added(int* p) {{ p[0] = __ballot(1); }}\n".encode()
    for path in changed:
        path.write_bytes(path.read_bytes() + stamp)
    yield measured("port-ten-changed", port, work)
    check = [*porter, "check", str(tree), "--since", "HEAD", "-j", str(jobs)]
    yield measured("check-since-cold", check, work)
    yield measured("check-since-warm", check, work)
    subprocess.run([*git, "checkout", "-q", "--", "."], check=True)


def main() -> None:
    """Makes or measures; prints a line of JSON per step."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = parser.add_subparsers(dest="step", required=True)
    making = steps.add_parser("make")
    making.add_argument("tree", type=Path)
    making.add_argument("--files", type=int, default=10_000)
    making.add_argument("--from", dest="repositories", type=Path, nargs="+", required=True)
    measuring = steps.add_parser("measure")
    measuring.add_argument("tree", type=Path)
    measuring.add_argument("--work", type=Path, required=True)
    measuring.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    if given.step == "make":
        files, lines = make(given.tree, given.files, given.repositories)
        print(f"{files} files, {lines} lines")
        return
    for cost in measure(given.tree.absolute(), given.work.absolute(), given.jobs):
        print(json.dumps(asdict(cost)), flush=True)


if __name__ == "__main__":
    main()
