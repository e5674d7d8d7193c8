"""Sort as Go's sort.Slice does: what compares equal may change places, in a way that is fixed."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MAX_INSERTION = 12
_NINTHER = 50  # from this length on nine elements, not three, choose the pivot
_MAX_STEPS = 5
_UNKNOWN, _INCREASING, _DECREASING = 0, 1, 2
_MASK = (1 << 64) - 1


def order(keys: list[Any]) -> list[int]:
    """Return the indices of keys in the order in which sort.Slice leaves them.

    A key that is not a number (NaN) comes before none and after none.
    """
    indices = list(range(len(keys)))
    stable = len(keys) <= _MAX_INSERTION or len(set(keys)) == len(keys)
    if stable and all(key == key for key in keys):  # noqa: PLR0124 - NaN
        return sorted(indices, key=keys.__getitem__)
    _Slice(keys, indices).sort(0, len(keys), len(keys).bit_length())
    return indices


class _Slice:
    """Indices that are being put into the order of their keys. Source: pdqsort_func."""

    __slots__ = ("at", "keys")

    def __init__(self, keys: list[Any], indices: list[int]) -> None:
        self.keys = keys
        self.at = indices

    def less(self, i: int, j: int) -> bool:
        return bool(self.keys[self.at[i]] < self.keys[self.at[j]])

    def swap(self, i: int, j: int) -> None:
        self.at[i], self.at[j] = self.at[j], self.at[i]

    def sort(self, a: int, b: int, limit: int) -> None:
        balanced = partitioned = True
        while True:
            length = b - a
            if length <= _MAX_INSERTION:
                self.insertion(a, b)
                return
            if limit == 0:
                self.heap(a, b)
                return
            if not balanced:
                self.shuffle(a, b)
                limit -= 1
            pivot, hint = self.pivot(a, b)
            if hint == _DECREASING:
                self.at[a:b] = self.at[a:b][::-1]
                pivot = (b - 1) - (pivot - a)
                hint = _INCREASING
            if balanced and partitioned and hint == _INCREASING and self.nearly_sorted(a, b):
                return
            if a > 0 and not self.less(a - 1, pivot):
                a = self.partition_equal(a, b, pivot)
                continue
            middle, partitioned = self.partition(a, b, pivot)
            left, right = middle - a, b - middle
            balanced = min(left, right) >= length // 8
            if left < right:
                self.sort(a, middle, limit)
                a = middle + 1
            else:
                self.sort(middle + 1, b, limit)
                b = middle

    def insertion(self, a: int, b: int) -> None:
        for i in range(a + 1, b):
            self.sink(i, a)

    def sink(self, j: int, first: int) -> None:
        """Move an element towards the front until it is in order."""
        while j > first and self.less(j, j - 1):
            self.swap(j, j - 1)
            j -= 1

    def heap(self, a: int, b: int) -> None:
        size = b - a
        for i in range((size - 1) // 2, -1, -1):
            self.sift(i, size, a)
        for i in range(size - 1, -1, -1):
            self.swap(a, a + i)
            self.sift(0, i, a)

    def sift(self, root: int, end: int, first: int) -> None:
        while True:
            child = 2 * root + 1
            if child >= end:
                return
            if child + 1 < end and self.less(first + child, first + child + 1):
                child += 1
            if not self.less(first + root, first + child):
                return
            self.swap(first + root, first + child)
            root = child

    def shuffle(self, a: int, b: int) -> None:
        """Break up a pattern that the pivots fell for; the numbers are random but fixed."""
        length = b - a
        random = length
        middle = a + (length // 4) * 2
        for i in range(middle - 1, middle + 2):
            random ^= random << 13 & _MASK
            random ^= random >> 7
            random ^= random << 17 & _MASK
            other = random & ((1 << length.bit_length()) - 1)
            self.swap(i, a + (other - length if other >= length else other))

    def pivot(self, a: int, b: int) -> tuple[int, int]:
        length = b - a
        i, j, k = (a + length // 4 * part for part in (1, 2, 3))
        swaps = 0
        most = 3
        if length >= _NINTHER:
            most = 12
            i, j, k, swaps = self.medians(i, j, k)
        j, more = self.median(i, j, k)
        swaps += more
        if swaps == 0:
            return j, _INCREASING
        return j, _DECREASING if swaps == most == 12 else _UNKNOWN

    def medians(self, i: int, j: int, k: int) -> tuple[int, int, int, int]:
        found = [self.median(at - 1, at, at + 1) for at in (i, j, k)]
        return found[0][0], found[1][0], found[2][0], sum(swaps for _, swaps in found)

    def median(self, a: int, b: int, c: int) -> tuple[int, int]:
        """Return which of three elements is in the middle, and how many swaps told."""
        swaps = 0
        if self.less(b, a):
            a, b, swaps = b, a, swaps + 1
        if self.less(c, b):
            b, c, swaps = c, b, swaps + 1
        if self.less(b, a):
            a, b, swaps = b, a, swaps + 1
        return b, swaps

    def nearly_sorted(self, a: int, b: int) -> bool:
        """Put a few elements in order, and tell whether that was all there was to do."""
        i = a + 1
        for _ in range(_MAX_STEPS):
            while i < b and not self.less(i, i - 1):
                i += 1
            if i == b:
                return True
            if b - a < _NINTHER:
                return False
            self.swap(i, i - 1)
            if i - a >= 2:
                self.sink(i - 1, 0)
            if b - i >= 2:
                j = i + 1
                while j < b and self.less(j, j - 1):
                    self.swap(j, j - 1)
                    j += 1
        return False

    def partition(self, a: int, b: int, pivot: int) -> tuple[int, bool]:
        self.swap(a, pivot)
        i, j = self.close(a, a + 1, b - 1)
        done = i > j
        while i <= j:
            self.swap(i, j)
            i, j = self.close(a, i + 1, j - 1)
        self.swap(j, a)
        return j, done

    def close(self, pivot: int, i: int, j: int) -> tuple[int, int]:
        """Skip what is on the right side of the pivot already, from both ends."""
        while i <= j and self.less(i, pivot):
            i += 1
        while i <= j and not self.less(j, pivot):
            j -= 1
        return i, j

    def partition_equal(self, a: int, b: int, pivot: int) -> int:
        """Gather what equals the pivot, and return where the greater elements begin."""
        self.swap(a, pivot)
        i, j = a + 1, b - 1
        while True:
            while i <= j and not self.less(a, i):
                i += 1
            while i <= j and self.less(a, j):
                j -= 1
            if i > j:
                return i
            self.swap(i, j)
            i += 1
            j -= 1
