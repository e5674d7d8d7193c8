"""Run crdlint: the entry point of the `crdlint` program and of `python -m crdlint`."""

from __future__ import annotations

import sys

INTERRUPTED = 130


def main() -> None:
    """Run the command line; an interrupt is no traceback, not even while modules are loaded."""
    try:
        from crdlint.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
