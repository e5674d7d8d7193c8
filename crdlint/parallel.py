"""Spreads a run over processors: a static split by size over forked processes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

# Below this many bytes of input a second process costs more than it saves.
WORTHWHILE = 2_000_000

Part = TypeVar("Part")
Result = TypeVar("Result")


def split(sizes: Sequence[int], parts: int) -> list[list[int]]:
    """Split indexes into at most `parts` groups of about the same total size.

    The largest come first and each goes to the group that has least; every group is in order.
    """
    groups: list[list[int]] = [[] for _ in range(parts)]
    totals = [0] * parts
    for index in sorted(range(len(sizes)), key=lambda i: -sizes[i]):
        least = totals.index(min(totals))
        groups[least].append(index)
        totals[least] += sizes[index] + 1
    return [sorted(group) for group in groups if group]


def processors() -> int:
    """Return how many processes can run at once here; 1 where processes cannot fork."""
    if not hasattr(os, "fork"):
        return 1
    try:
        return len(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        return os.cpu_count() or 1


def spread(parts: Sequence[Part], work: Callable[[Part], Result]) -> list[Result]:
    """Run `work` on each part, the first here and each other in a forked process.

    Returns the results in the order of the parts. Results travel by pickle.

    Raises:
        ChildProcessError: a process died before it gave its result.
    """
    children = [_start(part, work) for part in parts[1:]]
    try:
        results = [work(parts[0])]
        results += [_receive(pipe) for _, pipe in children]
    except BaseException:  # an interrupt that reached this process only, too
        _stop(process for process, _ in children)
        raise
    finally:
        for process, pipe in children:
            os.close(pipe)
            os.waitpid(process, 0)
    return results


def _start(part: Part, work: Callable[[Part], Any]) -> tuple[int, int]:
    """Fork a process that works on a part; return its id and the pipe that gives the result."""
    import pickle

    receive, send = os.pipe()
    process = os.fork()
    if process:
        os.close(send)
        return process, receive
    status = 1
    try:
        os.close(receive)
        with os.fdopen(send, "wb") as out:
            pickle.dump(work(part), out, protocol=pickle.HIGHEST_PROTOCOL)
        status = 0
    except (KeyboardInterrupt, BrokenPipeError):
        status = 130
    finally:
        # Nothing of the parent's (buffers, handlers) may run a second time here.
        os._exit(status)


def _stop(processes: Iterable[int]) -> None:
    import contextlib
    import signal

    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGTERM)


def _receive(pipe: int) -> Any:
    import pickle

    with os.fdopen(os.dup(pipe), "rb") as stream:
        try:
            return pickle.load(stream)  # noqa: S301 - from a process of our own
        except (EOFError, pickle.UnpicklingError):
            raise ChildProcessError(
                "a worker process died before it gave its result; try again with --jobs 1"
            ) from None
