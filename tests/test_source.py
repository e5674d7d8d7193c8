"""Sources: what paths name, in which order, and what is said when they name nothing."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

import pytest

from crdlint.source import Source, SourceError, find, listed_paths

if TYPE_CHECKING:
    from pathlib import Path


def names(*paths: str | Path, files_from: str | None = None) -> list[str]:
    return [s.name for s in find([str(p) for p in paths], files_from=files_from)]


def stdin(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("b.yaml", "a/z.yml", "a/B.JSON", "a/x.txt", "a.yaml", ".git/no.yaml", ".h/y.yaml"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_folders_are_sorted_and_joined_as_given(tree: Path) -> None:
    inside = [".h/y.yaml", "a/B.JSON", "a/z.yml", "a.yaml", "b.yaml"]
    assert names(".") == [f"./{name}" for name in inside]
    assert names("a/", "a") == ["a/B.JSON", "a/z.yml"]
    assert names(tree) == [str(tree / name) for name in inside]


def test_files_are_kept_in_the_order_given(tree: Path) -> None:
    assert names("b.yaml", "a/x.txt", "a.yaml", "b.yaml") == ["b.yaml", "a/x.txt", "a.yaml"]
    assert [s.read() for s in find(["b.yaml"])] == [b"b.yaml"]
    assert tree.name


def test_links_may_lead_in_circles(tree: Path) -> None:
    (tree / "a" / "up").symlink_to(tree)
    (tree / "a" / "self.yaml").symlink_to(tree / "b.yaml")
    (tree / "c").symlink_to(tree / "a")
    assert names("a") == [
        "a/B.JSON",
        "a/self.yaml",
        "a/up/.h/y.yaml",
        "a/up/a.yaml",
        "a/up/b.yaml",
        "a/z.yml",
    ]
    assert names(".") == [
        "./.h/y.yaml",
        "./a/B.JSON",
        "./a/self.yaml",
        "./a/z.yml",
        "./a.yaml",
        "./b.yaml",
    ]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("none.yaml", "none.yaml: does not exist; check the spelling"),
        ("b.yaml/x", "b.yaml/x: lies below something that is no folder"),
        ("broken.yaml", "broken.yaml: is a link to nothing; mend or remove"),
        ("a\0b", "is not a file name"),
        ("x" * 5000, "cannot be read (File name too long)"),
        (os.devnull, f"{os.devnull}: is a device, not a file"),
    ],
)
def test_errors_name_file_reason_and_cure(tree: Path, path: str, message: str) -> None:
    (tree / "broken.yaml").symlink_to("nowhere")
    with pytest.raises(SourceError) as caught:
        [s.read() for s in find([path])]
    assert message in str(caught.value)


def test_what_cannot_be_read_in_a_folder_does_not_hide_the_rest(tree: Path) -> None:
    (tree / "a" / "c.yaml").symlink_to("nowhere")
    assert names("a") == ["a/B.JSON", "a/c.yaml", "a/z.yml"]
    with pytest.raises(SourceError, match=r"a/c\.yaml: is a link to nothing"):
        [s.read() for s in find(["a"])]


def test_a_folder_is_no_text(tree: Path) -> None:
    with pytest.raises(SourceError, match="a: is a folder, not a file; name a file in it"):
        Source("a").read()
    assert tree.is_dir()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads all")
def test_unreadable(tree: Path) -> None:
    (tree / "b.yaml").chmod(0)
    with pytest.raises(SourceError, match="may not be read; grant read permission"):
        Source("b.yaml").read()


def test_permission_is_explained(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(SourceError, match=r"b\.yaml: may not be read; grant read permission"):
        Source("b.yaml").read()
    assert tree.is_dir()


def test_pipes_are_read(tree: Path) -> None:
    read, write = os.pipe()
    os.write(write, b"a: 1")
    os.close(write)
    (source,) = find([f"/dev/fd/{read}"])
    assert source.read() == b"a: 1"
    os.close(read)
    os.mkfifo(tree / "p.yaml")
    assert "./p.yaml" not in names(".")


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin(monkeypatch, b"a: 1\r\n")
    (source,) = find(["-"], stdin_filename="x/y.yaml")
    assert (source.name, source.read()) == ("x/y.yaml", b"a: 1\r\n")
    assert [s.name for s in find(["-"])] == ["<stdin>"]
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(SourceError, match="standard input: cannot be read"):
        source.read()


@pytest.mark.parametrize(
    ("data", "paths"),
    [
        (b"b.yaml\na\n", ["b.yaml", "a"]),
        (b"\r\nb.yaml\r\n\r\na b\xc3\xa9", ["b.yaml", "a b\u00e9"]),
        (b"a\nb\0c\0", ["a\nb", "c"]),
        (b"", []),
    ],
)
def test_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, paths: list[str]
) -> None:
    (tmp_path / "list").write_bytes(data)
    assert listed_paths(str(tmp_path / "list")) == paths
    stdin(monkeypatch, data)
    assert listed_paths("-") == paths


def test_files_from(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tree / "list").write_text("b.yaml\na\n")
    assert names("a.yaml", files_from="list") == ["a.yaml", "b.yaml", "a/B.JSON", "a/z.yml"]
    stdin(monkeypatch, b"b.yaml")
    assert names(files_from="-") == ["b.yaml"]
    with pytest.raises(SourceError, match="both the list of files and a document"):
        names("-", files_from="-")
    with pytest.raises(SourceError, match="none: does not exist"):
        names(files_from="none")


def test_other_readers() -> None:
    source = Source("HEAD:a.yaml", lambda: b"a: 1")
    assert source.read() == b"a: 1"
    assert repr(source) == "Source('HEAD:a.yaml')"
