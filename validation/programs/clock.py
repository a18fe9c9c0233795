"""The library that makes a program's clock run faster."""

from __future__ import annotations

from pathlib import Path

from porter.validation.devices.core.hostcc import HostCompiler, fingerprint
from porter.validation.programs.dropin import BuildFailed, compile_and_link
from porter.validation.toolchain.result import Missing

from porter.system.cache import cache_folder
from porter.system.folders import is_whole, whole

_SOURCE = Path(__file__).parent / "preload" / "clock.c"


def clock_library(compiler: HostCompiler) -> Path | Missing:
    """The shared object to load before the C library, built when it is not there."""
    key = fingerprint(compiler.version, _SOURCE.read_bytes())[:24]
    folder = cache_folder() / "programs" / f"clock-{key}"
    if not is_whole(folder, every_byte=True):
        try:
            with whole(folder) as made:
                compile_and_link(
                    [compiler.path, "-shared", "-fPIC", "-O1", str(_SOURCE), "-o", str(made / "libclock.so")]
                )
        except BuildFailed as error:
            return Missing(f"the host compiler failed on the clock: {error}")
    return folder / "libclock.so"
