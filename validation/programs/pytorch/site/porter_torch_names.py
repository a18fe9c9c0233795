"""Names of torch._C that only a CUDA or ROCm build has: devices, streams, events, memory, by the drop-in runtime."""

from __future__ import annotations

import ctypes
from types import ModuleType
from typing import Any

from porter_torch import SIDE, Library  # type: ignore[import-not-found]

_WIDE = (
    *("total_memory", "shared_memory_per_block", "shared_memory_per_multiprocessor", "shared_memory_per_block_optin"),
    "L2_cache_size",
)
_NARROW = (
    *("major", "minor", "multi_processor_count", "warp_size", "max_threads_per_block"),
    *("max_threads_per_multi_processor", "regs_per_multiprocessor", "is_integrated"),
)


class _Properties(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char * 256),
        ("architecture", ctypes.c_char * 64),
        *((name, ctypes.c_int64) for name in _WIDE),
        *((name, ctypes.c_int32) for name in _NARROW),
    )


class DeviceProperties:
    """What torch.cuda.get_device_properties gives."""

    def __init__(self, device: int) -> None:
        found = _Properties()
        _checked(Library.handle.porter_torch_properties(device, ctypes.byref(found)))
        for name, *_ in _Properties._fields_:
            value = getattr(found, name)
            setattr(self, name, value.decode() if isinstance(value, bytes) else value)
        self.gcnArchName = found.architecture.decode() or found.name.decode()
        self.is_multi_gpu_board = 0

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={vars(self)[name]!r}" for name in ("name", "major", "minor", "total_memory"))
        return f"_CudaDeviceProperties({shown})"


def _runtime(name: str, *arguments: Any) -> None:
    _checked(getattr(Library.handle, SIDE + name)(*arguments))


def _checked(status: int) -> None:
    if status:
        text = getattr(Library.handle, SIDE + "GetErrorString")
        text.restype = ctypes.c_char_p
        raise RuntimeError(f"CUDA error: {text(status).decode()}")


def _number(name: str) -> int:
    value = ctypes.c_int()
    _runtime(name, ctypes.byref(value))
    return value.value


def _set_device(device: int) -> None:
    _runtime("SetDevice", int(device))


def _exchange_device(device: int) -> int:
    before = _number("GetDevice")
    if device >= 0 and device != before:
        _set_device(device)
    return before


def _device(device: int) -> int:
    return _number("GetDevice") if device is None or device < 0 else device


def _current_stream(device: int) -> tuple[int, int, int]:
    return Library.handle.porter_torch_stream(_device(device)), _device(device), 1


def _set_stream(stream_id: int, device_index: int, device_type: int) -> None:
    Library.handle.porter_torch_set_stream(int(device_index), ctypes.c_int64(stream_id))


def _memory(_device: int) -> dict[str, Any]:
    current, peak, total, freed, count = Library.handle.porter_torch_memory()[:5]
    each = {"current": current, "peak": peak, "allocated": total, "freed": freed}
    none = dict.fromkeys(each, 0)
    kinds = ("allocated_bytes", "active_bytes", "reserved_bytes", "requested_bytes", "allocation", "segment", "active")
    counted = {**none, "allocated": count}
    stats: dict[str, Any] = {kind: {"all": each if "bytes" in kind else counted} for kind in kinds}
    return {**stats, "num_alloc_retries": 0, "num_ooms": 0, "num_device_alloc": count, "num_device_free": 0}


def _initialise() -> None:
    import torch

    count = _number("GetDeviceCount")
    generators = []
    for device in range(count):
        Library.handle.porter_torch_next_is_default()
        generators.append(torch.Generator(device=f"cuda:{device}"))
    torch.cuda.default_generators = tuple(generators)  # type: ignore[assignment]
    torch.cuda._get_device_properties = DeviceProperties  # type: ignore[attr-defined]


def _reset_peak(_device: int) -> None:
    memory = Library.handle.porter_torch_memory()
    memory[1] = memory[0]


class _CudaEventBase:
    """torch.cuda.Event, by the runtime's events."""

    def __new__(cls, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False, **_: Any) -> Any:
        made = super().__new__(cls)
        made._handle, made._flags = None, 2 * (not enable_timing) + blocking + 4 * interprocess
        return made

    _handle: ctypes.c_void_p | None
    _flags: int

    def __init__(self, *_arguments: Any, **_named: Any) -> None:
        pass

    def __del__(self) -> None:
        if self._handle is not None:
            _runtime("EventDestroy", self._handle)

    @property
    def device(self) -> Any:
        """That of its handle."""
        import torch

        return None if self._handle is None else torch.device("cuda", _device(-1))

    @property
    def cuda_event(self) -> int:
        """The runtime's handle."""
        return 0 if self._handle is None else int(self._handle.value or 0)

    def record(self, stream: Any) -> None:
        """Made when it is first recorded, as a GPU's."""
        if self._handle is None:
            self._handle = ctypes.c_void_p()
            _runtime("EventCreateWithFlags", ctypes.byref(self._handle), self._flags)
        _runtime("EventRecord", self._handle, ctypes.c_void_p(stream.cuda_stream))

    def wait(self, stream: Any) -> None:
        """The stream waits."""
        if self._handle is not None:
            _runtime("StreamWaitEvent", ctypes.c_void_p(stream.cuda_stream), self._handle, 0)

    def query(self) -> bool:
        """Whether all before it is done."""
        return self._handle is None or getattr(Library.handle, SIDE + "EventQuery")(self._handle) == 0

    def synchronize(self) -> None:
        """The host waits."""
        if self._handle is not None:
            _runtime("EventSynchronize", self._handle)

    def elapsed_time(self, end: Any) -> float:
        """Milliseconds of this machine: no time of a GPU."""
        if self._handle is None or end._handle is None:
            raise RuntimeError("Both events must be recorded before calculating elapsed time.")
        value = ctypes.c_float()
        _runtime("EventElapsedTime", ctypes.byref(value), self._handle, end._handle)
        return value.value


