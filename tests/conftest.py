"""Property tests: no time limit per example, as machines are shared; the same examples in every CI run."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile("porter", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("porter"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "porter")
