"""Whether a runtime finds a GPU, asked in a process of its own."""

from __future__ import annotations

import ctypes
import functools
import sys
from pathlib import Path

from porter.validation.toolchain.invoke import invoke

_LIBRARIES = {
    "cuda": ("libcuda.so.1", "libcuda.so"),
    "hip": ("libamdhip64.so", *(f"libamdhip64.so.{version}" for version in range(8, 4, -1))),
}
_FOLDERS = {"cuda": (), "hip": ("/opt/rocm/lib", "/opt/rocm/hip/lib")}
_SECONDS = 60.0
_FOUND = "found: "


@functools.cache
def find_gpu(api: str) -> tuple[str | None, str]:
    """(None, the GPU's architecture or an empty text), or (the reason why there is none, "")."""
    done = invoke((sys.executable, "-m", "porter.validation.devices.presence", api), _SECONDS, Path(sys.prefix))
    last = done.output.strip().rpartition("\n")[2]
    if done.ok and last.startswith(_FOUND):
        return None, last.removeprefix(_FOUND).strip()
    if done.stopped is not None:
        return f"the {api} runtime gave no answer: {done.stopped}", ""
    if done.code is not None and done.code < 0:
        return f"the {api} runtime crashed with signal {-done.code} while it looked for a GPU", ""
    return last or f"exit status {done.code}", ""


def _load(api: str) -> ctypes.CDLL | None:
    names = [*_LIBRARIES[api], *(str(Path(folder) / _LIBRARIES[api][0]) for folder in _FOLDERS[api])]
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def _cuda(library: ctypes.CDLL) -> str:
    def check(code: int) -> None:
        if code:
            name, text = ctypes.c_char_p(), ctypes.c_char_p()
            library.cuGetErrorName(code, ctypes.byref(name))
            library.cuGetErrorString(code, ctypes.byref(text))
            words = [value.decode() for value in (name.value, text.value) if value]
            raise OSError(f"no NVIDIA GPU: {': '.join(words) or code}")

    check(library.cuInit(0))
    count = ctypes.c_int()
    check(library.cuDeviceGetCount(ctypes.byref(count)))
    if count.value < 1:
        raise OSError("no NVIDIA GPU: the driver lists none")
    device, numbers = ctypes.c_int(), (ctypes.c_int(), ctypes.c_int())
    check(library.cuDeviceGet(ctypes.byref(device), 0))
    for number, attribute in zip(numbers, (75, 76), strict=True):
        check(library.cuDeviceGetAttribute(ctypes.byref(number), attribute, device))
    return f"sm_{numbers[0].value}{numbers[1].value}"


def _hip(library: ctypes.CDLL) -> str:
    library.hipGetErrorName.restype = library.hipGetErrorString.restype = ctypes.c_char_p
    count = ctypes.c_int()
    code = library.hipGetDeviceCount(ctypes.byref(count))
    if code or count.value < 1:
        name = library.hipGetErrorName(code).decode() if code else "the runtime lists none"
        text = library.hipGetErrorString(code).decode() if code else ""
        raise OSError(f"no AMD GPU: {name}" + (f": {text}" if text and text != name else ""))
    return ""


def main(api: str) -> int:
    """Prints the architecture, or the reason."""
    library = _load(api)
    if library is None:
        maker = {"cuda": "NVIDIA driver", "hip": "HIP runtime"}[api]
        print(f"no {maker}: {_LIBRARIES[api][0]} is not installed")
        return 1
    try:
        print(_FOUND + (_cuda if api == "cuda" else _hip)(library))
    except OSError as error:
        print(error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
