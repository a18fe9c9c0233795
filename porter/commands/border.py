"""Where exceptions end: each becomes one line on stderr and an exit code."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import ParamSpec

from porter.errors import Interrupted, Unusable
from porter.system.scratch import lasting_folder, own_temporary_folder

DONE, WORK_LEFT, UNUSABLE, OUR_BUG, INTERRUPTED = 0, 1, 2, 3, 130
_EXTRAS = {
    **dict.fromkeys(("numpy", "torch", "pybind11", "elftools", "zstandard"), "validation"),
    "vl_convert": "report",
    "mcp": "mcp",
    **dict.fromkeys(("pygls", "lsprotocol"), "lsp"),
    "triton": "triton",
    **dict.fromkeys(("distributed", "dask"), "cluster"),
}
"""Packages that a plain installation lacks, and the extra that brings them."""
Parameters = ParamSpec("Parameters")


@contextlib.contextmanager
def at_the_border() -> Iterator[None]:
    """A command's process: any name can be printed, and whatever ends it, children end and temporary files go."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with own_temporary_folder():
            yield
    except KeyboardInterrupt:  # before a command began
        complain("interrupted")
        sys.exit(INTERRUPTED)


def guarded(command: Callable[Parameters, int]) -> Callable[Parameters, int]:
    """A command that never raises: what it returns, or the code of what went wrong."""

    @functools.wraps(command)
    def run(*args: Parameters.args, **kwargs: Parameters.kwargs) -> int:
        try:
            code = command(*args, **kwargs)
            sys.stdout.flush()
            return code
        except Unusable as error:
            complain(str(error))
            return UNUSABLE
        except Interrupted as error:
            complain(str(error))
            return INTERRUPTED
        except KeyboardInterrupt:
            complain("interrupted")
            return INTERRUPTED
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            complain("the reader of the output went away")
            return UNUSABLE
        except ModuleNotFoundError as error:
            extra = _EXTRAS.get((error.name or "").partition(".")[0])
            if extra is None:
                return _our_bug(error)
            complain(f"this needs the package {error.name}: pip install 'porter[{extra}]'")
            return UNUSABLE
        except Exception as error:
            return _our_bug(error)

    return run


def _our_bug(error: Exception) -> int:
    import traceback  # every command starts without it

    report_bug(["".join(traceback.format_exception(error))], f"{type(error).__name__}: {error}")
    return OUR_BUG


def complain(message: str) -> None:
    """One line on stderr."""
    print(f"porter: {message}", file=sys.stderr)


def report_bug(tracebacks: Sequence[str], what: str) -> None:
    """Writes tracebacks to a file and names it on stderr."""
    with tempfile.NamedTemporaryFile(
        "w", prefix="porter-crash-", suffix=".txt", dir=lasting_folder(), delete=False, errors="backslashreplace"
    ) as file:
        file.write("\n".join(tracebacks))
    complain(f"bug in porter: {what}; the traceback is in {file.name}")
