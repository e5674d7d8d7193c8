"""Git revisions and clusters as sources."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from crdlint import revision
from crdlint.source import SourceError

if TYPE_CHECKING:
    from pathlib import Path

    from crdlint.source import Source

ENVIRONMENT = {
    **os.environ,
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.com",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}


def git(where: Path, *arguments: str) -> str:
    found = subprocess.run(
        ["git", *arguments], cwd=where, env=ENVIRONMENT, check=True, capture_output=True, text=True
    )
    return found.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("GITHUB_BASE_REF", raising=False)
    top = tmp_path / "repo"
    (top / "config/crd").mkdir(parents=True)
    (top / "config/crd/a.yaml").write_text("a: 1\n")
    (top / "config/crd/b.yml").write_text("b: 1\n")
    (top / "config/crd/readme.txt").write_text("no\n")
    (top / "with:colon.yaml").write_text("c: 1\n")
    git(top, "init", "-q", "-b", "main")
    git(top, "add", ".")
    git(top, "commit", "-q", "-m", "one")
    git(top, "tag", "v0.1.0")
    git(top, "checkout", "-q", "-b", "feature/new/thing")
    (top / "config/crd/a.yaml").write_text("a: 2\n")
    git(top, "commit", "-q", "-am", "two")
    monkeypatch.chdir(top)
    return top


def texts(text: str) -> dict[str, bytes]:
    return {source.name: source.read() for source in revision.side(text)}


def test_revision_and_folder(repository: Path) -> None:
    del repository
    assert texts("HEAD~1:config/crd") == {
        "HEAD~1:config/crd/a.yaml": b"a: 1\n",
        "HEAD~1:config/crd/b.yml": b"b: 1\n",
    }
    assert texts("v0.1.0:config/crd/a.yaml") == {"v0.1.0:config/crd/a.yaml": b"a: 1\n"}
    assert texts("feature/new/thing:config/crd/a.yaml") == {
        "feature/new/thing:config/crd/a.yaml": b"a: 2\n"
    }
    assert set(texts("main:")) == {
        "main:config/crd/a.yaml",
        "main:config/crd/b.yml",
        "main:with:colon.yaml",
    }
    assert set(texts("main:config/crd/readme.txt")) == {"main:config/crd/readme.txt"}


def test_colons(repository: Path) -> None:
    del repository
    assert texts("with:colon.yaml") == {"with:colon.yaml": b"c: 1\n"}
    assert texts("main:with:colon.yaml") == {"main:with:colon.yaml": b"c: 1\n"}
    assert texts("HEAD^{/one}:config/crd/a.yaml") == {"HEAD^{/one}:config/crd/a.yaml": b"a: 1\n"}


def test_whole_object_names_are_shown_short(repository: Path) -> None:
    whole = git(repository, "rev-parse", "main")
    assert set(texts(f"{whole}:config/crd/a.yaml")) == {f"{whole[:12]}:config/crd/a.yaml"}
    old, _, start = revision.touched(whole, None, [])
    assert [s.name for s in old] == [f"{whole[:12]}:config/crd/a.yaml"]
    assert start == whole


def test_from_a_sub_folder(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository / "config")
    assert set(texts("main:config/crd/a.yaml")) == {"main:config/crd/a.yaml"}
    assert set(texts("main:./crd/a.yaml")) == {"main:config/crd/a.yaml"}
    assert set(texts("main:crd/a.yaml")) == {"main:config/crd/a.yaml"}
    old, new, start = revision.changed("main", None, ["crd"])
    assert [s.name for s in old] == ["main:config/crd/a.yaml", "main:config/crd/b.yml"]
    assert [s.name for s in new] == ["crd/a.yaml", "crd/b.yml"]
    assert start == "main"


def test_base_and_head(repository: Path) -> None:
    old, new, start = revision.changed(None, None, [])
    assert start == git(repository, "rev-parse", "main")[:12]
    assert old[0].read() == b"a: 1\n"
    assert new[0].name == "./config/crd/a.yaml"
    assert new[0].read() == b"a: 2\n"
    old, new, _ = revision.changed("v0.1.0", "HEAD", ["config"])
    assert new[0].name == "HEAD:config/crd/a.yaml"
    old, new, _ = revision.changed("main", None, ["config/crd/a.yaml"])
    assert len(old) == len(new) == 1


def names(sides: tuple[list[Source], list[Source], str]) -> tuple[list[str], list[str]]:
    return [source.name for source in sides[0]], [source.name for source in sides[1]]


def test_touched(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert names(revision.touched("HEAD", None, [])) == ([], [])
    assert names(revision.touched("main", None, [])) == (
        ["main:config/crd/a.yaml"],
        ["config/crd/a.yaml"],
    )
    (repository / ".gitignore").write_text("ignored.yaml\n")
    (repository / "ignored.yaml").write_text("i: 1\n")
    (repository / "config/new.yaml").write_text("n: 1\n")
    (repository / "config/crd/b.yml").unlink()
    git(repository, "mv", "with:colon.yaml", "config/moved.yaml")
    both = (
        ["HEAD:config/crd/b.yml", "HEAD:with:colon.yaml"],
        ["config/moved.yaml", "config/new.yaml"],
    )
    assert names(revision.touched("HEAD", None, [])) == both
    assert names(revision.touched("HEAD", None, ["config/crd"])) == (["HEAD:config/crd/b.yml"], [])
    assert names(revision.touched("HEAD", None, ["config/crd/b.yml"]))[0] == [both[0][0]]
    assert names(revision.touched("main", "HEAD", ["config"]))[1] == ["HEAD:config/crd/a.yaml"]
    monkeypatch.chdir(repository / "config")
    git(repository, "config", "diff.relative", "true")
    assert names(revision.touched("HEAD", None, [])) == (both[0], ["moved.yaml", "new.yaml"])


def test_touched_before_the_first_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "a.yaml").write_text("a: 1\n")
    monkeypatch.chdir(tmp_path)
    assert names(revision.touched("HEAD", None, [])) == ([], ["a.yaml"])


@pytest.mark.parametrize("head", [None, "HEAD"])
def test_touched_demands_paths_that_are_there(repository: Path, head: str | None) -> None:
    del repository
    with pytest.raises(SourceError, match=r"nothing\.yaml: is neither"):
        revision.touched("main", head, ["nothing.yaml"])


def test_the_branch_of_a_pull_request(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(repository, "branch", "release-1", "HEAD")
    monkeypatch.setenv("GITHUB_BASE_REF", "release-1")
    assert revision.default_branch() == "release-1"
    monkeypatch.delenv("GITHUB_BASE_REF")
    assert revision.default_branch() == "main"


def test_worktree(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(repository, "worktree", "add", "-q", str(tmp_path / "other"), "main")
    monkeypatch.chdir(tmp_path / "other")
    assert texts("feature/new/thing:config/crd/a.yaml").popitem()[1] == b"a: 2\n"
    assert revision.changed("v0.1.0", None, [])[1][0].read() == b"a: 1\n"


def test_link_in_git(repository: Path) -> None:
    (repository / "link.yaml").symlink_to("config/crd/a.yaml")
    (repository / "out.yaml").symlink_to("/etc/hostname")
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "three")
    assert texts("HEAD:link.yaml") == {"HEAD:link.yaml": b"a: 2\n"}
    with pytest.raises(SourceError, match="leads out of the repository"):
        texts("HEAD:out.yaml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("v9:config/crd", "git knows no revision 'v9'"),
        ("main:nothing.yaml", "main has no nothing.yaml"),
        ("missing.yaml", "missing.yaml"),
        ("--output=x:config", "git knows no revision"),
        ("cluster:", "names no CRD"),
        ("cluster:--all", "names no CRD"),
    ],
)
def test_wrong_usage(repository: Path, text: str, message: str) -> None:
    del repository
    with pytest.raises(SourceError) as caught:
        texts(text)
    assert message in str(caught.value)
    assert ";" in str(caught.value), "the message has a cure"


def test_shallow(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repository}", "shallow")
    monkeypatch.chdir(tmp_path / "shallow")
    with pytest.raises(SourceError, match="shallow"):
        texts("v0.1.0:config/crd")


def test_no_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(SourceError, match="no git repository"):
        texts("main:config")
    with pytest.raises(SourceError, match="no git repository"):
        revision.changed(None, None, [])


def test_path_outside(repository: Path) -> None:
    with pytest.raises(SourceError, match="outside of the git repository"):
        revision.changed("main", None, [str(repository.parent)])


def kubectl(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = folder / "kubectl"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def test_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kubectl(tmp_path, 'echo "kind: CustomResourceDefinition # $@"', monkeypatch)
    assert texts("cluster:widgets.example.com") == {
        "cluster:widgets.example.com": b"kind: CustomResourceDefinition"
        b" # get customresourcedefinition widgets.example.com -o json\n"
    }


def test_cluster_that_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kubectl(tmp_path, "echo warming up", monkeypatch)
    with pytest.raises(SourceError, match="kubectl printed no CustomResourceDefinition"):
        texts("cluster:widgets.example.com")


def test_cluster_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kubectl(tmp_path, "echo 'Error from server (NotFound): not found' >&2; exit 1", monkeypatch)
    with pytest.raises(SourceError, match="kubectl failed: Error from server"):
        texts("cluster:widgets.example.com")


def test_no_kubectl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SourceError, match="kubectl is not installed"):
        texts("cluster:widgets.example.com")
