"""Where derived data of this user is kept."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """$PORTER_CACHE_DIR, else `porter` in the user's cache folder; it need not exist."""
    own = os.environ.get("PORTER_CACHE_DIR")
    shared = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(own) if own else Path(shared).expanduser() / "porter"
