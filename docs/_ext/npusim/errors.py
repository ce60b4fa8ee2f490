"""The error and the warning of this package."""


class SetupError(RuntimeError):
    """The simulated device cannot be set up here; the message says why and what to do about it."""


class HardwareWarning(UserWarning):
    """Computed on the simulated device, but refused on hardware; the message says by what."""
