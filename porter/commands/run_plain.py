"""`porter run -- PROGRAM`: one program, nothing else asked for."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from porter.commands.border import guarded

if TYPE_CHECKING:
    from porter.validation.programs.launch import Options


@guarded
def run_plain(words: Sequence[str], options: Options | None = None) -> int:
    """Runs it, says on stderr what it did, and gives its exit code."""
    from porter.validation.programs.launch import run_program
    from porter.validation.programs.show import run_text

    done = run_program(words, options)
    sys.stdout.flush()
    sys.stderr.write(run_text(done))
    return done.exit_code
