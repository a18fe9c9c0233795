"""Processes of `porter` that begin with its modules read: each request is a fork, and all else is its own."""

from __future__ import annotations

import gc
import json
import os
import runpy
import socket
import sys
import tempfile

MOST = 1 << 20
"""Bytes of a request."""


def main() -> None:
    """Serves requests until nobody can send one; of a child, the run of `porter` that was asked for."""
    import porter.cli
    import porter.project.pool  # noqa: F401 - what nearly all commands import
    from porter.engine.registry import all_rules

    all_rules()
    gc.freeze()
    server = socket.socket(fileno=int(sys.argv[1]))
    while True:
        request, handles, _, _ = socket.recv_fds(server, MOST, 2)
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


def _become(request: dict[str, object], stdout: int, stderr: int) -> None:
    """`python -m porter` in the surroundings of the request, to its end."""
    os.dup2(stdout, 1)
    os.dup2(stderr, 2)
    os.chdir(str(request["folder"]))
    environment, arguments = request["environment"], request["arguments"]
    assert isinstance(environment, dict) and isinstance(arguments, list)
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None
    sys.path[0] = os.getcwd()  # noqa: PTH109 - as Python does
    sys.argv = ["porter", *arguments]
    runpy.run_module("porter", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
