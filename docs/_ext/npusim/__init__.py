"""npusim: the real torch_npu on a simulated Ascend runtime.

Importing this package imports neither torch nor torch_npu. `python -m npusim script.py` runs a program on
simulated NPUs; `environment()` gives the variables that do the same for any process.
"""

from .counters import count, counters
from .environment import environment
from .errors import HardwareWarning, SetupError
from .facts import CANN_VERSION, SOC_NAME
from .versions import check_versions

__all__ = [
    "CANN_VERSION",
    "SOC_NAME",
    "HardwareWarning",
    "SetupError",
    "check_versions",
    "count",
    "counters",
    "environment",
]
