"""The one error of this package."""


class SetupError(RuntimeError):
    """The simulated device cannot be set up here; the message says why and what to do about it."""
