"""Baselines, findings new since a revision, and acknowledgements of diff."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from command import BAD, GOOD, UNTYPED, crdlint, git, report, rules

from crdlint import acknowledge, api, baseline
from crdlint.acknowledge import Acknowledgement
from crdlint.finding import fingerprint
from crdlint.policy import Policy
from crdlint.source import Source

if TYPE_CHECKING:
    from pathlib import Path

    from crdlint.api import Report

TWO = UNTYPED.rstrip() + "\n          other: {type: objekt}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a CRD of two findings, and a baseline of them."""
    (tmp_path / "a.yaml").write_text(TWO)
    done = crdlint("lint", "a.yaml", "--baseline", "known.json", "--update-baseline", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "known.json has 2 findings now" in done.stderr
    return tmp_path


def known(folder: Path, *args: str) -> dict[str, Any]:
    return report("lint", *(args or (".",)), "--baseline", "known.json", cwd=folder)


def test_the_file_is_readable_sorted_and_stable(folder: Path) -> None:
    text = (folder / "known.json").read_text()
    data = json.loads(text)
    assert data["version"] == 1
    assert [entry["rule"] for entry in data["findings"]] == ["type-not-supported", "type-required"]
    assert {entry["file"] for entry in data["findings"]} == {"a.yaml"}
    assert len(text.splitlines()) == 8
    crdlint("lint", "a.yaml", "--baseline", "known.json", "--update-baseline", "-q", cwd=folder)
    assert (folder / "known.json").read_text() == text


def test_known_findings_do_not_count(folder: Path) -> None:
    found = known(folder)
    assert rules(found) == []
    assert found["summary"]["suppressed"] == 2


def test_a_baseline_survives_moves_and_reordering(folder: Path) -> None:
    text = TWO.replace("          spec: {}\n", "") + "          spec: {}\n"
    (folder / "a.yaml").unlink()
    (folder / "deep").mkdir()
    (folder / "deep" / "b.yaml").write_text("# moved\n---\n" + text)
    assert rules(known(folder)) == []
    assert fingerprint("r", "c", "v1", "spec.versions[0].additionalPrinterColumns[1]", "m") == (
        fingerprint("r", "c", "v1", "spec.versions[3].additionalPrinterColumns[0]", "m")
    )


def test_a_new_finding_counts_even_if_an_equal_one_is_known(folder: Path) -> None:
    (folder / "a.yaml").write_text(TWO + "          third: {type: objekt}\n")
    assert rules(known(folder)) == ["type-not-supported"]
    (folder / "b.yaml").write_text(TWO.replace("other: {type: objekt}", ""))
    (folder / "a.yaml").write_text(TWO)
    found = known(folder)  # the same CRD twice: each finding is known once
    assert rules(found).count("type-required") == 1
    assert found["summary"]["suppressed"] == 2


def test_entries_that_match_nothing_are_reported(folder: Path) -> None:
    (folder / "a.yaml").write_text(UNTYPED)
    found = known(folder)
    assert rules(found) == ["unused-baseline-entry"]
    (finding,) = found["findings"]
    assert finding["file"] == "known.json"
    assert finding["line"] == 5
    assert finding["severity"] == "info"
    assert "type-not-supported" in finding["message"]
    crdlint("lint", "a.yaml", "--baseline", "known.json", "--update-baseline", cwd=folder)
    assert rules(known(folder)) == []
    assert len(json.loads((folder / "known.json").read_text())["findings"]) == 1


def test_entries_of_files_that_the_run_did_not_read_are_left_alone(folder: Path) -> None:
    (folder / "b.yaml").write_text(BAD.replace("widgets", "gadgets").replace("Widget", "Gadget"))
    assert rules(known(folder, "b.yaml")) == ["type-not-supported"]
    crdlint("lint", "b.yaml", "--baseline", "known.json", "--update-baseline", cwd=folder)
    assert rules(known(folder)) == []
    (folder / "a.yaml").unlink()
    assert set(rules(known(folder, "b.yaml"))) == {"unused-baseline-entry"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[",
        "[]",
        '{"version": 2, "findings": []}',
        '{"version": 1, "findings": [{}]}',
        '{"version": 1, "findings": [1]}',
        "[" * 100_000,
    ],
)
def test_a_broken_baseline_is_a_clear_error(text: str, tmp_path: Path) -> None:  # fmt: skip
    (tmp_path / "a.yaml").write_text(GOOD)
    (tmp_path / "known.json").write_text(text)
    done = crdlint("lint", "a.yaml", "--baseline", "known.json", cwd=tmp_path)
    assert done.returncode == 2
    assert "known.json" in done.stderr


def test_wrong_usage_of_baselines(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(GOOD)
    done = crdlint("lint", "a.yaml", "--baseline", "no.json", cwd=tmp_path)
    assert done.returncode == 2
    assert "--update-baseline" in done.stderr
    done = crdlint("lint", "a.yaml", "--update-baseline", cwd=tmp_path)
    assert done.returncode == 2
    assert "--baseline FILE" in done.stderr


def test_the_configuration_names_a_baseline(folder: Path) -> None:
    (folder / "crdlint.toml").write_text('baseline = "known.json"\n')
    assert rules(report("lint", "a.yaml", cwd=folder)) == []
    assert rules(report("lint", str(folder / "a.yaml"), cwd=folder.parent)) == []
    assert len(rules(report("lint", "a.yaml", "--no-config", cwd=folder))) == 2


def test_new_since_shows_what_a_revision_did_not_have(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "a.yaml").write_text(UNTYPED)
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "one")
    assert rules(report("lint", ".", "--new-since", "HEAD", cwd=tmp_path)) == []
    (tmp_path / "a.yaml").write_text("# moved down\n" + TWO)
    (tmp_path / "b.yaml").write_text(BAD.replace("idget", "adget"))
    found = report("lint", ".", "--new-since", "HEAD", cwd=tmp_path)
    assert rules(found) == ["type-not-supported", "type-not-supported"]
    assert found["summary"]["suppressed"] == 1
    (tmp_path / "list").write_text("a.yaml\n")
    args = ("--files-from", "list", "--new-since", "HEAD")
    assert rules(report("lint", *args, cwd=tmp_path)) == ["type-not-supported"]


def test_new_since_follows_files_that_were_renamed(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "a.yaml").write_text(UNTYPED)
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "one")
    git(tmp_path, "mv", "a.yaml", "b.yaml")
    assert rules(report("lint", "b.yaml", "--new-since", "HEAD", cwd=tmp_path)) == []


