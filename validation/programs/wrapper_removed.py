"""What our `nvcc` does with a program that is older than its toolkit: names that CUDA 13 took away are given back.

The text below the line takes the place of the import of it where `nvcc` is copied (compilers.py).
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from pathlib import Path

# ---

MEMBERS = (
    *("clockRate", "deviceOverlap", "kernelExecTimeoutEnabled", "computeMode", "maxTexture1DLinear"),
    *("memoryClockRate", "singleToDoublePrecisionPerfRatio", "cooperativeMultiDeviceLaunch"),
)
"""Of cudaDeviceProp. The drop-in runtime writes them in this order (runtime/api.c), where CUDA 13 has reserved room."""
REMOVED = {
    *MEMBERS,
    *(
        f"cudaThread{what}"
        for what in ("Synchronize", "Exit", "SetLimit", "GetLimit", "GetCacheConfig", "SetCacheConfig")
    ),
    *("cudaMemPrefetchAsync", "cudaMemAdvise", "cudaMemLocation", "cuCtxCreate_v4", "cuCtxCreate"),
    *("__shfl", "__shfl_up", "__shfl_down", "__shfl_xor"),
}
PROPERTIES = re.compile(r"(struct __device_builtin__ cudaDeviceProp\s*\{[^}]*?)\bint +reserved\[(\d+)\];")


def with_removed(command: list[str], header: str) -> int:
    """Run nvcc, and once more with what it missed of older toolkits; such names go to $PORTER_BUILD_NOTES."""
    done = subprocess.run(command, capture_output=True, check=False)
    said = (done.stdout + done.stderr).decode("utf-8", "replace")
    missed = sorted({name for name in re.findall(r"\w+", said) if name in REMOVED}) if done.returncode else []
    if missed:
        place = headers_with_members(command[0], Path(__file__).parent / "removed")
        again = [command[0], *([f"-I{place}"] if place else []), "-include", header, *command[1:]]
        done = subprocess.run(again, capture_output=True, check=False)
        notes = os.environ.get("PORTER_BUILD_NOTES")
        if notes and not done.returncode:
            with Path(notes).open("a") as file:
                file.write("".join(f"{name}\n" for name in missed))
    for to, data in ((1, done.stdout), (2, done.stderr)):
        _write(to, data)
    return done.returncode


def _write(to: int, data: bytes) -> None:
    while data:
        data = data[os.write(to, data) :]


def headers_with_members(nvcc: str, place: Path) -> Path | None:
    """A folder of links to the toolkit's headers, but a driver_types.h of its own; None where that is not as known."""
    if place.is_dir():
        return place
    told = subprocess.run(
        [nvcc, "--dryrun", "-E", "-x", "cu", "/dev/null"], capture_output=True, text=True, check=False
    )
    found = (Path(path) for path in re.findall(r'-I"?([^"\s]+)', told.stdout + told.stderr))
    headers = next((folder for folder in found if (folder / "driver_types.h").is_file()), None)
    if headers is None:
        return None
    text = (headers / "driver_types.h").read_text("utf-8", "replace")
    own = "".join(f"int {name}; " for name in MEMBERS)
    text, count = PROPERTIES.subn(lambda it: f"{it[1]}{own}int reserved[{int(it[2]) - len(MEMBERS)}];", text)
    if not count:
        return None
    made = Path(tempfile.mkdtemp(dir=place.parent))
    for path in headers.iterdir():
        if path.name != "driver_types.h":
            (made / path.name).symlink_to(path.resolve())
    (made / "driver_types.h").write_text(text)
    try:
        made.rename(place)
    except OSError:  # another nvcc was first
        return place
    return place
