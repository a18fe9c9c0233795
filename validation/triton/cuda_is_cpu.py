"""torch's device "cuda" as the CPU, for tests that name it: their tensors are made where virtual devices find them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any
from unittest import mock

import torch
from torch.overrides import TorchFunctionMode

_CPU, _CUDA = torch.device("cpu"), torch.device("cuda", 0)
_IS_CUDA: Any = torch.Tensor.is_cuda
_DEVICE: Any = torch.Tensor.device


def _is_cuda(value: Any) -> bool:
    if isinstance(value, torch.device):
        return value.type == "cuda"
    return isinstance(value, str) and value.partition(":")[0] == "cuda"


def _there(value: Any) -> Any:
    return _CPU if _is_cuda(value) else value


class Event:
    """Of a stream on which everything is done at once; two of them are a second apart, so that nothing is repeated."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.cuda_event = 0

    def record(self, stream: Any = None) -> None:
        """Done."""

    def wait(self, stream: Any = None) -> None:
        """Done."""

    def synchronize(self) -> None:
        """Done."""

    def query(self) -> bool:
        """Done."""
        return True

    def elapsed_time(self, end: Any) -> float:
        """Milliseconds; they mean nothing."""
        return 1000.0


class Stream(contextlib.nullcontext[None]):
    """Everything is done when it is asked for."""

    cuda_stream = 0

    def __init__(self, *_: Any, **__: Any) -> None:
        super().__init__()

    def synchronize(self) -> None:
        """Done."""

    def wait_stream(self, stream: Any) -> None:
        """Done."""

    def wait_event(self, event: Any) -> None:
        """Done."""

    def record_event(self, event: Any = None) -> Any:
        """Done."""
        return event or Event()


class Chosen(contextlib.nullcontext[None]):
    """`torch.cuda.device(...)`: there is one."""

    idx = prev_idx = 0

    def __init__(self, *_: Any, **__: Any) -> None:
        super().__init__()


class _Moved(TorchFunctionMode):
    """Calls that name the device name the CPU instead; tensors say that they are there."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func == _DEVICE.__get__:  # a new object each time
            return _CUDA if func(*args, **(kwargs or {})) == _CPU else func(*args, **(kwargs or {}))
        if func is torch.Tensor.get_device:
            return 0
        kwargs = {key: _there(value) if key == "device" else value for key, value in (kwargs or {}).items()}
        if func is torch.Tensor.cuda:
            return args[0]
        if func == _IS_CUDA.__get__:
            return True
        if func is torch.Tensor.to:
            args = (args[0], *map(_there, args[1:]))
        return func(*args, **kwargs)


@contextlib.contextmanager
def cuda_is_cpu(device: str) -> Iterator[None]:
    """Within it, "cuda" is taken for the CPU by torch's functions, and torch.cuda says that a GPU is there."""
    capability = (8, 0) if device == "ptx" else (9, 4)
    properties = SimpleNamespace(
        name="virtual device", major=capability[0], minor=capability[1], total_memory=64 << 30, gcnArchName=device,
        multi_processor_count=108 if device == "ptx" else 304, warp_size=32 if device == "ptx" else 64,
        shared_memory_per_block_optin=163 << 10, shared_memory_per_multiprocessor=164 << 10,
        regs_per_multiprocessor=65536,
        max_threads_per_multi_processor=2048, L2_cache_size=4 << 20,
    )  # fmt: skip
    stand_ins = {
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "set_device": lambda device: None,
        "synchronize": lambda device=None: None,
        "empty_cache": lambda: None,
        "get_device_name": lambda device=None: "virtual device",
        "get_device_capability": lambda device=None: capability,
        "get_device_properties": lambda device=None: properties,
        "is_bf16_supported": lambda including_emulation=True: True,
        "device": Chosen,
        "stream": lambda stream: contextlib.nullcontext(),
        "Stream": Stream,
        "Event": Event,
        "current_stream": lambda device=None: Stream(),
        "default_stream": lambda device=None: Stream(),
        "get_rng_state": lambda device=None: torch.get_rng_state(),
        "set_rng_state": lambda state, device=None: torch.set_rng_state(state),
        "memory_allocated": lambda device=None: 0,
        "max_memory_allocated": lambda device=None: 0,
        "reset_peak_memory_stats": lambda device=None: None,
        "manual_seed": torch.manual_seed,
        "manual_seed_all": torch.manual_seed,
    }
    with contextlib.ExitStack() as stack:
        for name, function in stand_ins.items():
            stack.enter_context(mock.patch.object(torch.cuda, name, function))
        raw = mock.patch.object(torch._C, "_cuda_getCurrentRawStream", lambda device=0: 0, create=True)
        stack.enter_context(raw)
        is_amd = device != "ptx"  # as torch's builds for ROCm and for CUDA say it
        stack.enter_context(mock.patch.object(torch.version, "hip", "6.4" if is_amd else None))
        stack.enter_context(mock.patch.object(torch.version, "cuda", None if is_amd else "12.8"))
        stack.enter_context(_Moved())
        yield
