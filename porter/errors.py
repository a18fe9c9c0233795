"""Errors that end a run with a sentence instead of a traceback."""

from __future__ import annotations


class Unusable(Exception):
    """Wrong usage or unusable input: the message says what and where; the exit code is 2."""


class Interrupted(Exception):
    """The user stopped the run; the message says how far it came."""


class DeviceError(Exception):
    """A kernel did not come to its end on a virtual device."""


class CompileError(DeviceError):
    """A compiler refused the source; the message is what it said."""


class NotRunHere(DeviceError):
    """Something is missing on this machine, or the device does not know an instruction; the message says which."""


class KernelFault(DeviceError):
    """The kernel did what it must not: the message names the fault, the thread and the line."""

    def __init__(self, message: str, fault: object) -> None:
        super().__init__(message)
        self.fault = fault
        """Kind, place, address and what is near it, as fields."""
