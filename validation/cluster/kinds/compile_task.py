"""Compiles what a case needs for the virtual devices, for workers that have no compiler."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from porter.validation.cases.case import CaseError
from porter.validation.cluster.here import here
from porter.validation.cluster.kinds.validate_task import cases_at
from porter.validation.devices import registry
from porter.validation.devices.virtual import VirtualDevice
from porter.validation.run.codec import made
from porter.validation.run.plan import Request, prepare
from porter.validation.toolchain.elsewhere import noting


def do(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the device compilers made, by what it is the answer to; what goes wrong, the case itself will say."""
    request = made(Request, payload["request"])
    request = replace(request, tree=None if request.tree is None else here(request.tree))
    path = here(payload["path"])
    with noting() as found:
        try:
            case = next((one for one in cases_at(path, path.stat().st_mtime_ns) if one.name == payload["case"]), None)
            task = prepare(case, tuple(payload["also"]), tuple(payload["devices"]), request) if case else None
        except CaseError:
            task = None
        for side in task.sides if task is not None else ():
            device = registry.device(side.device)
            if side.program is not None and isinstance(device, VirtualDevice):
                device.compile(side.program, request.build_seconds)
    packed = {key: base64.b64encode(zlib.compress(data, 1)).decode() for key, data in found.items()}
    return {"built": packed, "failed": False}
