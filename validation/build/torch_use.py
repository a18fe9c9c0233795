"""Units that include PyTorch: which they are, and what setup.py defines for them."""

from __future__ import annotations

import ast
import functools
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

from porter.validation.build.includes import included
from porter.validation.toolchain.result import Missing
from porter.validation.toolchain.torch_headers import TorchHeaders, find_torch_headers

from porter.headers import reached

_TORCH = re.compile(r"(?:torch|ATen|c10)/")
_MACRO = re.compile(r"-[DU][A-Za-z_]\w*(?:=[\w.+-]*)?$")
_NAME = re.compile(r"[A-Z_][A-Z0-9_]+$")
_GPU = re.compile(r"cuda|hip|rocm|gpu", re.IGNORECASE)
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
        return next((path for folder in (*near, *folders) if (path := folder / name).is_file()), None)

    files = itertools.chain((source,), reached(source, included, find, _MOST))
    return any(_TORCH.match(name) for file in files for _, name in included(file))


def _folders(options: tuple[str, ...]) -> Iterator[Path]:
    words = iter(options)
    for word in words:
        if word in ("-I", "-isystem", "-iquote"):
            yield Path(next(words, "."))
        elif word.startswith("-I"):
            yield Path(word[2:])


def setup_macros(source: Path, options: tuple[str, ...]) -> tuple[str, ...]:
    """`-D` and `-U` as the nearest setup.py has them as constants; none that the options name already."""
    script = next((path for folder in source.parents if (path := folder / "setup.py").is_file()), None)
    if script is None:
        return ()
    named = {re.split("=", word[2:])[0] for word in options if word.startswith(("-D", "-U"))}
    status = script.stat()
    found = _read_setup(str(script), (status.st_mtime_ns, status.st_size))
    return tuple(word for word in found if word[2:].partition("=")[0] not in named)


@functools.lru_cache(maxsize=64)
def _read_setup(path: str, stamp: tuple[int, int]) -> tuple[str, ...]:
    del stamp
    try:
        tree = ast.parse(Path(path).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return ()
    return tuple(dict.fromkeys(_macros(tree)))


def _macros(tree: ast.Module) -> Iterator[str]:
    """Words of lists, and pairs of a name and a constant or None, which is how distutils writes macros."""
    for node in _certain(tree):
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            yield from (
                _for_hip(word.value)
                for word in node.elts
                if isinstance(word, ast.Constant) and isinstance(word.value, str) and _MACRO.match(word.value)
            )
        if isinstance(node, ast.Tuple) and len(node.elts) == 2:
            yield from _pair(*node.elts)


def _certain(node: ast.AST) -> Iterator[ast.AST]:
    """What holds whatever the user chooses: of conditions, only what is asked about the GPU."""
    yield node
    if isinstance(node, ast.If):
        chosen = _GPU.search(ast.unparse(node.test))
        below: list[ast.AST] = [*node.body, *node.orelse] if chosen else []
    else:
        below = list(ast.iter_child_nodes(node))
    for one in below:
        yield from _certain(one)


def _for_hip(word: str) -> str:
    """As PyTorch's builder changes `-U__CUDA_NO_HALF_OPERATORS__` on ROCm."""
    return word.replace("CUDA", "HIP", 1) if word[2:].startswith("__CUDA_NO_") else word


def _pair(name: ast.expr, value: ast.expr) -> Iterator[str]:
    if not (isinstance(name, ast.Constant) and isinstance(name.value, str) and _NAME.match(name.value)):
        return
    if isinstance(value, ast.Constant) and value.value is None:
        yield f"-D{name.value}"
    elif isinstance(value, ast.Constant) and isinstance(value.value, str) and re.fullmatch(r"[\w.]+", value.value):
        yield f"-D{name.value}={value.value}"
