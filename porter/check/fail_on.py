"""What closes the gate; a module of its own, so that the command line need not load the rest."""

from __future__ import annotations

import enum


class FailOn(str, enum.Enum):
    """What a new finding has to be for the gate to close."""

    MANUAL = "manual"
    """Work by hand is left."""
    REVIEW = "review"
    """Any work is left."""
    HAZARD = "hazard"
    """It compiles, and 64 lanes change what it means: any work left by a rule about warps and synchronisation."""
