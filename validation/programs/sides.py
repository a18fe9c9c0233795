"""The two sides of a port as programs see them: the runtime library, its versions, the device below."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from pathlib import Path

from porter.errors import Unusable

_DEVICES = Path(__file__).parent.parent / "devices"
CORE, PTX, GFX942 = (_DEVICES / name for name in ("core", "ptx", "gfx942"))
RUNTIME = Path(__file__).parent / "runtime"
NAMES = Path(__file__).parent / "names"


class Alike(enum.Enum):
    """What both sides of a comparison are built to have in common, where the vendors' own differ."""

    GENERATOR = "one generator of random numbers"
    """In device code: a shared one takes the place of cuRAND's and rocRAND's."""
    ROUNDING = "products and sums rounded apart"
    """Which product of a sum is fused with it is each compiler's choice; here none is, on the device."""


@dataclass(frozen=True)
class Side:
    """One vendor's runtime on the virtual device that fits it."""

    name: str
    device: str
    lanes: int
    folder: Path
    """The device's own C files."""
    library: str
    versions: tuple[tuple[str, str], ...]
    """What follows the library's name, and the list of names that goes with it."""
    define: str
    multiprocessors: int
    """Of the GPU that the device stands for."""
    also: tuple[tuple[str, str], ...] = ()
    """Other libraries whose calls are in it: their names, and what follows those (`{}`: the version)."""
    also_names: tuple[str, ...] = ()
    """Lists of their names."""

    def files(self, version: str) -> tuple[str, ...]:
        """Names of the shared object, its own first."""
        major = version.partition(".")[0]
        return (f"{self.library}.{version}", *(f"{name}.{suffix.format(major)}" for name, suffix in self.also))

    @property
    def sources(self) -> tuple[Path, ...]:
        """C files of the library beside the device's runtime; those of the other side left out."""
        other = {"cuda": "hip", "hip": "cuda"}[self.name]
        return tuple(path for path in sorted(RUNTIME.glob("*.c")) if not path.stem.endswith(f"_{other}"))

    @property
    def device_sources(self) -> tuple[Path, ...]:
        """The runtime that translated kernels call."""
        return (*sorted(CORE.glob("*.c"), reverse=True), *sorted(self.folder.glob("*.c")))


CUDA = Side(
    "cuda",
    "ptx",
    32,
    PTX,
    "libcudart.so",
    (("11.0", "cuda-11"), ("12", "cuda-12"), ("13", "cuda-13")),
    "SIDE_CUDA",
    108,
    also=(("libcuda.so", "1"), ("libnvrtc.so", "{}")),
    also_names=("cuda-driver",),
)
HIP = Side(
    "hip",
    "gfx942",
    64,
    GFX942,
    "libamdhip64.so",
    (("5", "hip-5"), ("6", "hip-6"), ("7", "hip-6")),
    "SIDE_HIP",
    304,
    also=(("libhiprtc.so", "{}"),),
)


def side_by_device(name: str) -> Side:
    """The side of a virtual device; Unusable for another name."""
    found = next((side for side in SIDES.values() if side.device == name), None)
    if found is None:
        raise Unusable(f"--device {name}: there are {', '.join(side.device for side in SIDES.values())}")
    return found


SIDES = {side.name: side for side in (CUDA, HIP)}
