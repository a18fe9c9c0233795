"""Kernels that TorchInductor generates: for tensors on the CPU it writes what it writes for the GPU."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any
from unittest import mock

from porter.validation.triton.cuda_is_cpu import Event, Stream


@contextlib.contextmanager
def inductor_on(name: str, properties: dict[str, Any]) -> Iterator[None]:
    """Within it, torch.compile makes Triton kernels of CPU tensors, for the GPU of that name, and keeps none of them.

    Its back end for the CPU is set to its own generator for Triton, and the properties that it asks for are those
    of the GPU, so that sizes of blocks, warps and reductions are chosen as there. Its launcher in C++ is not used.
    """
    import torch
    import torch._dynamo
    from torch._dynamo import device_interface
    from torch._inductor import config
    from torch._inductor.runtime import triton_helpers
    from torch._inductor.runtime.hints import DeviceProperties
    from torch._inductor.runtime.triton_heuristics import CachingAutotuner

    is_amd = name != "ptx"
    asked = SimpleNamespace(
        multi_processor_count=properties["multiprocessor_count"],
        warp_size=properties["warpSize"],
        major=9 if is_amd else 8,
        minor=4 if is_amd else 0,
        regs_per_multiprocessor=properties["max_num_regs"],
        max_threads_per_multi_processor=properties["max_threads_per_sm"],
        max_threads_per_block=1024,
        shared_memory_per_block_optin=properties["max_shared_mem"],
        gcnArchName=name,
    )
    capability: Any = name if is_amd else 80
    of_gpu = DeviceProperties(
        "hip" if is_amd else "cuda", 0, asked.multi_processor_count, capability, asked.major,
        asked.regs_per_multiprocessor, asked.max_threads_per_multi_processor, asked.max_threads_per_block,
        asked.warp_size,
    )  # fmt: skip
    interface = _interface(device_interface.CpuInterface, asked, capability)
    device_interface.get_interface_for_device("cpu")  # fills the table
    table = dict.fromkeys(("cpu", "cuda", "cuda:0"), interface)
    settings: dict[str, Any] = {"cpu_backend": "triton", "force_disable_caches": True, "compile_threads": 1,
                "use_static_triton_launcher": False}  # fmt: skip
    torch._dynamo.reset()
    with contextlib.ExitStack() as stack:
        stack.callback(torch._dynamo.reset)
        stack.enter_context(config.patch(**{key: value for key, value in settings.items() if hasattr(config, key)}))
        stack.enter_context(mock.patch.dict(device_interface.device_interfaces, table))
        stack.enter_context(mock.patch.object(DeviceProperties, "create", classmethod(lambda cls, device: of_gpu)))
        stack.enter_context(mock.patch.object(CachingAutotuner, "bench", _bench))
        for choice in ("set_driver_to_gpu", "set_driver_to_cpu"):
            stack.enter_context(mock.patch.object(triton_helpers, choice, lambda: None))
        yield


def _bench(self: Any, launcher: Any, *args: Any, **kwargs: Any) -> float:
    """All configurations that compile are alike: the first one wins."""
    return 1.0


def _interface(base: Any, asked: SimpleNamespace, capability: Any) -> Any:
    """What Inductor asks of a device: everything is done when it is asked for."""

    class Worker(base.Worker):  # type: ignore[misc]
        @staticmethod
        def get_device_properties(device: Any = None) -> Any:
            return asked

    members: dict[str, Any] = {
        "is_available": lambda: True,
        "get_device_properties": lambda device=None: asked,
        "get_compute_capability": lambda device=None: capability,
        "raise_if_triton_unavailable": lambda device=None: None,
        "is_triton_capable": lambda device=None: True,
        "exchange_device": lambda device: 0,
        "maybe_exchange_device": lambda device: 0,
        "set_device": lambda device: None,
        "device_count": lambda: 1,
        "current_stream": lambda device=None: Stream(),
    }
    made = {name: staticmethod(function) for name, function in members.items()}
    return type("VirtualInterface", (base,), {**made, "Event": Event, "Stream": Stream, "Worker": Worker})
