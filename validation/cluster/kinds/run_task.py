"""Builds and runs one program on both sides, on the machine that does it."""

from __future__ import annotations

import atexit
import functools
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from porter.validation.cluster.here import here
from porter.validation.programs.agreement import Agreement
from porter.validation.programs.compare import both_sides, compare_one, programs_in
from porter.validation.programs.launch import Options
from porter.validation.run.codec import made, plain

from porter.errors import Unusable


def do(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """What came of a program."""
    source, options = here(payload["source"]), made(Options, payload["options"])
    try:
        program = next(one for one in programs_in(source) if one.name == payload["program"])
        original, port = _sides(source)
    except (StopIteration, Unusable) as error:
        return {"unusable": str(error) or "there is no such program any more", "failed": True}
    compared = compare_one(program, source, original, port, options)
    return {"compared": plain(compared), "failed": compared.agreement is not Agreement.AGREE}


@functools.lru_cache(maxsize=1)
def _sides(source: Path) -> tuple[Path, Path]:
    """Copies to build in, which end with this process."""
    work = Path(tempfile.mkdtemp(prefix="porter-programs-"))
    atexit.register(shutil.rmtree, work, ignore_errors=True)
    return both_sides(source, work)
