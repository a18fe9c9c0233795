"""Devices by name; importing one is left until it is wanted."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable

from porter.validation.devices.device import Device

_MAKERS = {
    "ptx": "porter.validation.devices.virtual:ptx",
    "cuda": "porter.validation.devices.cuda:open_device",
    "gfx942": "porter.validation.devices.virtual:gfx942",
    "gfx90a": "porter.validation.devices.virtual:gfx90a",
    "hip": "porter.validation.devices.hip:open_device",
}
NAMES = tuple(_MAKERS)
"""Originals first."""
DEFAULT = tuple(name for name in NAMES if name != "gfx90a")
"""Those that are used unless devices are named: MI200 is run on request."""


@functools.cache
def device(name: str) -> Device | str:
    """The device, or the reason why this porter has none of that name."""
    module, _, function = _MAKERS[name].partition(":")
    try:
        maker: Callable[[], Device] = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError):
        return f"this version of porter has no device {name}"
    return maker()


@functools.cache
def why_not_built(name: str) -> str | None:
    """None, or the reason why code that something else compiled cannot run on the device here."""
    found = device(name)
    if isinstance(found, str):
        return found
    asked: Callable[[], str | None] | None = getattr(found, "why_not_run", None)
    return f"{name} compiles what it runs: cases of this kind are for the virtual devices" if asked is None else asked()


RUN = "run "
"""Before a device's name: that it runs what was compiled elsewhere is all that is asked."""


def why_not_asked(name: str) -> str | None:
    """None, or why a device cannot be used here in the way that its name asks for."""
    return why_not_built(name.removeprefix(RUN)) if name.startswith(RUN) else why_not(name)


@functools.cache
def why_not(name: str) -> str | None:
    """None, or the reason why nothing can run on the device here."""
    found = device(name)
    return found if isinstance(found, str) else found.available()
