"""Where exceptions end: each becomes one line on stderr and an exit code."""

from __future__ import annotations

import contextlib
import errno
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
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Errors of a disk, and not of ours, wherever they come up."""
Parameters = ParamSpec("Parameters")


@contextlib.contextmanager
def at_the_border() -> Iterator[None]:
    """A command's process: any name can be printed, and whatever ends it, children end and temporary files go."""
    _occupy_streams()
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
    except OSError as error:  # of the command line's library, which prints help
        if error.errno not in _FULL:
            raise
        sys.exit(_full(error))


def _occupy_streams() -> None:
    """Where a stream is closed, the next file that is opened would be taken for it, by us and by children."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115


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
            _drop_output()
            complain("the reader of the output went away")
            return UNUSABLE
        except ModuleNotFoundError as error:
            extra = _EXTRAS.get((error.name or "").partition(".")[0])
            if extra is None:
                return _our_bug(error)
            complain(f"this needs the package {error.name}: pip install 'porter[{extra}]'")
            return UNUSABLE
        except Exception as error:
            if isinstance(error, OSError) and error.errno in _FULL:
                return _full(error)
            return _our_bug(error)

    return run


def _full(error: OSError) -> int:
    """What is still to be written goes nowhere: the end of the process would raise the error once more."""
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    _drop_output()
    complain(f"{error.filename or 'the output'}: {error.strerror}")
    return UNUSABLE


def _drop_output() -> None:
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _our_bug(error: Exception) -> int:
    import traceback  # every command starts without it

    report_bug(["".join(traceback.format_exception(error))], f"{type(error).__name__}: {error}")
    return OUR_BUG


def complain(message: str) -> None:
    """One line on stderr."""
    with contextlib.suppress(OSError):  # which may be as full
        print(f"porter: {message}", file=sys.stderr)


def report_bug(tracebacks: Sequence[str], what: str) -> None:
    """Writes tracebacks to a file and names it on stderr."""
    with tempfile.NamedTemporaryFile(
        "w", prefix="porter-crash-", suffix=".txt", dir=lasting_folder(), delete=False, errors="backslashreplace"
    ) as file:
        file.write("\n".join(tracebacks))
    complain(f"bug in porter: {what}; the traceback is in {file.name}")
