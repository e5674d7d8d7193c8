"""The command line of diff: its sides, and what it is told of the server."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from command import GOOD, crdlint, git, report, rules

if TYPE_CHECKING:
    from pathlib import Path

CLUSTER = GOOD.replace("Namespaced", "Cluster")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a repository whose first commit is good, and whose second is refused."""
    git(tmp_path, "init", "-q", "-b", "main")
    for text, message in ((GOOD, "one"), (CLUSTER, "two")):
        (tmp_path / "crd.yaml").write_text(text)
        git(tmp_path, "add", ".")
        git(tmp_path, "commit", "-qm", message)
    return tmp_path


def test_the_working_tree_against_a_revision(repository: Path) -> None:
    assert rules(report("diff", "--base", "HEAD", cwd=repository)) == []
    assert "crd-scope-changed" in rules(report("diff", "--base", "HEAD~1", cwd=repository))
    (repository / "crd.yaml").write_text(GOOD)
    assert "crd-scope-changed" in rules(report("diff", "--base", "HEAD", cwd=repository))


def test_a_revision_against_a_revision(repository: Path) -> None:
    (repository / "crd.yaml").unlink()
    found = report("diff", "--base", "HEAD~1", "--head", "HEAD", cwd=repository)
    assert "crd-scope-changed" in rules(found)
    assert found["findings"][0]["file"] == "HEAD:crd.yaml"


def test_the_paths_of_the_configuration_are_compared(repository: Path) -> None:
    (repository / "crdlint.toml").write_text('paths = ["other"]\n')
    (repository / "other").mkdir()
    (repository / "other" / "b.yaml").write_text(GOOD.replace("idget", "adget"))
    assert rules(report("diff", "--base", "HEAD~1", cwd=repository)) == ["crd-added"]


def test_configuration_and_ignores_hold_for_files_of_a_revision(repository: Path) -> None:
    (repository / "crdlint.toml").write_text('[rules]\ncrd-scope-changed = "off"\n')
    found = report("diff", "--base", "HEAD~1", "--head", "HEAD", cwd=repository)
    assert "crd-scope-changed" not in rules(found)
    text = '[[overrides]]\npaths = ["*.yaml"]\nrules = {crd-scope-changed = "info"}\n'
    (repository / "crdlint.toml").write_text(text)
    found = report("diff", "--base", "HEAD~1", "--head", "HEAD", cwd=repository)
    assert {f["rule"]: f["severity"] for f in found["findings"]}["crd-scope-changed"] == "info"


def test_the_configuration_of_a_revisions_file_is_found_from_a_folder_below(
    repository: Path,
) -> None:
    below = repository / "below"
    below.mkdir()
    (below / "crdlint.toml").write_text('[rules]\ncrd-scope-changed = "info"\n')
    (repository / "crdlint.toml").write_text('[rules]\ncrd-scope-changed = "warning"\n')
    found = report("diff", "--base", "HEAD~1", "--head", "HEAD", "..", cwd=below)
    severities = {f["rule"]: f["severity"] for f in found["findings"]}
    assert severities["crd-scope-changed"] == "warning"


def test_scope_may_change_while_the_crd_is_not_established(repository: Path) -> None:
    found = report("diff", "--base", "HEAD~1", "--not-established", cwd=repository)
    assert [f for f in found["findings"] if f["server"]] == []


def test_all_changes_lists_every_difference(repository: Path) -> None:
    (repository / "crd.yaml").write_text(GOOD.replace("spec: {type: object}", "spec: {type: object, description: new}"))  # fmt: skip
    assert rules(report("diff", "--base", "HEAD~1", cwd=repository)) == []
    done = crdlint("diff", "--base", "HEAD~1", "--all-changes", cwd=repository)
    assert done.returncode == 0
    assert "description" in done.stdout


@pytest.mark.parametrize(
    ("fail_on", "status"),
    [
        ("error", 1),
        ("never", 0),
        ("server-refuses", 1),
        ("gitops", 0),
        ("gitops, server-refuses", 1),
        ("server-refusal", 2),
        ("error,gitops", 2),
        ("", 2),
    ],
)
def test_fail_on_takes_a_severity_or_effects(fail_on: str, status: int, repository: Path) -> None:
    done = crdlint("diff", "--base", "HEAD~1", "--fail-on", fail_on, cwd=repository)
    assert done.returncode == status, done.stderr


def test_text_has_the_verdict_first(repository: Path) -> None:
    done = crdlint("diff", "--base", "HEAD~1", cwd=repository)
    assert done.stdout.startswith("the API server of Kubernetes 1.37 refuses this update")
    data = json.loads(
        crdlint("diff", "--base", "HEAD~1", "--format", "json", cwd=repository).stdout
    )
    assert data["findings"][0]["effects"]


def test_objects_of_the_old_side_are_tried_on_the_new(repository: Path) -> None:
    limit = "spec: {type: object, properties: {size: {type: integer, maximum: %d}}}"
    (repository / "old.yaml").write_text(GOOD.replace("spec: {type: object}", limit % 10))
    (repository / "new.yaml").write_text(GOOD.replace("spec: {type: object}", limit % 5))
    (repository / "widget.yaml").write_text(
        "apiVersion: example.com/v1\nkind: Widget\n"
        "metadata: {name: a, namespace: b}\nspec: {size: 7}\n"
    )
    found = report("diff", "old.yaml", "new.yaml", "--objects", "widget.yaml", cwd=repository)
    assert "widget.yaml" in json.dumps(found)
