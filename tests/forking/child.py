"""Stands for a process that a server forks, where somebody wants one of his own: it hands over what it was given.

`python child.py ADDRESS MODULE [WORDS]`. It imports as little as it can, for that is all that it costs.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys


def main() -> None:
    """Asks for the process, and ends as it does."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.connect(sys.argv[1])
    request: dict[str, object] = {"folder": os.getcwd(), "environment": dict(os.environ)}  # noqa: PTH109
    request |= {"arguments": sys.argv[2:], "owner": os.getppid()}
    socket.send_fds(connection, [json.dumps(request).encode()], [0, 1, 2])
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # but the output stays open: at its end it is known how that came
    connection.recv(20)
    code = int(connection.recv(20) or -signal.SIGKILL)
    if code < 0:
        if -code not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    main()
