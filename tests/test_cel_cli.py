"""The cel command: every rule with its cost, and bounds that make a dear one affordable."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from test_cli import crdlint

if TYPE_CHECKING:
    from pathlib import Path

CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.com
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              tags:
                type: array
                BOUND
                items: {type: string, maxLength: 20}
                x-kubernetes-validations:
                - rule: self.all(x, self.exists_one(y, x == y))
                - rule: self.size() > nothing
"""


def cel(tmp_path: Path, bound: str, *args: str) -> tuple[int, dict[str, Any]]:
    file = tmp_path / "crd.yaml"
    file.write_text(CRD.replace("BOUND", bound))
    done = crdlint("cel", "--format", "json", *args, file)
    report: dict[str, Any] = json.loads(done.stdout)
    return done.returncode, report


def test_a_dear_rule_comes_with_bounds_that_are_true(tmp_path: Path) -> None:
    status, report = cel(tmp_path, "description: no bound")
    dear, broken = report["rules"]
    assert status == 1
    assert dear["overBudget"]
    assert not broken["ok"]
    assert "nothing" in broken["error"]
    (way, *_) = dear["bounds"]
    (bound,) = way["set"]
    assert bound["keyword"] == "maxItems"
    assert bound["field"] == ".spec.tags"
    _, cured = cel(tmp_path, f"maxItems: {bound['value']}")
    assert not cured["rules"][0]["overBudget"]
    assert cured["rules"][0]["cost"] == way["cost"]
    _, beyond = cel(tmp_path, f"maxItems: {bound['value'] * 2}")
    assert beyond["rules"][0]["overBudget"]


def test_text_says_the_share_of_the_budget(tmp_path: Path) -> None:
    (tmp_path / "crd.yaml").write_text(CRD.replace("BOUND", "description: no bound"))
    done = crdlint("cel", tmp_path)
    assert "over budget" in done.stdout
    assert "with maxItems:" in done.stdout
    assert "2 rules, 1 does not compile" in done.stdout


def test_a_rule_says_what_multiplies_it(tmp_path: Path) -> None:
    _, report = cel(tmp_path, "maxItems: 5")
    assert report["rules"][0]["multipliedBy"] == []  # it stands on the list, not on its items
    text = CRD.replace("BOUND", "maxItems: 5").replace(
        "items: {type: string, maxLength: 20}",
        "items: {type: string, maxLength: 20, x-kubernetes-validations: [{rule: self != ''}]}",
    )
    (tmp_path / "crd.yaml").write_text(text)
    done = crdlint("cel", "--format", "json", tmp_path)
    (rule,) = [r for r in json.loads(done.stdout)["rules"] if r["rule"] == "self != ''"]
    assert rule["cardinality"] == 5
    assert rule["multipliedBy"] == [{"field": ".spec.tags", "keyword": "maxItems", "value": 5}]
    assert "for each of .spec.tags (maxItems 5)" in crdlint("cel", tmp_path).stdout


def test_an_error_is_placed_inside_the_rule(tmp_path: Path) -> None:
    text = CRD.replace("BOUND", "maxItems: 5").replace(
        "- rule: self.size() > nothing",
        "- message: m\n                  rule: |\n                    self.size() >\n"
        "                      nothing\n",
    )
    (tmp_path / "crd.yaml").write_text(text)
    line = text.splitlines().index("                      nothing") + 1
    done = crdlint("cel", "--format", "json", tmp_path)
    broken = json.loads(done.stdout)["rules"][1]
    assert (broken["line"], broken["column"]) == (line, 23)
    linted = json.loads(crdlint("lint", "--format", "json", tmp_path).stdout)["findings"]
    (found,) = [f for f in linted if f["rule"] == "cel-compile"]
    assert (found["line"], found["column"], found["endColumn"]) == (line, 23, 30)


def test_all_versions_says_who_takes_a_rule(tmp_path: Path) -> None:
    (tmp_path / "crd.yaml").write_text(
        CRD.replace("BOUND", "maxItems: 5").replace("self.size() > nothing", "self.all(x, isIP(x))")
    )
    done = crdlint("cel", "--format", "json", "--all-versions", tmp_path)
    assert [rule["servers"] for rule in json.loads(done.stdout)["rules"]] == [
        "1.25-1.37",
        "1.31-1.37",
    ]


def test_wrong_usage_is_2() -> None:
    assert crdlint("cel").returncode == 2
    assert crdlint("cel", "--kubernetes-version", "1.1", "fixtures").returncode == 2
    assert crdlint("cel", "no-such-file").returncode == 2


def test_a_crd_that_does_not_parse_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "crd.yaml").write_text(CRD + "  foo: [\n")
    done = crdlint("cel", tmp_path / "crd.yaml")
    assert done.returncode == 2
    assert "crd.yaml:" in done.stderr
    assert "this CRD cannot be read: " in done.stderr


def test_the_configuration_names_the_server(tmp_path: Path) -> None:
    (tmp_path / "crdlint.toml").write_text('kubernetes-version = "1.25"\n')
    rule = "self.all(x, isIP(x))"  # a server of 1.25 has no such function
    (tmp_path / "crd.yaml").write_text(
        CRD.replace("BOUND", "maxItems: 3").replace("self.size() > nothing", rule)
    )
    for arguments, taken in (([], False), (["--kubernetes-version", "1.37"], True)):
        done = crdlint("cel", "--format", "json", *arguments, tmp_path / "crd.yaml")
        assert json.loads(done.stdout)["rules"][1]["ok"] is taken
    (tmp_path / "crdlint.toml").write_text("kubernetes-version = 3\n")
    done = crdlint("cel", tmp_path / "crd.yaml")
    assert done.returncode == 2
    assert "crdlint.toml:1: kubernetes-version" in done.stderr
