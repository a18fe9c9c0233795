"""Has read what a kind of processes imports, and forks for whoever asks, until the run of the tests is over.

`python -m tests.forking.server KIND LISTENING-SOCKET RUN`: the last is the process that runs the tests.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import runpy
import selectors
import signal
import socket
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable
from typing import NoReturn

from porter.validation.devices.presence import find_gpu
from porter.validation.toolchain import programs
from porter.validation.toolchain.hipcc import find_hipcc

from tests.forking.children import use_forks

MOST = 1 << 20
"""Bytes of a request."""
_READ = {
    "porter": (
        *("porter.cli", "typer._adapters", "importlib.metadata", "porter.project.port", "porter.report.text"),
        *("porter.check.gate", "porter.cpp.clang.view", "porter.report.document", "porter.report.schemas"),
        *("porter.validation.run.plan", "porter.validation.verdict.report", "porter.validation.build.run"),
        *("porter.validation.build.report", "porter.validation.cluster.validating", "porter.whole.steps"),
    ),
    "children": (
        *("porter.validation.run.worker", "porter.validation.cluster.hand", "porter.validation.cluster.kinds.probe"),
        *("porter.validation.devices.virtual", "porter.validation.toolchain.clang"),
    ),
    "workers": ("tests.cluster.worker",),
}
"""What processes of a kind import when they run."""
_READ_LATER = {"children": ("torch",)}
_MANY = 4
"""Processes after which it pays to read what some of them import, which takes seconds."""


def _get_ready(kind: str) -> None:
    """Reads modules, and tables whose content no request changes."""
    _read(_READ[kind])
    if kind == "porter":
        from porter.engine.context import knowledge_digest
        from porter.engine.registry import all_rules
        from porter.engine.support import load_support
        from porter.names.table import load_names

        all_rules()
        load_names(None, {})
        load_support(None)
        knowledge_digest()
    if kind != "workers":
        _ask_tools()
    gc.freeze()


_DECIDE = ("PATH", "LD_", "HIP", "ROC", "HSA", "CUDA", "PORTER_HIPCC")
"""Beginnings of variables that decide what these say."""


def _ask_tools() -> None:
    """What processes would ask anew: a hipcc that is a script, and the runtimes for GPUs."""
    find_hipcc()
    for api in ("cuda", "hip"):
        find_gpu(api)


def _forget_tools(environment: dict[str, str]) -> None:
    """Where they may say something else."""
    names = {name for name in (*environment, *os.environ) if name.startswith(_DECIDE)}
    if any(environment.get(name) != os.environ.get(name) for name in names):
        programs._examine.cache_clear()
        find_gpu.cache_clear()


def _read(names: tuple[str, ...]) -> None:
    for name in names:
        with contextlib.suppress(ImportError):  # what is missing the process itself will miss
            importlib.import_module(name)


class Server:
    """Connections, each for one process that was asked for, or for none yet."""

    def __init__(self, kind: str, listener: socket.socket, run: int) -> None:
        self.kind, self.listener, self.run = kind, listener, run
        self.forked = 0
        self.processes: dict[socket.socket, int | None] = {}
        self.owners: dict[int, int] = {}
        """Processes by the handle of the one without which they end."""
        self.ended, ending = os.pipe()
        for handle in (self.ended, ending):
            os.set_blocking(handle, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(ending)
        self.selector = selectors.DefaultSelector()
        self.selector.register(listener, selectors.EVENT_READ)
        self.selector.register(self.ended, selectors.EVENT_READ)

    def serve(self) -> Callable[[], NoReturn] | None:
        """In each process that was forked: what it shall do; None at the end of the tests."""
        while self.processes or not self._is_over():
            for key, _ in self.selector.select(1.0):
                if key.fileobj is self.listener:
                    connection, _ = self.listener.accept()
                    self.processes[connection] = None
                    self.selector.register(connection, selectors.EVENT_READ)
                elif key.fileobj == self.ended:
                    self._bury()
                elif isinstance(key.fileobj, int):
                    self._end_with(key.fileobj)
                elif isinstance(key.fileobj, socket.socket) and (found := self._hear(key.fileobj)) is not None:
                    return found
        return None

    def _is_over(self) -> bool:
        try:
            os.kill(self.run, 0)
        except ProcessLookupError:
            return True
        return False

    def _bury(self) -> None:
        """Tells how processes ended."""
        with contextlib.suppress(BlockingIOError):
            os.read(self.ended, 4096)
        with contextlib.suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                for owner in [owner for owner, process in self.owners.items() if process == found[0]]:
                    self._forget(owner)
                connection = next((one for one, process in self.processes.items() if process == found[0]), None)
                if connection is not None:
                    self.processes[connection] = None
                    with contextlib.suppress(OSError):
                        connection.send(str(os.waitstatus_to_exitcode(found[1])).encode())

    def _hear(self, connection: socket.socket) -> Callable[[], NoReturn] | None:
        """A request, or the end of whoever made one, which is that of the process as well."""
        try:
            request, handles, _, _ = socket.recv_fds(connection, MOST, 3)
        except OSError:
            request, handles = b"", []
        if not request:
            self.selector.unregister(connection)
            connection.close()
            _kill(self.processes.pop(connection))
            return None
        self.forked += 1
        if self.forked == _MANY:
            _read(_READ_LATER.get(self.kind, ()))
            gc.freeze()
        process = os.fork()
        if process == 0:
            self._leave()
            return lambda: _become(self.kind, json.loads(request), handles)
        with contextlib.suppress(OSError):
            os.setpgid(process, process)  # as it does itself: whoever is told of it may end its group
        self.processes[connection] = process
        for handle in handles:
            os.close(handle)
        self._watch(json.loads(request)["owner"], process)
        with contextlib.suppress(OSError):
            connection.send(str(process).encode())
        return None

    def _watch(self, owner: int, process: int) -> None:
        try:
            handle = os.pidfd_open(owner)
        except ProcessLookupError:
            _kill(process)
            return
        self.owners[handle] = process
        self.selector.register(handle, selectors.EVENT_READ)

    def _end_with(self, owner: int) -> None:
        _kill(self.owners[owner])
        self._forget(owner)

    def _forget(self, owner: int) -> None:
        del self.owners[owner]
        self.selector.unregister(owner)
        os.close(owner)

    def _leave(self) -> None:
        """A process that was forked has nothing of the server's."""
        os.setpgid(0, 0)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self.selector.close()
        for connection in (self.listener, *self.processes):
            connection.close()
        for handle in (self.ended, *self.owners):
            os.close(handle)


