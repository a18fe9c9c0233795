"""Functions of the support headers that are plain C++, compiled for the host and applied to numpy arrays."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tests import kept
from tests.include import hip

Array = npt.NDArray[Any]
_CTYPES = {
    "int": np.int32,
    "unsigned": np.uint32,
    "unsigned long long": np.uint64,
    "long long": np.int64,
    "float": np.float32,
    "double": np.float64,
}


class Library:
    """Element-wise C++ functions: `call("vadd4", a, b)`."""

    def __init__(
        self, folder: Path, include: str, signatures: dict[str, str], extra: str = "", flags: tuple[str, ...] = ()
    ) -> None:
        """`signatures` maps each name of namespace porter to a C++ type such as `int(int, unsigned)`.

        `extra` is C++ text that may define more functions in that namespace.
        """
        self._signatures = signatures
        text = [f'#include "{include}"', extra, 'extern "C" {']
        text += [_wrapper(name, *_types(signature)) for name, signature in signatures.items()]
        library = folder / "functions.so"
        command = [hip.require_clang(), "-std=c++14", "-O1", "-fsanitize=undefined,float-cast-overflow"]
        command += ["-fsanitize-trap=undefined,float-cast-overflow", "-fno-math-errno", "-mfma"]
        command += ["-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-I", str(hip.HEADERS)]
        done = kept.compiled([*command, *flags], "\n".join([*text, "}"]), library)
        assert done.returncode == 0, done.stderr
        self._library = ctypes.CDLL(str(library))

    def call(self, name: str, *arguments: Array) -> Array:
        """Applies a function to arrays of equal length."""
        result, parameters = _types(self._signatures[name])
        inputs = [np.ascontiguousarray(a, _CTYPES[type_]) for a, type_ in zip(arguments, parameters, strict=True)]
        output = np.empty(len(inputs[0]), _CTYPES[result])
        pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in (output, *inputs)]
        getattr(self._library, f"each_{name}")(ctypes.c_long(len(output)), *pointers)
        return output


def _types(signature: str) -> tuple[str, list[str]]:
    found = re.fullmatch(r"([\w ]+)\(([\w ,]*)\)", signature)
    assert found is not None, signature
    return found[1], [part.strip() for part in found[2].split(",")]


def _wrapper(name: str, result: str, parameters: list[str]) -> str:
    inputs = [f"{type_} const* p{i}" for i, type_ in enumerate(parameters)]
    values = ", ".join(f"p{i}[i]" for i in range(len(parameters)))
    return (
        f"void each_{name}(long n, {result}* out, {', '.join(inputs)}) "
        f"{{ for (long i = 0; i < n; ++i) out[i] = porter::{name}({values}); }}"
    )
