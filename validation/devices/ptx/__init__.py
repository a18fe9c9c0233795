"""The virtual NVIDIA GPU: runs PTX on the CPU."""

from porter.validation.devices.ptx.device import Device, Module, open_device

__all__ = ["Device", "Module", "open_device"]
