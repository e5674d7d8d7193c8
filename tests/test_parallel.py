"""Work spread over processes comes back whole and in order."""

from __future__ import annotations

import os
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crdlint import parallel


@given(st.lists(st.integers(0, 1000), max_size=40), st.integers(1, 5))
def test_a_split_has_every_index_once(sizes: list[int], parts: int) -> None:
    groups = parallel.split(sizes, parts)
    assert sorted(index for group in groups for index in group) == list(range(len(sizes)))
    assert all(group == sorted(group) for group in groups)


def test_a_split_is_balanced() -> None:
    totals = [
        sum([5, 5, 5, 5, 10, 10][i] for i in group)
        for group in parallel.split([5, 5, 5, 5, 10, 10], 2)
    ]
    assert totals == [20, 20]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot fork here")
def test_results_come_in_the_order_of_the_parts() -> None:
    assert parallel.spread([1, 2, 3], lambda part: part * 10) == [10, 20, 30]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot fork here")
def test_a_dead_process_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(ChildProcessError, match="--jobs 1"):
        parallel.spread([1, 2], lambda part: os._exit(3) if part == 2 else part)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot fork here")
def test_an_interrupt_does_not_wait_for_the_others() -> None:
    def work(part: int) -> None:
        if part == 1:
            raise KeyboardInterrupt
        time.sleep(60)

    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        parallel.spread([1, 2], work)
    assert time.monotonic() - start < 30
