"""The stored command: storage versions from git, through moves, tags and shallow clones."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from test_diff_revision import ENVIRONMENT, git

from crdlint import history

NAME = "widgets.example.com"
ROOT = Path(__file__).parents[1]


def crd(*versions: str) -> str:
    """Return a CRD: `v1!` is the storage version, `v1-` one that is not served."""
    head = (
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
        f"metadata:\n  name: {NAME}\nspec:\n  group: example.com\n"
        "  names: {kind: Widget, plural: widgets}\n  scope: Namespaced\n  versions:\n"
    )
    return head + "".join(
        f"  - name: {version.rstrip('!-')}\n    schema:\n      openAPIV3Schema:\n"
        "        type: object\n        description: |\n          served: nothing\n\n"
        "          storage: neither\n"
        f"    served: {'false' if '-' in version else 'true'}\n"
        f"    storage: {'true' if '!' in version else 'false'}\n"
        for version in versions
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Make a repository in which v1alpha1 became v1beta1 and then v1, and the file moved."""
    top = tmp_path / "repo"
    top.mkdir()
    git(top, "init", "-q", "-b", "main")
    steps = [
        ("deploy/crd.yaml", ["v1alpha1!"], "v0.1.0"),
        ("deploy/crd.yaml", ["v1alpha1", "v1beta1!"], "v0.2.0"),
        ("config/widgets.yaml", ["v1alpha1-", "v1beta1!", "v1"], "v0.10.0-rc.1"),
        ("config/widgets.yaml", ["v1beta1", "v1!"], "v0.10.0"),
        ("config/widgets.yaml", ["v1!"], "v1.0.0"),
    ]
    for path, versions, tag in steps:
        for old in top.glob("*/*.yaml"):
            old.unlink()
        (top / path).parent.mkdir(exist_ok=True)
        (top / path).write_text("kind: ConfigMap\napiVersion: v1\n---\n" + crd(*versions))
        git(top, "add", "-A")
        git(top, "commit", "-q", "-m", tag)
        git(top, "tag", tag)
    return top


def run(where: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "crdlint", *args],
        cwd=where,
        env={**ENVIRONMENT, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


def report(where: Path, *args: str) -> dict[str, Any]:
    done = run(where, "stored", *args, "--format", "json")
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout)["crds"]
    return dict(found)


def test_a_history_is_followed_through_a_move(repository: Path) -> None:
    found = report(repository, NAME)
    assert [s["version"] for s in found["storage"]] == ["v1alpha1", "v1beta1", "v1"]
    assert [s["path"] for s in found["steps"]][:3] == [
        "deploy/crd.yaml",
        "deploy/crd.yaml",
        "config/widgets.yaml",
    ]
    assert found["path"] == "config/widgets.yaml"


def test_a_path_is_as_good_as_a_name(repository: Path) -> None:
    assert report(repository / "config", "widgets.yaml") == report(repository, NAME)


def test_clusters_meet_refusals_on_the_way(repository: Path) -> None:
    found = report(repository, NAME, "--tags", "v*")
    labels = [step["revision"] for step in found["steps"]]
    assert labels == ["v0.1.0", "v0.2.0", "v0.10.0-rc.1", "v0.10.0", "v1.0.0"]
    first = found["clusters"][0]
    assert first["refused"] == [
        {"revision": "v0.10.0", "missing": ["v1alpha1"]},
        {"revision": "v1.0.0", "missing": ["v1beta1"]},
    ]
    assert first["storedVersions"] == ["v1"]
    before = report(repository, NAME, "--tags", "v0.[12].0")
    assert before["storedVersions"] == ["v1alpha1", "v1beta1"]
    assert before["clusters"][1]["storedVersions"] == ["v1beta1"]


def test_a_range_starts_where_it_says(repository: Path) -> None:
    found = report(repository, NAME, "--revisions", "v0.2.0..v0.10.0")
    assert [s["version"] for s in found["storage"]] == ["v1beta1", "v1"]
    quiet = report(repository, NAME, "--revisions", "v1.0.0..main")
    assert [s["version"] for s in quiet["storage"]] == ["v1"]


def test_text_says_what_to_pass_on(repository: Path) -> None:
    text = run(repository, "stored", NAME, "--revisions", "v0.10.0-rc.1").stdout
    assert "v1alpha1 is storage from" in text
    assert "possible in all: --stored-versions v1alpha1,v1beta1" in text