def test_wrong_usage_of_new_since(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(GOOD)
    done = crdlint("lint", "a.yaml", "--new-since", "HEAD", cwd=tmp_path)
    assert done.returncode == 2
    assert "no git repository" in done.stderr
    git(tmp_path, "init", "-q")
    done = crdlint("lint", "a.yaml", "--new-since", "nowhere", cwd=tmp_path)
    assert done.returncode == 2
    assert "'nowhere'" in done.stderr
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "one")
    done = crdlint("lint", "-", "--new-since", "HEAD", cwd=tmp_path, stdin=GOOD)
    assert done.returncode == 2
    assert "stdin" in done.stderr


CLUSTER = GOOD.replace("Namespaced", "Cluster")


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    """Return a folder with an old and a new CRD that the server refuses."""
    (tmp_path / "old.yaml").write_text(GOOD)
    (tmp_path / "new.yaml").write_text(CLUSTER)
    return tmp_path


def entry(folder: Path, **more: str) -> str:
    """Return an acknowledgement of the break, in TOML."""
    print_ = report("diff", "old.yaml", "new.yaml", cwd=folder)["findings"][0]["fingerprint"]
    keys = {"fingerprint": print_, "reason": "moved by hand"} | more
    return "[[acknowledge]]\n" + "".join(f"{key} = {json.dumps(v)}\n" for key, v in keys.items())


def test_an_acknowledged_break_does_not_count(pair: Path) -> None:
    (pair / "meant.toml").write_text(entry(pair))
    done = crdlint("diff", "old.yaml", "new.yaml", "--ack", "meant.toml", "-v", cwd=pair)
    assert done.returncode == 0
    assert "refuses this update: spec.scope (suppressed)" in done.stdout
    assert "acknowledged: moved by hand" in done.stdout
    (pair / "crdlint.toml").write_text(entry(pair))
    found = report("diff", "old.yaml", "new.yaml", cwd=pair)
    assert rules(found) == []
    assert found["summary"]["suppressed"] == 1
    assert crdlint("diff", "old.yaml", "new.yaml", "--no-config", cwd=pair).returncode == 1


