"""The virtual MI300X."""

from porter.validation.devices.gfx942.device import Device, Module, open_device

__all__ = ["Device", "Module", "open_device"]