def _streams(module: Any) -> dict[str, type]:
    class CudaStreamBase(module.Stream):  # type: ignore[misc]
        """torch.cuda.Stream, by PyTorch's streams for any device."""

        def __new__(cls, priority: int = 0, **named: Any) -> Any:
            if "stream_id" in named and "device_index" in named:
                return super().__new__(
                    cls, stream_id=named["stream_id"], device_index=named["device_index"], device_type=1
                )
            if named.get("stream_ptr"):
                return super().__new__(cls, stream_id=named["stream_ptr"], device_index=_device(-1), device_type=1)
            made = Library.handle.porter_torch_new_stream(_device(-1), priority)
            return super().__new__(cls, stream_id=made, device_index=_device(-1), device_type=1)

        def __init__(self, *_arguments: Any, **_named: Any) -> None:
            pass

        @property
        def cuda_stream(self) -> int:
            """The runtime's handle."""
            return int(self.stream_id)

        @property
        def priority(self) -> int:
            """Both kinds run alike."""
            return 0

        @staticmethod
        def priority_range() -> tuple[int, int]:
            """As a GPU's."""
            return 0, -1

    return {"_CudaStreamBase": CudaStreamBase, "_CudaEventBase": _CudaEventBase}


def names(module: ModuleType) -> dict[str, Any]:
    """What a CUDA build of torch._C has, and torch.cuda uses."""
    architectures = "sm_80 compute_80" if SIDE == "cuda" else "gfx942"
    return {
        "_has_cuda": True,
        "_cuda_getDeviceCount": lambda: _number("GetDeviceCount"),
        "_cuda_getDevice": lambda: _number("GetDevice"),
        "_cuda_setDevice": _set_device,
        "_cuda_exchangeDevice": _exchange_device,
        "_cuda_maybeExchangeDevice": lambda device: _exchange_device(device),
        "_cuda_init": _initialise,
        "_cuda_isInBadFork": lambda: False,
        "_cuda_synchronize": lambda: _runtime("DeviceSynchronize"),
        "_cuda_getArchFlags": lambda: architectures,
        "_cuda_canDeviceAccessPeer": lambda _first, _second: False,
        "_cuda_getCurrentStream": _current_stream,
        "_cuda_getDefaultStream": lambda device: (0, _device(device), 1),
        "_cuda_getStreamFromExternal": lambda pointer, device: (pointer, _device(device), 1),
        "_cuda_getCurrentRawStream": lambda device: _current_stream(device)[0],
        "_cuda_setStream": _set_stream,
        "_cuda_emptyCache": lambda *_: None,
        "_cuda_ipc_collect": lambda: None,
        "_cuda_memoryStats": _memory,
        "_cuda_resetPeakMemoryStats": _reset_peak,
        "_cuda_resetAccumulatedMemoryStats": lambda _device: None,
        "_cuda_getAllocatorBackend": lambda: "native",
        "_cuda_set_sync_debug_mode": lambda _mode: None,
        "_cuda_get_sync_debug_mode": lambda: 0,
        "_cuda_getCompiledVersion": lambda: 13000,
        "_CudaDeviceProperties": DeviceProperties,
        "_cuda_isCurrentStreamCapturing": lambda: False,
        "_CUDAGraph": _absent("torch.cuda.CUDAGraph"),
        "_graph_pool_handle": _absent("torch.cuda.graph_pool_handle"),
        "_cudart": _Cudart(),
        **_streams(module),
    }


def _absent(name: str) -> type:
    """A class that cannot be made: told by name, and no pass."""

    def __new__(_cls: type, *_arguments: Any, **_named: Any) -> Any:
        Library.handle.porter_refuses(name.encode(), None)
        raise NotImplementedError(f"{name} is not there when PyTorch runs on a virtual device")

    return type(name.rpartition(".")[2], (), {"__new__": __new__})


class _Cudart:
    """torch.cuda.cudart(): what is called of it most."""

    cudaError = int

    @staticmethod
    def cudaMemGetInfo(_device: int) -> tuple[int, int]:
        """Free and all bytes."""
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        _runtime("MemGetInfo", ctypes.byref(free), ctypes.byref(total))
        return free.value, total.value

    @staticmethod
    def cudaProfilerStart() -> int:
        """Nothing to start."""
        return 0

    @staticmethod
    def cudaProfilerStop() -> int:
        """Nothing to stop."""
        return 0
