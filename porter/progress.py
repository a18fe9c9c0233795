"""Progress on stderr, and only on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from porter.tree import Progress

_SECONDS_BETWEEN = 0.1


@contextmanager
def shown_progress(what: str = "porting") -> Iterator[Progress | None]:
    """A progress bar while files (or cases) are done; None where stderr is not a terminal.

    The bar is drawn when a file is done, never by a thread of its own: worker processes are forked while it shows.
    """
    if not sys.stderr.isatty():
        yield None
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
