"""Progress on stderr: a bar on a terminal; elsewhere a line every ten seconds, and none for what is done before."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from porter.project.port_tree import Progress
from porter.system.quiet import is_quiet

_SECONDS_BETWEEN = 0.1
_SECONDS_BETWEEN_LINES = 10.0


@contextmanager
def shown_progress(what: str = "porting") -> Iterator[Progress | None]:
    """A progress bar while files (or cases) are done; where stderr is no terminal, a line now and then.

    The bar is drawn when a file is done, never by a thread of its own: worker processes are forked while it shows.
    """
    if is_quiet():
        yield None
        return
    if not sys.stderr.isatty():
        yield _lines(what)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True), auto_refresh=False, transient=True) as bar:
        task = bar.add_task(what, total=None)
        last = 0.0

        def advance(done: int, total: int) -> None:
            nonlocal last
            if done == total or time.monotonic() - last > _SECONDS_BETWEEN:
                last = time.monotonic()
                bar.update(task, completed=done, total=total, refresh=True)

        yield advance


def _lines(what: str) -> Progress:
    began = last = time.monotonic()

    def advance(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _SECONDS_BETWEEN_LINES:
            last = now
            print(f"{what}: {done:,} of {total:,}, {now - began:.0f} s", file=sys.stderr, flush=True)

    return advance
