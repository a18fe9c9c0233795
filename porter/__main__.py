"""The `porter` command, and `python -m porter`."""

from __future__ import annotations

import sys

from porter import __version__
from porter.commands.border import at_the_border


def main() -> None:
    """Entry point of the `porter` command."""
    with at_the_border():
        if sys.argv[1:3] == ["run", "--"] and sys.argv[3:]:
            # A suite starts this many times: reading the command line's library takes longer than a small program.
            from porter.commands.run_plain import run_plain

            sys.exit(run_plain(sys.argv[3:]))
        if sys.argv[1:] == ["--version"]:
            print(f"porter {__version__}")
            return
        from porter.commands.plain import plain_run

        code = plain_run(sys.argv[1:])
        if code is not None:
            sys.exit(code)
        from porter.cli import app

        app()


if __name__ == "__main__":
    main()
