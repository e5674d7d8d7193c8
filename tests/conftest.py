"""What all tests share: `--update` writes the goldens anew."""

from __future__ import annotations

from pathlib import Path

import pytest

GOLDENS = Path(__file__).parent / "goldens"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="write goldens instead of comparing")


class Golden:
    """Compares a text with the file of its name in tests/goldens, or writes it with --update."""

    def __init__(self, *, update: bool) -> None:
        self.update = update

    def __call__(self, name: str, text: str) -> None:
        file = GOLDENS / name
        if self.update:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8", newline="\n")
        assert file.exists(), f"write it with: pytest --update {name}"
        assert text == file.read_text("utf-8"), "if this is meant: pytest --update"


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    return Golden(update=bool(request.config.getoption("--update")))