def test_an_acknowledgement_runs_out(pair: Path) -> None:
    (pair / "meant.toml").write_text(entry(pair, until="2020-01-31"))
    found = report("diff", "old.yaml", "new.yaml", "--ack", "meant.toml", cwd=pair)
    assert rules(found) == ["expired-acknowledgement", "crd-scope-changed"]
    assert found["findings"][0]["file"] == "meant.toml"
    assert "2020-01-31" in found["findings"][0]["message"]
    toml_date = entry(pair).rstrip() + "\nuntil = 2999-12-31\n"
    (pair / "meant.toml").write_text(toml_date)
    assert rules(report("diff", "old.yaml", "new.yaml", "--ack", "meant.toml", cwd=pair)) == []


def _compared(*names: str) -> Report:
    found = api.lint([Source("a.yaml", UNTYPED.encode)])
    found.names = set(names)
    return found


@pytest.mark.parametrize(
    ("date", "left"),
    [
        ("2026-05-30", []),
        ("2026-05-31", []),
        ("2026-06-01", ["type-required", "expired-acknowledgement"]),
    ],
)
def test_the_last_day_still_counts(date: str, left: list[str]) -> None:
    found = _compared("widgets.example.com")
    meant = Acknowledgement(found.findings[0].fingerprint, "why", until="2026-05-31", file="f")
    acknowledge.apply([meant], found, Policy(), date)
    assert sorted(finding.rule for finding in found.findings) == sorted(left)


@pytest.mark.parametrize(
    ("crd", "judged"), [("", True), ("widgets.example.com", True), ("gadgets.example.com", False)]
)
def test_unused_acknowledgements_of_what_was_compared_are_reported(crd: str, judged: bool) -> None:
    found = _compared("widgets.example.com")
    acknowledge.apply([Acknowledgement("0", "why", crd=crd, file="f")], found, Policy())
    assert ("unused-acknowledgement" in [f.rule for f in found.findings]) is judged


def test_a_template_of_acknowledgements_is_filled_in_and_taken(pair: Path) -> None:
    done = crdlint("diff", "old.yaml", "new.yaml", "--ack-template", "meant.toml", cwd=pair)
    assert done.returncode == 1
    text = (pair / "meant.toml").read_text()
    assert 'crd = "widgets.example.com"' in text
    done = crdlint("diff", "old.yaml", "new.yaml", "--ack", "meant.toml", cwd=pair)
    assert done.returncode == 2
    assert "meant.toml:5: acknowledge[0].reason: must not be empty" in done.stderr
    (pair / "meant.toml").write_text(text.replace('reason = ""', 'reason = "by hand"'))
    assert crdlint("diff", "old.yaml", "new.yaml", "--ack", "meant.toml", cwd=pair).returncode == 0
    done = crdlint("diff", "old.yaml", "new.yaml", "--ack-template", "meant.toml", cwd=pair)
    assert done.returncode == 2
    assert "exists already" in done.stderr


def test_a_template_has_what_two_files_share_once(pair: Path) -> None:
    for side in ("old", "new"):
        (pair / side).mkdir()
        for name in ("a.yaml", "b.yaml"):
            shutil.copy(pair / f"{side}.yaml", pair / side / name)
    crdlint("diff", "old", "new", "--ack-template", "meant.toml", cwd=pair)
    found = re.findall("^fingerprint = .*", (pair / "meant.toml").read_text(), re.MULTILINE)
    assert found
    assert len(found) == len(set(found))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[[acknowledge]]\nfingerprint = "1"\n', "reason is missing"),
        ('[[acknowledge]]\nreason = "1"\n', "fingerprint is missing"),
        ('[[acknowledge]]\nfingerprint = "1"\nreason = "x"\nuntil = "soon"\n', "meant.toml:4"),
        ('[[acknowledge]]\nfingerprint = "1"\nreason = "x"\nuntil = "2026-02-31"\n', "no day"),
        ('profile = "api"\n', "--ack takes [[acknowledge]] only"),
    ],
)
def test_a_broken_acknowledgement_is_a_clear_error(text: str, said: str, pair: Path) -> None:
    (pair / "meant.toml").write_text(text)
    done = crdlint("diff", "old.yaml", "new.yaml", "--ack", "meant.toml", cwd=pair)
    assert done.returncode == 2
    assert said in done.stderr


def test_equal_findings_of_a_revision_are_counted() -> None:
    found = _compared()
    twice = baseline.of_findings([*found.findings, *found.findings], "r")
    twice.apply(found, Policy())
    assert found.findings == []
    assert found.summary.suppressed == 1
