"""Run crdlint as `python -m crdlint`."""

from crdlint.cli import main

if __name__ == "__main__":
    main()
