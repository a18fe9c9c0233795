"""Who a worker is, and a task that does nothing."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from porter.validation.cluster.identity import short_identity
from porter.validation.devices import registry
from porter.validation.run.codec import plain
from porter.validation.toolchain.known import known_tools

from porter.system.cache import cache_folder


def do(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """The identity, with compilers and those devices that are asked for."""
    devices = {name: registry.why_not_asked(name) for name in payload.get("devices", ())}
    found = replace(short_identity(), devices=devices, tools=known_tools(), cache=str(cache_folder()))
    return {"identity": plain(found)}


def nothing(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """Waits for as long as it is told."""
    time.sleep(float(payload.get("wait", 0.0)))
    return {"number": payload.get("number"), "text": "x" * int(payload.get("size", 0))}
