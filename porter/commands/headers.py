"""`porter headers`: options and exit codes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from porter.commands.border import DONE, guarded
from porter.commands.quietly import Quiet
from porter.commands.said import next_step, say


def headers_command(
    wheel: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The wheel itself, for machines that reach no package index."),
    ] = None,
    cuda: Annotated[
        bool, typer.Option("--cuda", help="Those of cuBLAS, cuFFT, cuRAND, cuSPARSE, cuSOLVER and NCCL instead.")
    ] = False,
    suite: Annotated[
        str,
        typer.Option(metavar="NAME", help="Newer ones beside these, from a suite of Debian or Ubuntu, such as `sid`."),
    ] = "",
    quiet: Quiet = False,
) -> None:
    """Fetch the headers of HIP and of ROCm's libraries (5 MB), to build ports without a ROCm; or CUDA's (10 MB)."""

    @guarded
    def run() -> int:
        from porter.validation.toolchain.headers import NEWER
        from porter.validation.toolchain.rocm_headers import LIBRARIES, PUBLISHED, fetch

        if cuda:
            return _cuda(wheel)
        folder = fetch(wheel)
        print(f"ROCm {PUBLISHED.release}, from {PUBLISHED.requirement}: {folder}")
        print(", ".join(LIBRARIES))
        if suite:
            _newer(suite)
        else:
            say(NEWER)
        next_step("porter", "build", "PORT", why="uses them by itself")
        return DONE

    raise typer.Exit(run())


def _newer(suite: str) -> None:
    from porter.validation.toolchain.debian_headers import fetch_newer

    folder = fetch_newer(suite)
    print(f"ROCm {folder.parent.name}, from the packages of {suite}: {folder}")
    print("What they lack is linked from those above. The newest are used; --rocm-headers names others.")


def _cuda(wheel: Path | None) -> int:
    from porter.errors import Unusable
    from porter.validation.toolchain.cuda_headers import PUBLISHED, RELEASE
    from porter.validation.toolchain.rocm_headers import fetch

    if wheel is not None:
        raise Unusable("--wheel is that of ROCm's headers; CUDA's are in six: pip install nvidia-cublas, ...")
    for published in PUBLISHED:
        print(f"CUDA {RELEASE}, from {published.requirement}: {fetch(None, published)}")
    next_step("porter", "run", "--compare", why="builds originals with them")
    return DONE