def test_a_shallow_clone_says_so(repository: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--depth", "2", f"file://{repository}", "clone")
    found = report(tmp_path / "clone", NAME)
    assert found["shallow"]
    assert [s["version"] for s in found["storage"]] == ["v1"]


def test_diff_takes_stored_versions_from_history(repository: Path) -> None:
    (repository / "new.yaml").write_text(crd("v1beta1", "v1!"))
    args = ("diff", "v0.10.0-rc.1:config/widgets.yaml", "new.yaml", "--format", "json")
    fields = {
        entry["field"]
        for finding in json.loads(run(repository, *args, "--stored-from-history").stdout)[
            "findings"
        ]
        for entry in finding["server"] or ()
    }
    assert "status.storedVersions[0]" in fields
    plain = json.loads(run(repository, *args).stdout)["findings"]
    assert not [f for f in plain for entry in f["server"] or () if "stored" in entry["field"]]


def test_versions_are_read_however_they_are_written() -> None:
    text = crd("v1alpha1", "v1!")
    expected = ["v1alpha1", "v1"]
    windows = text.replace("\n", "\r\n").encode()
    flow = json.dumps(
        {
            "kind": "List",
            "apiVersion": "v1",
            "items": [
                {
                    "apiVersion": "apiextensions.k8s.io/v1beta1",
                    "kind": "CustomResourceDefinition",
                    "metadata": {"name": NAME},
                    "spec": {"version": "v1alpha1"},
                }
            ],
        }
    ).encode()
    first = text.replace("  - name: v1\n    schema:\n", "  - schema:\n", 1).replace(
        "    served: true\n    storage: true", "    name: v1\n    served: true\n    storage: true"
    )
    for data in (text.encode(), windows, first.encode()):
        found = history.versions_in(data, NAME)
        assert [v.name for v in found] == expected
        assert [v.storage for v in found] == [False, True]
        assert all(v.served for v in found)
    (only,) = history.versions_in(flow, NAME)
    assert (only.name, only.storage) == ("v1alpha1", True)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ((NAME, "--revisions", "nowhere"), "nowhere"),
        ((NAME, "--tags", "x*"), "matches no tag"),
        (("gadgets.example.com",), "is in no YAML file"),
        ((NAME, "--tags", "v*", "--revisions", "main"), "not both"),
    ],
)
def test_wrong_usage_is_2(repository: Path, args: tuple[str, ...], words: str) -> None:
    done = run(repository, "stored", *args)
    assert done.returncode == 2
    assert words in done.stderr


def test_outside_of_git_is_2(tmp_path: Path) -> None:
    done = run(tmp_path, "stored", NAME)
    assert done.returncode == 2
    assert "no git repository" in done.stderr


def commit(top: Path, files: dict[str, str], message: str) -> None:
    """Commit these files as all that there are."""
    for old in top.glob("*.yaml"):
        old.unlink()
    for name, text in files.items():
        (top / name).write_text(text)
    git(top, "add", "-A")
    git(top, "commit", "-q", "--allow-empty", "-m", message)


def test_a_gap_hides_nothing_from_before_it(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    both = crd("v1alpha1", "v1!")
    commit(tmp_path, {"a.yaml": crd("v1alpha1!", "v1")}, "came")
    commit(tmp_path, {"a.yaml": crd("v1alpha1!", "v1") + "  x: [\n"}, "no YAML")
    commit(tmp_path, {"a.yaml": both}, "mended")
    commit(tmp_path, {"b.yaml": f"# {NAME} is gone\n"}, "gone")
    commit(tmp_path, {"b.yaml": "# nothing\n"}, "quite gone")
    commit(tmp_path, {"c.yaml": both}, "back")
    found = report(tmp_path, NAME)
    assert [span["version"] for span in found["storage"]] == ["v1alpha1", "v1"]
    assert found["storedVersions"] == ["v1alpha1", "v1"]


def test_a_file_that_moves_there_and_back(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    for name, version in (("a", "v1alpha1!"), ("b", "v1alpha1!"), ("a", "v1!"), ("b", "v1!")):
        commit(tmp_path, {f"{name}.yaml": crd(version, "v2")}, name)
    assert [span["version"] for span in report(tmp_path, NAME)["storage"]] == ["v1alpha1", "v1"]


def test_what_git_cannot_say_is_said(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "a.yaml").write_text(crd("v1!"))
    done = run(tmp_path, "stored", "a.yaml")
    assert done.returncode == 2
    assert "no commit yet" in done.stderr
    commit(tmp_path, {"a.yaml": crd("v1!")}, "came")
    done = run(tmp_path, "stored", NAME, "--revisions", "HEAD...HEAD")
    assert done.returncode == 2
    assert "write HEAD..HEAD" in done.stderr


def test_tags_of_a_shallow_clone_are_not_all(repository: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repository}", "shallow")
    done = run(tmp_path / "shallow", "stored", NAME, "--tags", "v*")
    assert "fetch --unshallow" in done.stdout
