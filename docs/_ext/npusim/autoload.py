"""The entry point in the group `torch.backends`: torch calls it in every process that imports torch."""

import os


def autoload() -> None:
    """With NPUSIM=1, import torch_npu and install the kernels on the simulated device; otherwise do nothing."""
    if os.environ.get("NPUSIM") != "1":
        return
    from .library import runtime

    runtime()  # first: torch_npu's own error for a missing runtime names neither cause nor remedy
    import torch_npu  # noqa: F401  (loading it registers the device)

    from .kernels import install

    install()
