"""What a block needs in order to run here: `:requires: npu>=2 and python>=3.12`."""

from __future__ import annotations

import re

from packaging.specifiers import SpecifierSet

from livedoctest.device import Device

COMPARISON = re.compile(r"(npu|cann|python|torch|torch_npu|tensordict)\s*((?:~=|>=|<=|==|!=|>|<)\s*\d[\w.]*(?:\.\*)?)")
KINDS = ("hardware", "simulated")


def parse(text: str) -> list[str]:
    """The single needs in `text`. Raises ValueError, which says what is known, for one that cannot be understood."""
    needs = [need.strip() for need in re.split(r"\s+and\s+", text)] if text.strip() else []
    for need in needs:
        if need not in (*KINDS, "npu") and not COMPARISON.fullmatch(need):
            raise ValueError(
                f"requires {need!r}: expected hardware, simulated, npu, or a comparison such as npu>=2, python>=3.12 "
                "or torch>=2.13 (of npu, cann, python, torch, torch_npu, tensordict), joined by `and`"
            )
    return needs


def unmet(text: str, device: Device) -> str:
    """The first need in `text` that `device` does not meet, or an empty string."""
    return next((need for need in parse(text) if not met(need, device)), "")


def met(need: str, device: Device) -> bool:
    """Whether `device` meets one need."""
    if need in KINDS:
        return device.kind == need
    if need == "npu":
        return device.count > 0
    match = COMPARISON.fullmatch(need)
    assert match
    name, wanted = match.groups()
    have = str(device.count) if name == "npu" else device.versions.get(name)
    return have is not None and SpecifierSet(wanted).contains(have, prereleases=True)
