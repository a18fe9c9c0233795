"""Processes of `porter` that begin with its modules read: each request is a fork, and all else is its own."""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import runpy
import socket
import sys
import tempfile
import threading
import traceback
from typing import NoReturn

MOST = 1 << 20
"""Bytes of a request."""
_READ = (
    *("porter.cli", "typer._adapters", "importlib.metadata", "porter.project.port", "porter.report.text"),
    *("porter.check.gate", "porter.cpp.clang.view", "porter.report.document", "porter.report.schemas"),
    *("porter.validation.run.plan", "porter.validation.verdict.report", "porter.validation.build.run"),
    *("porter.validation.build.report", "porter.validation.cluster.validating", "porter.whole.steps"),
)
"""What commands import when they run."""


def _get_ready() -> None:
    """Reads modules and tables, whose content no request changes."""
    for name in _READ:
        with contextlib.suppress(ImportError):  # what is missing the command itself will miss
            importlib.import_module(name)
    from porter.engine.context import knowledge_digest
    from porter.engine.registry import all_rules
    from porter.engine.support import load_support
    from porter.names.table import load_names

    all_rules()
    load_names(None, {})
    load_support(None)
    knowledge_digest()
    gc.freeze()


def main() -> None:
    """Serves requests until nobody can send one; of a child, the run of `porter` that was asked for."""
    _get_ready()
    server = socket.socket(fileno=int(sys.argv[1]))
    while True:
        request, handles, _, _ = socket.recv_fds(server, MOST, 3)
        if not request:
            return
        child = os.fork()
        if child == 0:
            server.close()
            _become(json.loads(request), *handles)
            return
        for handle in handles:
            os.close(handle)
        _, status = os.waitpid(child, 0)
        server.send(str(os.waitstatus_to_exitcode(status)).encode())


def _become(request: dict[str, object], *handles: int) -> None:
    """`python -m porter` in the surroundings of the request, to its end."""
    for number, handle in enumerate(handles):
        os.dup2(handle, number)
    os.chdir(str(request["folder"]))
    environment, arguments = request["environment"], request["arguments"]
    assert isinstance(environment, dict) and isinstance(arguments, list)
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None
    sys.path[0] = os.getcwd()  # noqa: PTH109 - as Python does
    sys.argv = ["porter", *arguments]
    try:
        runpy.run_module("porter", run_name="__main__", alter_sys=True)
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


if __name__ == "__main__":
    main()
