"""Makes PyTorch's CPU wheel one with a CUDA or ROCm device, in a process of `porter run`; imports nothing of porter."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import importlib.abc
import importlib.machinery
import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

SIDE = os.environ.get("PORTER_TORCH_SIDE", "")
VERSION = os.environ.get("PORTER_TORCH_VERSION") or {"cuda": "13.0", "hip": "6.0"}.get(SIDE)
"""What torch.version says: that of the compiler, of the headers."""


class _Changed(importlib.abc.Loader):
    """A module's own loader, and what is done before and after."""

    def __init__(self, loader: Any, before: Callable[[Any], None] | None, after: Callable[[ModuleType], None]) -> None:
        self._loader, self._before, self._after = loader, before, after

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        """What is done before comes here: the module's library is loaded by it."""
        if self._before is not None:
            self._before(spec)
        made: ModuleType | None = self._loader.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        """The module as it is, then what is added."""
        self._loader.exec_module(module)
        self._after(module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds what everybody finds, with another loader for a few modules."""

    def __init__(self, changes: dict[str, tuple[Callable[[Any], None] | None, Callable[[ModuleType], None]]]) -> None:
        self._changes = changes

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The spec with the changed loader; None for all other modules."""
        if name not in self._changes:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Changed(spec.loader, *self._changes[name])
        return spec


def install() -> None:
    """Wait for PyTorch."""
    sys.meta_path.insert(
        0,
        _Finder(
            {
                "torch._C": (_load_library, _add_names),
                "torch.version": (None, _say_version),
                "torch.storage": (None, _change_storage),
                "torch.utils.cpp_extension": (_offer_toolkit, _change_builder),
            }
        ),
    )


# ---- the library ------------------------------------------------------------------------------------------


class Library:
    """The C++ half, once it is loaded."""

    handle: Any = None
    folder: Path | None = None


def _load_library(spec: Any) -> None:
    torch = Path(spec.origin).parent
    Library.folder = Path(_ask("library", str(torch)))
    name = {"cuda": "libc10_cuda.so", "hip": "libc10_hip.so"}[SIDE]
    Library.handle = ctypes.CDLL(str(Library.folder / name), mode=ctypes.RTLD_GLOBAL)
    Library.handle.porter_torch_operators.restype = ctypes.c_char_p
    Library.handle.porter_torch_memory.restype = ctypes.POINTER(ctypes.c_int64)
    for function in ("porter_torch_stream", "porter_torch_new_stream"):
        getattr(Library.handle, function).restype = ctypes.c_int64
    if os.environ.get("PORTER_RUN_REPORT"):
        atexit.register(_write_operators)
    _tell_of_missing_names()


def _add_names(module: ModuleType) -> None:
    """What a CUDA build of torch._C has, and torch.cuda uses."""
    from porter_torch_names import names  # type: ignore[import-not-found]

    for name, value in names(module).items():
        setattr(module, name, value)


def _ask(what: str, torch: str) -> str:
    """What porter knows, or builds: once in a run, processes that this one starts are told."""
    kept = f"PORTER_TORCH_{SIDE}_{what}".upper()
    before, _, answer = os.environ.get(kept, "").partition(os.pathsep)
    if before != torch:
        answer = _asked(what, torch)
        os.environ[kept] = f"{torch}{os.pathsep}{answer}"
    return answer


def _asked(what: str, torch: str) -> str:
    """By a process of its own, with the Python that porter runs in."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PORTER_TORCH_SIDE")}
    command = [os.environ["PORTER_RUN_PYTHON"], "-m", "porter.validation.programs.pytorch.build", what, SIDE, torch]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        _end(f"PyTorch's library for the device is not there: {done.stderr.strip()[-3000:]}")
    return done.stdout.strip().splitlines()[-1]


def _end(reason: str) -> None:
    """The process cannot go on: as the drop-in runtime says so."""
    print(f"porter: {reason}", file=sys.stderr, flush=True)
    _keep("torch", {"ending": reason})
    os._exit(125)


def _keep(kind: str, value: object) -> None:
    """For the report of the run."""
    folder = os.environ.get("PORTER_RUN_REPORT")
    if folder:
        Path(folder, f"{os.getpid()}.{kind}").write_text(json.dumps(value))


def _write_operators() -> None:
    rows = [line.rpartition(" ") for line in Library.handle.porter_torch_operators().decode().splitlines()]
    _keep("torch", {"operators": {name: int(count) for name, _, count in rows}})


def _tell_of_missing_names() -> None:
    """A library that wants a name which is not there: told by name, and kept for the report."""
    own = importlib.machinery.ExtensionFileLoader.create_module

    def create_module(self: Any, spec: Any) -> Any:
        try:
            return own(self, spec)
        except ImportError as error:
            missing(str(error))
            raise

    importlib.machinery.ExtensionFileLoader.create_module = create_module  # type: ignore[method-assign]
    load = ctypes.CDLL.__init__

    def __init__(self: Any, *arguments: Any, **named: Any) -> None:
        try:
            load(self, *arguments, **named)
        except OSError as error:
            missing(str(error))
            raise

    ctypes.CDLL.__init__ = __init__  # type: ignore[method-assign]


def missing(said: str) -> None:
    """Tell the runtime of a name of PyTorch's CUDA library that the dynamic linker did not find."""
    _, found, name = said.partition("undefined symbol: ")
    if not found:
        return
    try:
        shown = subprocess.run(["c++filt", name.split()[0]], capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        shown = name.split()[0]
    Library.handle.porter_refuses(shown.encode(), b"a name that the extension wants of PyTorch's CUDA library")


# ---- versions, and how extensions are built -----------------------------------------------------------------


def _say_version(module: ModuleType) -> None:
    setattr(module, SIDE, VERSION)


def _offer_toolkit(spec: Any) -> None:
    """The compiler that extensions are built with, and what for."""
    home = _ask("home", str(Path(spec.origin).parent.parent))
    if SIDE == "cuda":
        os.environ |= {"CUDA_HOME": home, "TORCH_CUDA_ARCH_LIST": "8.0+PTX"}
    else:
        os.environ |= {"ROCM_HOME": home, "ROCM_PATH": home, "PYTORCH_ROCM_ARCH": "gfx942"}
    os.environ["PATH"] = f"{home}/bin{os.pathsep}{os.environ.get('PATH', '')}"
    flags = os.environ.get("CFLAGS") or sysconfig.get_config_var("CFLAGS") or ""  # given ones take the place of those
    if "-g0" not in flags.split():  # Python's own -g is a third of a unit's time
        os.environ["CFLAGS"] = f"{flags} -g0".strip()
    if "TORCH_EXTENSIONS_DIR" not in os.environ:  # not beside a GPU's
        kept = Path(home).with_name(f"extensions-{SIDE}")
        os.environ["TORCH_EXTENSIONS_DIR"] = str(kept)
        drop_dead_locks(kept)


def drop_dead_locks(folder: Path, processes: Path = Path("/proc")) -> None:
    """Those of builds that were killed: PyTorch has a lock open while it builds, and waits for any without end."""
    locks = list(folder.glob("*/lock"))
    held = {opened for process in processes.glob("[0-9]*") for opened in _opened_by(process)} if locks else set()
    for lock in locks:
        if str(lock.resolve()) not in held:
            lock.unlink(missing_ok=True)


def _opened_by(process: Path) -> set[str]:
    """The files that a process has open; none, where it ends meanwhile or is another user's."""
    opened = set()
    with contextlib.suppress(OSError):
        for link in (process / "fd").iterdir():
            with contextlib.suppress(OSError):
                opened.add(str(link.readlink()))
    return opened


def _change_builder(module: Any) -> None:
    """Headers and libraries that the wheel for that device would have."""
    headers, libraries, link = module.include_paths, module.library_paths, module._prepare_ldflags
    ours = json.loads(_ask("headers", str(Path(module.__file__).parent.parent)))

    def include_paths(*arguments: Any, **named: Any) -> list[str]:
        return [*ours, *headers(*arguments, **named)]

    def library_paths(*arguments: Any, **named: Any) -> list[str]:
        return [str(Library.folder), *libraries(*arguments, **named)]

    def prepare_ldflags(*arguments: Any, **named: Any) -> list[str]:
        return [f"-L{Library.folder}", *link(*arguments, **named)]  # of `load`, which asks for no library_paths

    module.include_paths, module.library_paths = include_paths, library_paths
    module._prepare_ldflags = prepare_ldflags


def _change_storage(module: Any) -> None:
    """Storages of the device: PyTorch's own are made by an #ifdef."""

    def __new__(cls: type, *arguments: Any, device: Any = None, **named: Any) -> Any:
        import torch

        if device is None or torch.device(device).type != "cuda":
            return module.torch._C.StorageBase.__new__(
                cls, *arguments, **({"device": device} if device else {}), **named
            )
        given = arguments[0] if arguments else 0
        content = given if isinstance(given, int) else list(given)
        made = (
            torch.empty(content, dtype=torch.uint8)
            if isinstance(content, int)
            else torch.tensor(content, dtype=torch.uint8)
        )
        return made.to(device).untyped_storage()

    module.UntypedStorage.__new__ = __new__
