"""The hash of a line by which GitHub follows an alert when lines move.

The rule is that of github/codeql-action, src/fingerprints.ts: over the UTF-16 units of the file
without spaces and tabs, every line end as LF, then one unit 65535 and zeros, the 100 units from the
start of a line are folded by `hash * 37 + unit` modulo 2^64; a count tells equal hashes apart.
"""

from __future__ import annotations

import sys
from array import array

WINDOW = 100
BASE = 37
MASK = (1 << 64) - 1
END = 65535
_DROPPED = {ord(" "): None, ord("\t"): None}


def line_hashes(lines: list[str]) -> list[str]:
    """Return the hash of each line of a file, given all its lines as `split_lines` does."""
    units = array("H")
    starts = []
    for line in lines:
        starts.append(len(units))
        units.frombytes(f"{line.translate(_DROPPED)}\n".encode("utf-16-le", "surrogatepass"))
    if sys.byteorder == "big":
        units.byteswap()
    units.pop()  # the last line has no end
    units.append(END)
    units.extend([0] * WINDOW)
    sums = [0]  # sums[n] folds the first n units
    total = 0
    for unit in units:
        total = (total * BASE + unit) & MASK
        sums.append(total)
    before = pow(BASE, WINDOW, MASK + 1)
    seen: dict[int, int] = {}
    hashes = []
    for start in starts:
        value = (sums[start + WINDOW] - sums[start] * before) & MASK
        seen[value] = seen.get(value, 0) + 1
        hashes.append(f"{value:x}:{seen[value]}")
    return hashes
