"""Units that include PyTorch."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

from porter.validation.build.includes import included
from porter.validation.toolchain.result import Missing
from porter.validation.toolchain.torch_headers import TorchHeaders, find_torch_headers

from porter.cpp.headers import reached
from porter.system.reading import is_regular

_TORCH = re.compile(r"(?:torch|ATen|c10)/")
_MOST = 2000


def torch_of(source: Path, options: tuple[str, ...]) -> TorchHeaders | Missing | None:
    """PyTorch's headers for a unit that includes them, directly or not; None where it does not."""
    return find_torch_headers() if uses_torch(source, options) else None


def uses_torch(source: Path, options: tuple[str, ...]) -> bool:
    """Whether the unit, or a header of the project that it includes, includes a header of PyTorch's."""
    try:
        status = source.stat()
    except OSError:
        return False
    return _reaches_torch(source, tuple(_folders(options)), (status.st_mtime_ns, status.st_size))


@functools.lru_cache(maxsize=4096)
def _reaches_torch(source: Path, folders: tuple[Path, ...], stamp: tuple[int, int]) -> bool:
    """Asked several times in a build: what the headers of a unit include is read once."""
    del stamp

    def find(current: Path, line: tuple[bool, str]) -> Path | None:
        quoted, name = line
        near = (current.parent,) if quoted else ()
        return next((path for folder in (*near, *folders) if is_regular(path := folder / name)), None)

    files = itertools.chain((source,), reached(source, included, find, _MOST))
    return any(_TORCH.match(name) for file in files for _, name in included(file))


def _folders(options: tuple[str, ...]) -> Iterator[Path]:
    words = iter(options)
    for word in words:
        if word in ("-I", "-isystem", "-iquote"):
            yield Path(next(words, "."))
        elif word.startswith("-I"):
            yield Path(word[2:])
