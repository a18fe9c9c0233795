"""JSON Schemas of the documents that porter writes."""

from __future__ import annotations

import importlib.resources
import json
from typing import Any

NAMES = ("report", "manifest", "rules", "doctor", "check", "baseline", "build", "validate", "bench")


def load(name: str) -> dict[str, Any]:
    """The schema of one kind of document."""
    path = importlib.resources.files(__name__) / f"{name}.json"
    document: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return document
