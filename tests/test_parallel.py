"""Work spread over processes comes back whole and in order."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from command import GOOD, ROOT, crdlint
from hypothesis import given
from hypothesis import strategies as st

from crdlint import parallel

if TYPE_CHECKING:
    from pathlib import Path


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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot fork here")
def test_checks_over_all_crds_run_where_only_other_processes_saw_one(tmp_path: Path) -> None:
    text = GOOD + "# " + "x" * parallel.WORTHWHILE + "\n"
    (tmp_path / "a.yaml").write_text("# " + "x" * 3 * len(text) + "\n")  # for the first process
    (tmp_path / "b.yaml").write_text(f"{text}---\n{text}")
    one, two = (crdlint("lint", ".", "--jobs", jobs, cwd=tmp_path) for jobs in "12")
    assert "crd-repeated" in one.stdout
    assert (one.stdout, one.returncode) == (two.stdout, two.returncode)


def test_files_without_a_crd_need_no_checks(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("kind: Pod\n")
    code = (
        "import sys; from crdlint import cli; sys.argv = ['crdlint', 'lint', 'a.yaml']\n"
        "try: cli.main()\n"
        "finally: print('crdlint.engine' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=True,
        text=True,
    )
    assert done.stdout.splitlines()[-1] == "False"
