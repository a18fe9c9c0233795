"""Bounds on what a process of ours may use, so that one file or one kernel never takes the machine."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import signal
import sys

PROCESSOR_SECONDS = 14.0
"""For one file."""
WITHOUT_CLANG = 1 / 4
"""Of that time once more, for a file that it was not enough for, without the C++ parser."""
WAITING = 20
"""Times as long by the clock: a file may wait for others on a busy machine, and not for ever on a pipe."""
MEMORY = 4 << 30
"""Bytes of address space for one file, beyond what the process has when it begins."""
_LARGEST_OUTPUT = 4 << 30
_MORE_PROCESSES = 1024
_PR_SET_PDEATHSIG = 1


def limit_memory() -> None:
    """Allocations beyond this fail from now on, in Python as MemoryError."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        wanted = _address_space() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (wanted if hard < 0 else min(wanted, hard), hard))


def limit_worker() -> None:
    """For a process that runs kernels: half of the machine's memory, files of 4 GiB, some hundred processes more."""
    try:
        import resource
    except ImportError:
        return
    own = os.environ.get("PORTER_WORKER_MEMORY")
    memory = int(own) << 20 if own and own.isdigit() else _physical_memory() // 2
    wanted = [(resource.RLIMIT_AS, memory + _address_space()), (resource.RLIMIT_FSIZE, _LARGEST_OUTPUT)]
    if hasattr(resource, "RLIMIT_NPROC"):
        wanted.append((resource.RLIMIT_NPROC, _own_processes() + _MORE_PROCESSES))
    for kind, value in (*wanted, (resource.RLIMIT_CORE, 0)):
        with contextlib.suppress(OSError, ValueError):
            _, hard = resource.getrlimit(kind)
            resource.setrlimit(kind, (value if hard < 0 else min(value, hard), hard))


def _physical_memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _own_processes() -> int:
    """Threads of this user, which is what the limit counts."""
    count = 0
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):  # noqa: PTH208
            with contextlib.suppress(OSError):
                if name.isdigit() and os.stat(f"/proc/{name}").st_uid == os.getuid():  # noqa: PTH116
                    count += len(os.listdir(f"/proc/{name}/task"))  # noqa: PTH208
    return count


def _address_space() -> int:
    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def begin_file(share: float = 1.0) -> None:
    """Has this process ended by a signal once it has used so much processor time, whatever it is in the middle of."""
    seconds = share * PROCESSOR_SECONDS
    if hasattr(signal, "setitimer"):
        _end_by_timers(os.getpid())
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.setitimer(signal.ITIMER_REAL, WAITING * seconds)


@functools.cache
def _end_by_timers(process: int) -> None:
    """Once in a process."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)


def end_file() -> None:
    """The file is done."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)


def is_out_of_time(exit_code: int | None) -> bool:
    """Whether a process ended because `begin_file` said so."""
    return hasattr(signal, "SIGPROF") and exit_code in (-signal.SIGPROF, -signal.SIGALRM)


def die_with(parent: int) -> None:
    """This process is killed when the one that started it ends, however that ends."""
    if not sys.platform.startswith("linux"):
        return
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it was gone before we asked
        os._exit(1)
