"""The versions of ROCm whose headers the tables were derived from: the oldest and the newest."""

from __future__ import annotations

OLDEST_ROCM = "5.2"
NEWEST_ROCM = "10.1"
