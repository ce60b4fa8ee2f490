"""What the programs behind test_hccl.py and test_processes.py share: checks by name, and what failed in each."""

import traceback

CHECKS = {}


def check(function):
    """Register a function that raises if something is wrong."""
    CHECKS[function.__name__] = function
    return function


def outcomes():
    """Run all checks in their order; the traceback of each that failed, None for the others."""
    return {name: outcome(function) for name, function in CHECKS.items()}


def outcome(function):
    try:
        function()
    except Exception:
        return traceback.format_exc()
    return None