def _kill(process: int | None) -> None:
    """With all that it started."""
    for kill in (os.killpg, os.kill) if process is not None else ():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(process, signal.SIGKILL)  # type: ignore[arg-type]


def _become(kind: str, request: dict[str, object], handles: list[int]) -> NoReturn:
    """A module as the program, in the surroundings of the request, to its end."""
    for number, handle in enumerate(handles):
        os.dup2(handle, number)
        os.close(handle)
    folder, environment, arguments = request["folder"], request["environment"], request["arguments"]
    assert isinstance(folder, str) and isinstance(environment, dict) and isinstance(arguments, list)
    os.chdir(folder)
    _forget_tools(environment)
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None
    module, *sys.argv[1:] = arguments
    sys.argv[0] = module
    if kind == "porter":
        sys.path[0] = os.getcwd()  # noqa: PTH109 - as Python does
    elif kind == "children":
        sys.path[:] = [*sys.path[1:], os.getcwd()]  # noqa: PTH109 - as their own start does
    use_forks()
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
        code = 1
    else:
        code = 0
    if isinstance(code, str):
        print(code, file=sys.stderr)
    _end(code if isinstance(code, int) else 1 if code else 0)


def _end(code: int) -> NoReturn:
    """All that is left to do at an end, but for taking modules apart, which is half of a short command."""
    threading._shutdown()
    atexit._run_exitfuncs()
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def main() -> None:
    """Serves to the end of the tests."""
    kind, handle, run = sys.argv[1:]
    with socket.socket(fileno=int(handle)) as listener:
        at = listener.getsockname()
        _get_ready(kind)
        become = Server(kind, listener, int(run)).serve()
    if become is not None:
        become()
    with contextlib.suppress(OSError):
        os.unlink(at)  # noqa: PTH108


if __name__ == "__main__":
    main()
