"""What `porter.__getattr__` hands out, for type checkers: written twice, so that no module needs those below it."""

from porter.api import Ported as Ported
from porter.api import Validated as Validated
from porter.api import port as port
from porter.api import scan as scan
from porter.api import validate as validate
from porter.errors import CompileError as CompileError
from porter.errors import DeviceError as DeviceError
from porter.errors import KernelFault as KernelFault
from porter.errors import NotRunHere as NotRunHere
from porter.errors import Unusable as Unusable
from porter.validation.device_api import Device as Device
from porter.validation.device_api import Launched as Launched
from porter.validation.triton.driver import triton_device as triton_device

__version__: str
__all__: list[str]
