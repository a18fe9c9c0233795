"""The helper behind a drop-in library: takes modules and kernels that are not in the cache yet, and puts them there.

Started by the library (module.c) with a folder and a side; reads requests from stdin, one a line, the words with tabs
between, and answers those that are waited for with `ok` or the reason why not:

    module KEY              the file `blob` in the folder KEY holds the module: write `module` and `data`
    kernel KEY NAME POISON  translate it, with the code that is made the fastest, as the program waits for it
    better KEY NAME LEVEL   the same, optimised; nobody waits, so there is no answer
    rtc KEY                 the file `request` holds a source: compile it, as NVRTC or hiprtc
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import threading
import traceback
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from porter.validation.devices.core.hostcc import HostCompiler, find_host_compiler
from porter.validation.programs.loaded import Loaded, Refused, digest, load, sealed
from porter.validation.programs.runtime_compiler import NotCompiled, asked, compiled
from porter.validation.programs.sides import SIDES, Side
from porter.validation.toolchain.result import Missing

from porter.system.cache import publish
from porter.system.reading import read_regular

_AHEAD = 16
"""Modules with at most so many kernels are translated whole, ahead of the launches."""


class Helper:
    """Modules at hand, and the kernels that are being translated."""

    def __init__(self, folder: Path, side: Side, compiler: HostCompiler) -> None:
        self._folder, self._side, self._compiler = folder, side, compiler
        self._modules: dict[str, Loaded] = {}
        self._kernels: dict[tuple[str, str, bool], Future[None]] = {}
        self._pool = ThreadPoolExecutor(os.cpu_count())
        self._behind = ThreadPoolExecutor(1)
        self._lock = threading.Lock()

    def answer(self, line: str) -> str | None:
        """The answer to one request; None where nobody waits."""
        what, key, *rest = line.split("\t")
        try:
            if what == "module":
                self._module(key).write()
                self._ahead(key)
            elif what == "rtc":
                self._compile(key)
            elif what == "kernel":
                self._kernel(key, rest[0], rest[1] == "1").result()
            else:
                module, name = self._module(key), rest[0]
                self._behind.submit(module.write_kernel, name, False, int(rest[1]))
                return None
        except NotCompiled as error:
            return str(error).replace("\n", "\v") or "the compiler said nothing"
        except Refused as error:
            return " ".join(str(error).split()) or "no reason given"
        return "ok"

    def _compile(self, key: str) -> None:
        folder = self._folder / key
        made = compiled(self._side, self._compiler, asked(read_regular(folder / "request")))
        names = "".join(f"{name}\n" for name in made.names).encode()
        files = {"code": made.code, "log": made.log.encode(), "names": names}
        for name, content in files.items():
            publish(folder / name, content)
        publish(folder / "made", sealed([f"{name}\t{digest(content)}" for name, content in files.items()]))

    def _module(self, key: str) -> Loaded:
        with self._lock:
            if key not in self._modules:
                self._modules[key] = load(self._side, self._folder / key, self._compiler)
            return self._modules[key]

    def _kernel(self, key: str, name: str, poison: bool) -> Future[None]:
        wanted = (key, name, poison)
        if wanted not in self._kernels:
            module = self._module(key)
            self._kernels[wanted] = self._pool.submit(module.write_kernel, name, poison, 0)
        return self._kernels[wanted]

    def _ahead(self, key: str) -> None:
        kernels = self._module(key).kernels
        if len(kernels) <= _AHEAD and os.environ.get("PORTER_RUN_UNINITIALISED", "0") == "0":
            for name in kernels:
                self._kernel(key, name, False)


def _own_limit() -> None:
    """The program's limit of processor time is not that of its translation: up to the hard one, with time to say so."""
    most = resource.getrlimit(resource.RLIMIT_CPU)[1]
    if most != resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_CPU, (max(most - 5, 1), most))


def main() -> None:
    """Serve until the program is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the program decides
    os.setpgid(0, 0)  # so that compilers can be ended with it
    _own_limit()
    folder, side = Path(sys.argv[1]), SIDES[sys.argv[2]]
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    compiler = find_host_compiler()
    helper = compiler if isinstance(compiler, Missing) else Helper(folder, side, compiler)
    for line in sys.stdin:
        try:
            reply = helper.reason if isinstance(helper, Missing) else helper.answer(line.rstrip("\n"))
        except Exception as error:  # the program has to hear of it
            traceback.print_exc()
            reply = f"bug in porter: {type(error).__name__}: {' '.join(str(error).split())}"
        if reply is not None:
            answers.write(reply[:8000] + "\n")
            answers.flush()
    sys.stdout.flush()
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
