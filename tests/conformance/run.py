"""Compare the simulated NPU with the CPU over PyTorch's operator database.

    python -m npusim tests/conformance/run.py [operator ...]

Without operators: all; then the figures are written to `result.json`, from which the reference page is checked.
Exits 1 if fewer rows agree than `AT_LEAST`, or if one crashed.
"""

from __future__ import annotations

import collections
import datetime
import json
import sys
import warnings
from importlib.metadata import version
from pathlib import Path

import torch
from children import Row, run
from differences import REASON_OF
from rows import BACKWARD, DTYPES, OPERATORS

import npusim

AT_LEAST = 1985
RESULT = Path(__file__).with_name("result.json")
OUTCOMES = ("agrees", "differs", "no sample", "crashed")


def main(operators: list[str]) -> int:
    """The exit status."""
    if unknown := sorted(set(operators) - set(OPERATORS)):
        print(f"not in the database: {', '.join(unknown)}", file=sys.stderr)
        return 2
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)  # the children are forked, and there is one a core
    rows = list(run(operators or list(OPERATORS)))
    print_table(rows)
    print_changes(rows)
    agreeing, crashed = count(rows, "agrees"), count(rows, "crashed")
    print(f"{agreeing:,} of {len(rows):,} rows agree")
    if operators:
        return int(agreeing + count(rows, "no sample") < len(rows))
    RESULT.write_text(json.dumps(figures(rows), indent=2) + "\n")
    return int(agreeing < AT_LEAST or crashed > 0)


def count(rows: list[Row], outcome: str) -> int:
    return sum(row.outcome == outcome for row in rows)


def print_table(rows: list[Row]) -> None:
    """Outcomes by kind of row."""
    print(f"{'':<10}", *(f"{outcome:>10}" for outcome in OUTCOMES))
    for kind in (*DTYPES, BACKWARD):
        counted = collections.Counter(row.outcome for row in rows if row.name.endswith(f":{kind}"))
        print(f"{kind:<10}", *(f"{counted[outcome]:>10}" for outcome in OUTCOMES))


def print_changes(rows: list[Row]) -> None:
    """What `differences.py` does not know, or knows and is no longer so."""
    for row in rows:
        if row.outcome in ("differs", "crashed") and row.name not in REASON_OF:
            print(f"newly {row.outcome}: {row.name}: {row.text}")
        elif row.outcome == "agrees" and row.name in REASON_OF:
            print(f"newly agrees: {row.name}, known to differ: {REASON_OF[row.name]}")


def figures(rows: list[Row]) -> dict[str, object]:
    """The result, stable but for what was measured."""
    reasons = collections.Counter(REASON_OF.get(row.name, "not known") for row in rows if row.outcome == "differs")
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "device": npusim.SOC_NAME,
        "cann": npusim.CANN_VERSION,
        **{name.replace("-", "_"): version(name) for name in ("torch", "torch-npu")},
        "rows": len(rows),
        **{outcome.replace(" ", "_"): count(rows, outcome) for outcome in OUTCOMES},
        "reasons": dict(sorted(reasons.items())),
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
