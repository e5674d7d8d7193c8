"""The configuration: found, read, refused with a place, and weighed against the options."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from command import GOOD, ROOT, UNTYPED, crdlint, report, rules
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crdlint import config, configcheck, globs, pages
from crdlint.commands.config import _TEMPLATE

if TYPE_CHECKING:
    from pathlib import Path

UNKNOWN = GOOD.replace("scope:", "foo: 1\n  scope:")  # unknown-field


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the root of a repository with a CRD in a folder of its own."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "crds").mkdir()
    (tmp_path / "crds" / "a.yaml").write_text(UNTYPED)
    return tmp_path


def write(folder: Path, text: str, name: str = "crdlint.toml") -> None:
    (folder / name).write_text(text)


def found(folder: Path, *args: str) -> list[str]:
    return rules(report("lint", *(args or ("crds",)), cwd=folder))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("crdlint.toml", '[rules]\ntype-required = "off"\n'),
        (".crdlint.toml", 'rules.type-required = "off"\n'),
        ("pyproject.toml", '[tool.crdlint.rules]\ntype-required = "off"\n'),
        ("pyproject.toml", '[tool.crdlint]\nrules = {type-required = "off"}\n'),
        ("crds/crdlint.toml", '[rules]\n"type-required" = "off"\n'),
    ],
)
def test_a_configuration_is_found_upwards_from_the_file(name: str, text: str, folder: Path) -> None:
    write(folder, text, name)
    assert found(folder) == []
    assert found(folder / "crds", "a.yaml") == []
    assert found(folder.parent, str(folder / "crds")) == []
    assert found(folder, "--no-config", "crds") == ["type-required"]


def test_the_search_ends_at_the_root_of_the_repository(folder: Path) -> None:
    write(folder, '[rules]\ntype-required = "off"\n')
    (folder / "crds" / ".git").mkdir()
    assert found(folder / "crds", "a.yaml") == ["type-required"]


def test_someone_elses_pyproject_is_none(folder: Path) -> None:
    write(folder, "[tool.other]\nx = 1\n[[[", "crds/pyproject.toml")
    write(folder, '[rules]\ntype-required = "off"\n')
    assert found(folder) == []
    write(folder, "# tool.crdlint\n[tool.other]\nx = 1\n", "crds/pyproject.toml")
    assert found(folder) == []


def test_the_nearest_configuration_wins_for_each_file(folder: Path) -> None:
    (folder / "other").mkdir()
    (folder / "other" / "b.yaml").write_text(UNTYPED.replace("idget", "adget"))
    write(folder, '[rules]\ntype-required = "off"\n')
    write(folder, '[rules]\ntype-required = "warning"\n', "other/crdlint.toml")
    (finding,) = report("lint", ".", cwd=folder)["findings"]
    assert (finding["file"], finding["severity"]) == ("./other/b.yaml", "warning")


def test_a_configuration_can_be_named(folder: Path) -> None:
    write(folder, '[rules]\ntype-required = "off"\n', "other.toml")
    assert found(folder) == ["type-required"]
    assert found(folder, "crds", "--config", "other.toml") == []
    done = crdlint("lint", "crds", "--config", "none.toml", cwd=folder)
    assert done.returncode == 2
    assert "none.toml" in done.stderr
    done = crdlint("lint", "crds", "--config", "other.toml", "--no-config", cwd=folder)
    assert done.returncode == 2


def test_severities(folder: Path) -> None:
    (folder / "crds" / "a.yaml").write_text(UNKNOWN)
    for level in ("error", "warning", "info"):
        write(folder, f'[rules]\nunknown-field = "{level}"\n')
        (finding,) = report("lint", "crds", cwd=folder)["findings"]
        assert finding["severity"] == level
    write(folder, '[rules]\nunknown-field = "off"\n')
    assert found(folder) == []
    (finding,) = report("lint", "crds", "--severity", "unknown-field=info", cwd=folder)["findings"]
    assert finding["severity"] == "info"


def test_rules_of_other_profiles_can_be_switched_on(folder: Path) -> None:
    text = GOOD.replace("spec: {type: object}", "spec: {type: object, properties: {isOn: {type: boolean}}}")  # fmt: skip
    (folder / "crds" / "a.yaml").write_text(text)
    assert found(folder) == []
    api = found(folder, "crds", "--profile", "api")
    assert api
    write(folder, f'[rules]\n{api[0]} = "on"\n')
    assert set(found(folder)) == {api[0]}
    write(folder, 'profile = "api"\n')
    assert found(folder) == api
    assert found(folder, "crds", "--profile", "default") == []
    assert set(found(folder, "crds", "--profile", "default", "--extend-select", api[0])) == {api[0]}
    assert set(found(folder, "crds", "--select", api[0])) == {api[0]}
    assert api[0] not in found(folder, "crds", "--ignore", api[0])


def test_overrides_by_path(folder: Path) -> None:
    (folder / "crds" / "old").mkdir()
    (folder / "crds" / "old" / "b.yaml").write_text(UNTYPED.replace("idget", "adget"))
    for pattern in ("crds/old", "crds/old/**", "**/old", "b.yaml", "*/old/*.yaml"):
        write(folder, f'[[overrides]]\npaths = ["{pattern}"]\nrules = {{type-required = "off"}}\n')
        files = [f["file"] for f in report("lint", "crds", cwd=folder)["findings"]]
        assert files == ["crds/a.yaml"], pattern
    write(
        folder,
        '[rules]\ntype-required = "off"\n[[overrides]]\npaths = ["crds"]\n'
        '[overrides.rules]\ntype-required = "info"\n'
        '[[overrides]]\npaths = ["old"]\nrules = {type-required = "warning"}\n',
    )
    severities = [f["severity"] for f in report("lint", "crds", cwd=folder)["findings"]]
    assert sorted(severities) == ["info", "warning"]
    shown = json.loads(crdlint("config", "crds/a.yaml", "--format", "json", cwd=folder).stdout)
    rows = {row["key"]: row for row in shown["settings"]}
    assert rows["rules.type-required"] == {
        "key": "rules.type-required",
        "value": "info",
        "from": "crdlint.toml:6",
    }


def test_ignores_and_those_without_use(folder: Path) -> None:
    ignore = '[[ignore]]\nrule = "{}"\ncrd = "{}"\nreason = "known"\n'
    write(folder, ignore.format("type-required", "*.example.com"))
    first = report("lint", "crds", cwd=folder)
    assert rules(first) == []
    assert first["summary"]["suppressed"] == 1
    assert found(folder, "crds", "--no-ignores") == ["type-required"]
    write(folder, "\n" + ignore.format("unknown-field", "widgets.example.com"))
    unused = [f for f in report("lint", "crds", cwd=folder)["findings"] if f["rule"] == "unused-ignore"]  # fmt: skip
    assert [(f["file"], f["line"]) for f in unused] == [("crdlint.toml", 2)]
    write(folder, 'paths = ["crds"]\n' + ignore.format("unknown-field", "*.example.com"))
    assert found(folder) == ["type-required"]  # a part of the project says nothing of the rest
    done = crdlint("lint", "--format", "json", cwd=folder)
    assert sorted(rules(json.loads(done.stdout))) == ["type-required", "unused-ignore"]


def test_paths_are_read_when_none_is_given(folder: Path) -> None:
    assert crdlint("lint", cwd=folder).returncode == 2
    write(folder, 'paths = ["c*s"]\n')
    assert found(folder, "--color", "never") == ["type-required"]
    assert [f["file"] for f in report("lint", cwd=folder / "crds")["findings"]] == ["./a.yaml"]
    write(folder, 'paths = ["x*"]\n')
    done = crdlint("lint", cwd=folder)
    assert done.returncode == 2
    assert "crdlint.toml:1: paths: nothing is there that 'x*' names" in done.stderr


def test_what_concerns_the_whole_run(folder: Path) -> None:
    write(folder, 'kubernetes-version = "1.30"\nfail-on = "never"\n')
    assert report("lint", "crds", cwd=folder)["kubernetes"] == "1.30"
    assert crdlint("lint", "crds", cwd=folder).returncode == 0
    assert crdlint("lint", "crds", "--fail-on", "error", cwd=folder).returncode == 1
    other = report("lint", "crds", "--kubernetes-version", "1.31..1.32", cwd=folder)
    assert other["kubernetes"] == "1.31-1.32"
    write(folder, 'fail-on = "server-refuses, gitops"\nstability = "alpha"\n')
    assert crdlint("lint", "crds", cwd=folder).returncode == 1  # effects are of diff
    (folder / "old.yaml").write_text(GOOD)
    (folder / "new.yaml").write_text(
        GOOD.replace("spec: {type: object}", "spec: {type: object, maxProperties: 1}")
    )
    assert crdlint("diff", "old.yaml", "new.yaml", cwd=folder).returncode == 0
    assert crdlint("diff", "old.yaml", "new.yaml", "--no-config", cwd=folder).returncode == 1


def test_stability_comes_from_the_configuration(folder: Path) -> None:
    alpha = GOOD.replace("name: v1", "name: v1alpha1")
    (folder / "old.yaml").write_text(alpha)
    (folder / "new.yaml").write_text(
        alpha.replace("spec: {type: object}", "spec: {type: object, maxProperties: 1}")
    )
    args = ("diff", "old.yaml", "new.yaml")
    assert {f["severity"] for f in report(*args, cwd=folder)["findings"]} == {"warning"}
    write(folder, 'stability = "alpha"\n')
    assert {f["severity"] for f in report(*args, cwd=folder)["findings"]} == {"error"}
    found_ = report(*args, "--stability", "stable", cwd=folder)["findings"]
    assert {f["severity"] for f in found_} == {"warning"}


def test_severities_and_ignores_in_diff(folder: Path) -> None:
    (folder / "old.yaml").write_text(GOOD)
    two = "spec: {type: object, properties: {a: {type: string, maxLength: %d}, b: {type: string, maxLength: %d}}}"  # fmt: skip
    (folder / "old.yaml").write_text(GOOD.replace("spec: {type: object}", two % (9, 9)))
    (folder / "new.yaml").write_text(GOOD.replace("spec: {type: object}", two % (5, 5)))
    args = ("diff", "old.yaml", "new.yaml")
    (rule,) = {f["rule"] for f in report(*args, cwd=folder)["findings"]}
    write(folder, f'[rules]\n{rule} = "info"\n')
    assert {f["severity"] for f in report(*args, cwd=folder)["findings"]} == {"info"}
    assert crdlint(*args, cwd=folder).returncode == 0
    write(folder, f'[[ignore]]\nrule = "{rule}"\nfield = ".spec.a"\nreason = "meant"\n')
    left = report(*args, cwd=folder)
    assert len(left["findings"]) == 1
    assert left["summary"]["suppressed"] == 1
    assert report(*args, "--ignore", rule, cwd=folder)["findings"] == []


BROKEN = [
    ("profle = 'api'", "crdlint.toml:1: profle: there is no such key; did you mean profile?"),
    ("\nprofile = 'apo'", "crdlint.toml:2: profile: 'apo' is not one of default, api, strict"),
    ("[rules]\n\nunknown-fild = 'off'", "crdlint.toml:3: rules.unknown-fild: there is no rule 'unknown-fild'; did you mean unknown-field?"),
    ("[rules]\nunknown-field = 'warn'", "crdlint.toml:2: rules.unknown-field: 'warn' is not one of error, warning, info, on, off; did you mean warning?"),
    ("[[overrides]]\npath = ['x']", "did you mean paths?"),
    ("[[overrides]]\npaths = []", "crdlint.toml:2: overrides[0].paths: must not be empty"),
    ("[[overrides]]\npaths = ['x']\n[[overrides]]\npaths = ['y']\nrules = {no-such = 'off'}", "crdlint.toml:5: overrides[1].rules.no-such"),
    ("[[ignore]]\nreason = 'x'", "crdlint.toml:1: ignore[0]: name a rule, a crd or a field"),
    ("[[ignore]]\nrule = 'type-required'", "crdlint.toml:1: ignore[0]: reason is missing"),
    ("[[ignore]]\nrule = ['type-required', 'x']\nreason = 'x'", "crdlint.toml:2: ignore[0].rule: there is no rule 'x'"),
    ("kubernetes-version = '1.5'", "crdlint.toml:1: kubernetes-version: Kubernetes 1.5 is too old"),
    ("kubernetes-version = 1.30", "crdlint.toml:1: kubernetes-version: 1.3 is not a text"),
    ("fail-on = 'errors'", "crdlint.toml:1: fail-on: 'errors' is none."),
    ("paths = 'x'", "crdlint.toml:1: paths: 'x' is not a list"),
    ("rules = []", "crdlint.toml:1: rules: [] is not a table"),
    ("a = 1\na = 2", "crdlint.toml:2"),
    ("[rules\n", "crdlint.toml:1:7: this is no TOML"),
    ("x = '''", "this is no TOML"),
    ("[rules]\nx = \n", "crdlint.toml:2:5: this is no TOML: Invalid value"),
    ("[[acknowledge]]\nfingerprint = '1'\nreason = 'x'\nuntil = 1", "acknowledge[0].until: 1 is not a text"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said"), BROKEN)
def test_what_is_wrong_is_said_with_its_place(text: str, said: str, folder: Path) -> None:
    write(folder, text)
    done = crdlint("lint", "crds", cwd=folder)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stdout == ""
    assert crdlint("config", cwd=folder).returncode == 2


def test_all_that_is_wrong_is_said_at_once(folder: Path) -> None:
    write(folder, "profle = 1\nprofile = 2\n[rules]\nx = 'off'\ny = 1\n")
    lines = crdlint("lint", "crds", cwd=folder).stderr.splitlines()
    assert [re.findall(r"crdlint.toml:([0-9]+)", line) for line in lines] == [["1"], ["2"], ["5"]]


def test_a_broken_configuration_of_a_part_stops_the_run(folder: Path) -> None:
    write(folder, "x = 1", "crds/crdlint.toml")
    (folder / "b.yaml").write_text(GOOD)
    for args in (["lint", "."], ["lint", ".", "--jobs", "2"], ["diff", "b.yaml", "crds/a.yaml"]):
        done = crdlint(*args, cwd=folder)
        assert done.returncode == 2
        assert "crds/crdlint.toml:1: x: there is no such key" in done.stderr
    write(folder, "\xff", "crds/crdlint.toml")
    (folder / "crds" / "crdlint.toml").write_bytes(b"\xff")
    assert "not UTF-8" in crdlint("lint", ".", cwd=folder).stderr


@pytest.mark.parametrize(
    "args",
    [
        ("--ignore", "no-such"),
        ("--select", "type-requird"),
        ("--extend-select", "type-required,x"),
        ("--severity", "type-required"),
        ("--severity", "type-required=bad"),
        ("--severity", "no-such=off"),
    ],
)
def test_wrong_rules_in_options(args: tuple[str, ...], folder: Path) -> None:
    done = crdlint("lint", "crds", *args, cwd=folder)
    assert done.returncode == 2
    assert args[0] in done.stderr
    assert done.stdout == ""


SCHEMA = configcheck.schema()


def test_the_published_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


_WORDS = st.sampled_from(["default", "api", "error", "off", "type-required", "1.30", "1.28..1.31", "2026-01-31", "never", "writers, gitops", "alpha", "", "x"])  # fmt: skip
_KEYS = st.sampled_from(sorted({
    *SCHEMA["properties"], "rule", "crd", "field", "reason", "fingerprint", "until", "type-required", "x",
}))  # fmt: skip
_VALUES: st.SearchStrategy[Any] = st.recursive(
    _WORDS | st.booleans() | st.integers(0, 1),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=400, suppress_health_check=list(HealthCheck))
@given(
    _VALUES | st.dictionaries(st.sampled_from(sorted(SCHEMA["properties"])), _VALUES, max_size=3)
)
def test_the_quick_look_and_jsonschema_agree(value: Any) -> None:
    strict = jsonschema.Draft202012Validator(SCHEMA)
    assert configcheck.fits(value, SCHEMA, SCHEMA["$defs"]) is strict.is_valid(value)


VALID: list[dict[str, Any]] = [
    {},
    {"profile": "strict", "paths": ["a"], "fail-on": "writers", "stability": "stable"},
    {"overrides": [{"paths": ["x"], "profile": "api", "rules": {"type-required": "on"}}]},
    {"ignore": [{"rule": ["type-required"], "reason": "x"}, {"crd": "*", "reason": "x"}]},
    {"acknowledge": [{"fingerprint": "1", "reason": "x", "until": "2026-01-31", "crd": "a"}]},
    {"kubernetes-version": "1.28..1.37", "baseline": "x.json", "rules": {"type-required": "info"}},
]


@pytest.mark.parametrize("data", VALID)
def test_what_is_valid_has_no_complaints(data: dict[str, Any]) -> None:
    assert configcheck.fits(data, SCHEMA, SCHEMA["$defs"])
    assert list(configcheck.complaints(data)) == []


def test_a_good_configuration_needs_no_jsonschema(folder: Path) -> None:
    write(folder, 'profile = "default"\n[rules]\ntype-required = "off"\n')
    code = (
        "import sys; from crdlint import cli\n"
        "sys.argv = ['crdlint', 'lint', 'crds']\n"
        "try: cli.main()\n"
        "except SystemExit as done: assert not done.code, done.code\n"
        "print([name for name in ('jsonschema', 'difflib', 'deepdiff') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_config_shows_what_is_in_force_and_from_where(folder: Path) -> None:
    assert "none found" in crdlint("config", cwd=folder).stdout
    write(folder, 'paths = ["crds"]\n[rules]\ntype-required = "info"\n[[ignore]]\ncrd = "*"\nreason = "why"\n[[acknowledge]]\nfingerprint = "12"\nreason = "because"\n')  # fmt: skip
    text = crdlint("config", "crds", cwd=folder).stdout
    assert "configuration: crdlint.toml" in text
    for line in (
        r"profile +default  \(default\)",
        r"paths +crds  \(crdlint.toml:1\)",
        r"rules.type-required +info  \(crdlint.toml:3\)",
        r"ignore +any rule in \*: why  \(crdlint.toml:4\)",
        r"acknowledge +12: because  \(crdlint.toml:7\)",
    ):
        assert re.search(line, text), line
    write(folder, 'profile = "strict"\n', "other.toml")
    other = crdlint("config", "--config", "other.toml", cwd=folder).stdout
    assert "other.toml:1" in other
    schema = crdlint("config", "--schema", cwd=folder)
    assert json.loads(schema.stdout) == SCHEMA


def test_init_writes_a_commented_file_and_never_over_one(folder: Path) -> None:
    done = crdlint("init", "--ignore", "type-required", cwd=folder)
    assert done.returncode == 0
    assert found(folder) == []
    again = crdlint("init", cwd=folder)
    assert again.returncode == 2
    assert "is there already" in again.stderr
    (folder / "crdlint.toml").rename(folder / ".crdlint.toml")
    assert crdlint("init", cwd=folder).returncode == 2
    assert crdlint("init", "crds", cwd=folder).returncode == 0
    assert (folder / "crds" / "crdlint.toml").exists()
    assert crdlint("init", "no/such", cwd=folder).returncode == 2


def test_every_commented_line_of_the_template_is_valid(folder: Path) -> None:
    text = re.sub(r"(?m)^# (?=\[\[|[a-z-]+ = )", "", _TEMPLATE)
    write(folder, text)
    data = config.load(str(folder / "crdlint.toml")).data
    assert set(data) == set(SCHEMA["properties"])


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("a/*.yaml", "a/b.yaml", True),
        ("a/*.yaml", "a/b/c.yaml", False),
        ("a/**/c.yaml", "a/b/c.yaml", True),
        ("a/**/c.yaml", "a/c.yaml", True),
        ("./a/", "a/b.yaml", True),
        ("a", "x/a/b.yaml", True),
        ("?.yaml", "a/b.yaml", True),
        ("a/b", "a/bc.yaml", False),
        ("**/b", "b/c", True),
    ],
)
def test_patterns_of_paths(pattern: str, path: str, matches: bool) -> None:
    assert globs.path_matches(pattern, path) is matches


@pytest.mark.parametrize(
    ("pattern", "field", "matches"),
    [
        (".spec.ports[*].name", ".spec.ports[*].name", True),
        (".spec.ports[*].*", ".spec.ports[*].name", True),
        ("spec.names.*", "spec.names.plural", True),
        (".spec.legacy.**", ".spec.legacy", True),
        (".spec.legacy.**", ".spec.legacy maxLength", True),
        (".spec.legacy.**", ".spec.legacy[*].a", True),
        (".spec.legacy.**", ".spec.legacyName", False),
        (".spec.*", ".spec.a.b", False),
        ("**.name", ".spec.a.name", True),
        (".spec", ".spec.a", False),
    ],
)
def test_patterns_of_fields(pattern: str, field: str, matches: bool) -> None:
    assert globs.field_matches(pattern, field) is matches


def test_the_documentation_is_valid_and_complete() -> None:
    text = (ROOT / "docs" / "configuration.md").read_text("utf-8")
    blocks = [tomllib.loads(block) for block in re.findall(r"```toml\n(.*?)```", text, re.DOTALL)]
    for block in blocks:
        block["acknowledge"][0]["until"] = str(block["acknowledge"][0]["until"])
        assert list(configcheck.complaints(block)) == []
    assert set(blocks[0]) == set(SCHEMA["properties"])
    for rule in re.findall(r"ignore\[([^\]]*)\]", text):
        for name in rule.split(","):
            assert name.strip() in {*pages.ids(), "RULE"}, name
