"""The `plan` command: the safe road from one CRD to another, release by release."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import click

from crdlint import options, settings
from crdlint.helping import Command
from crdlint.sides import two_sides

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crdlint.finding import Finding
    from crdlint.planning.road import Road, Step
    from crdlint.reading import Subject
    from crdlint.source import Source

_SHOWN_HARMS = 12
_STEP = re.compile(r"step-\d+\.yaml|migrate-\d+\.(?:yaml|sh)")


class _Plan:
    """What is to be said of one CRD: a road, or in words why there is none."""

    def __init__(
        self, name: str, road: Road | None, words: list[str], notes: list[str], text: str = ""
    ) -> None:
        self.name = name
        self.text = text  # the document of NEW, where it can be edited
        self.road = road
        self.words = words
        self.notes = notes


@click.command(
    cls=Command,
    short_help="Lay out the safe road from one CRD to another, by releases.",
    examples=(
        ("crdlint plan v0.45.0:crd.yaml crd.yaml", "from a release to the working tree"),
        (
            "crdlint plan cluster:widgets.example.com crd.yaml --write plan/",
            "from what a cluster has; a file for each step",
        ),
        ("crdlint plan --base main config/crd --format markdown", "for a pull request"),
    ),
    statuses=(
        ("0", "every step is safe"),
        ("1", "a step hurts objects, or no road leads to NEW"),
        ("2", "wrong usage, or input that cannot be read"),
    ),
)
@two_sides
@click.option(
    "--kubernetes-version",
    "minors",
    metavar="VERSION",
    callback=options.minors,
    help="API server to plan for, such as 1.30; of a range the newest. Default: what the"
    " configuration says, else the newest.",
)
@options.style("text", "markdown", "json")
@click.option(
    "--write", "folder", metavar="DIR", help="Write the CRD of each step, and the migrations."
)
def plan(
    paths: tuple[str, ...],
    base: str | None,
    head: str | None,
    minors: list[int] | None,
    stored_versions: str | None,
    stored_from_history: bool,
    not_established: bool,
    style: str,
    folder: str | None,
) -> int:
    """Lay out the shortest safe road from OLD to NEW, release by release.

    Says which version is added, made storage, no longer served and removed when, where a
    conversion webhook is needed, how stored objects are rewritten, and how far back a rollback
    leads. OLD and NEW are as for `diff`.
    """
    from crdlint import sides
    from crdlint.differ import DiffError
    from crdlint.objects.guard import deep
    from crdlint.source import SourceError

    minor = (settings.servers(minors, paths[-1:]) or [_newest()])[-1]
    with deep():
        try:
            old, new = sides.sides(paths, base, head, command="plan")
            stored = sides.stored(stored_versions, stored_from_history, paths, base)
            plans = list(_plans(old, new, stored, minor, established=not not_established))
        except (SourceError, DiffError) as error:
            raise click.ClickException(str(error)) from None
        if folder is not None:
            _write(folder, plans)
        _show(plans, style, minor)
    return options.FOUND if any(_is_rough(plan) for plan in plans) else options.CLEAN


def _show(plans: list[_Plan], style: str, minor: int) -> None:
    if style == "json":
        import json

        shown = [_as_json(plan) for plan in plans]
        head_ = {"version": 1, "kubernetes": f"1.{minor}"}
        click.echo(json.dumps({**head_, "plans": shown}, indent=1, ensure_ascii=False))
    else:
        lines = _markdown if style == "markdown" else _text
        click.echo("\n\n".join("\n".join(lines(plan)) for plan in plans) or "nothing to plan")


def _newest() -> int:
    from crdlint import kubernetes

    return kubernetes.NEWEST


def _is_rough(plan: _Plan) -> bool:
    road = plan.road
    return plan.words != [_NEW] if road is None else bool(road.another or road.hurts)


def _plans(
    old: Iterable[Source], new: Iterable[Source], stored: Any, minor: int, *, established: bool
) -> Iterator[_Plan]:
    from crdlint import differ

    told = differ.Options(minor, established=None if established else False, stored_versions=stored)
    notes: list[str] = []
    before = [part for source in old for part in _documents(source)]
    after = [part for source in new for part in _documents(source, notes)]
    for a, b in differ.pair(*differ.read_sides(before, after, told)):
        if a is not None:
            _demand_held(a)
        if b is None:
            assert a is not None
            yield _Plan(a.name, None, _removed(a.name), notes)
        elif why := _refusal(b, alone=a is None):
            yield _Plan(b.name or b.document.name, None, [why], notes)
        elif a is None:
            yield _Plan(b.name, None, [_NEW], notes)
        else:
            found = _road(a, b, minor, established=established)
            editable = not b.prefix and not b.document.is_json and _is_written(b)
            yield _Plan(a.name, found, [], notes, b.document.text if editable else "")


_NEW = "the CRD is new: apply it"
_SERVER_SETS = frozenset("uid resourceVersion generation managedFields creationTimestamp".split())


def _is_written(subject: Subject) -> bool:
    """Tell a file that somebody wrote from the dump of a CRD, which is not to be applied again."""
    assert subject.crd is not None
    return _SERVER_SETS.isdisjoint(subject.crd.data.get("metadata") or {})


def _removed(name: str) -> list[str]:
    return [
        "NEW does not have it: deleting the CRD deletes all its objects",
        f"keep them first: `kubectl get {name} -A -o yaml`",
        "deprecate its versions and stop serving them in a release before, to see who is left",
    ]


def _demand_held(old: Subject) -> None:
    """Raise DiffError where OLD is nothing that a server can hold."""
    from crdlint.differ import DiffError
    from crdlint.planning import stages

    assert old.crd is not None
    held: Any = old.crd.data
    if why := stages.unheld(held):
        raise DiffError(
            f"{_place(old)}: no API server holds such a CRD: {why}. Name what the cluster holds now"
            " as OLD"
        )


def _refusal(new: Subject, *, alone: bool) -> str:
    """Say why there is nothing to plan as no server takes NEW whatever it holds, or ""."""
    from crdlint import engine, server
    from crdlint.planning import stages

    crd = new.crd
    why = ""
    if crd is None:
        why = new.hits[0].message if new.hits else "it cannot be read"
    else:
        wanted: Any = crd.data
        why = stages.unheld(wanted)
        if not why and alone:
            for problem in engine.lint(crd):
                kinds = {kind for kind, _ in server.claims(crd, problem)}
                if kinds - {"Warning", "Strict", "BadRequest"}:
                    why = problem.message
                    break
    return f"the API server refuses NEW ({_place(new)}): {why}; see crdlint lint" if why else ""


def _place(subject: Subject) -> str:
    line = subject.hits[0].span.line if subject.hits else subject.locate(("spec",), key=True).line
    return f"{subject.document.name}:{line}"


def _documents(source: Source, notes: list[str] | None = None) -> Iterator[Any]:
    """Read a side; what NEW has of apiextensions v1beta1 is converted first, and said so."""
    from crdlint import document, reading

    data = source.read()
    if notes is not None and b"apiextensions.k8s.io/v1beta1" in data:
        from crdlint import converting

        converted = converting.convert(data, source.name)
        if converted.data != data:
            notes.append(f"{source.name} is apiextensions v1beta1: first crdlint convert --write")
            data = converted.data
    yield from document.read(data, source.name, wanted=reading.WANTED)


def _road(a: Subject, b: Subject, minor: int, *, established: bool) -> Road:
    from crdlint.planning import road

    assert a.crd is not None
    assert b.crd is not None
    held: Any = a.crd.data
    wanted: Any = b.crd.data
    return road.find(held, wanted, established=None if established else False, minor=minor)


# Words.


def _heading(plan: _Plan) -> str:
    road = plan.road
    if road is None:
        return plan.words[0]
    if road.another:
        return f"no road leads there: {', '.join(road.another)} cannot be changed"
    if not road.steps:
        return "nothing to do: NEW is what OLD is"
    if (step := road.refused) is not None:
        return f"no safe road: the API server refuses step {step.number}"
    steps = f"{len(road.steps)} {'step' if len(road.steps) == 1 else 'steps, each a release'}"
    if road.hurts:
        return (
            f"{steps}; {road.hurts} {'break' if road.hurts == 1 else 'breaks'} that no road avoids"
        )
    clients = ""
    if road.breaks:
        changes = "1 change breaks" if road.breaks == 1 else f"{road.breaks} changes break"
        clients = f"; {changes} clients"
    return f"{steps}, no stored object is hurt{clients}"


def _blocks(plan: _Plan) -> Iterator[tuple[str, list[str]]]:
    """Yield (title, lines) of what stands below the heading, step by step."""
    from crdlint.planning import guide

    road = plan.road
    if road is None:
        if len(plan.words) > 1:
            yield "Before it goes", plan.words[1:]
        return
    if road.another:
        yield "Copy the objects to a new CRD", guide.copying(road)
        return
    for step in road.steps:
        lines = [f"why: {why}" for why in guide.why(road, step)]
        lines += [f"first: {act.title} ({act.file})" for act in guide.actions(road, step)]
        lines += [f"before: {check}" for check in guide.checks(road, step)]
        lines += _harms(step)
        lines += _listed("clients", (guide.harm(finding) for finding in step.breaks))
        for source, target, duties in step.duties:
            lines += [f"webhook, {source} to {target}: {duty}" for duty in duties]
        if back := guide.rollback(road, step):
            lines.append(f"rollback: {back}")
        yield f"Step {step.number}: {guide.title(road, step)}", lines


def _harms(step: Step) -> Iterator[str]:
    from crdlint.planning import guide

    for finding in step.hurts[:_SHOWN_HARMS]:
        word = "refused" if "server-refuses" in finding.effects else "hurts"
        yield f"{word}: {guide.harm(finding)}"
        if finding.witness:
            yield f"such as: `{_flow(finding.witness)}`"
    yield from _more(len(step.hurts))


def _listed(word: str, texts: Iterable[str]) -> Iterator[str]:
    """Yield the first of some lines below a word, and how many more there are."""
    found = list(texts)
    yield from (f"{word}: {text}" for text in found[:_SHOWN_HARMS])
    yield from _more(len(found))


def _more(number: int) -> Iterator[str]:
    if number > _SHOWN_HARMS:
        yield f"and {number - _SHOWN_HARMS} more; crdlint diff lists them"


def _flow(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)


def _text(plan: _Plan) -> Iterator[str]:
    yield f"{plan.name}: {_heading(plan)}"
    yield from (f"  note: {note}" for note in plan.notes)
    for title, lines in _blocks(plan):
        yield f"  {title}" if title else ""
        yield from (f"    {line}" for line in lines)


def _markdown(plan: _Plan) -> Iterator[str]:
    yield f"### `{plan.name}`"
    yield ""
    yield f"{_heading(plan)}."
    yield from (f"\n> {note}" for note in plan.notes)
    for title, lines in _blocks(plan):
        yield f"\n#### {title}\n" if title else ""
        for line in lines:
            word, colon, rest = line.partition(": ")
            yield f"- **{word}**: {_code(rest)}" if colon else f"- {_code(line)}"


def _code(text: str) -> str:
    """Write what Markdown would read otherwise as it stands; what is code already stays."""
    parts = text.split("`")
    for i in range(0, len(parts), 2):
        for char in "\\*_<>|[]":
            parts[i] = parts[i].replace(char, "\\" + char)
    return "`".join(parts)


def _as_json(plan: _Plan) -> dict[str, Any]:
    from crdlint.planning import guide

    road = plan.road
    made: dict[str, Any] = {"crd": plan.name, "verdict": _heading(plan), "notes": plan.notes}
    if road is None:
        return {**made, "safe": not _is_rough(plan), "advice": plan.words[1:], "steps": []}
    steps = [_step_as_json(road, step) for step in road.steps]
    advice = guide.copying(road) if road.another else []
    safe = not road.another and not road.hurts
    return {**made, "safe": safe, "advice": advice, "steps": steps}


def _step_as_json(road: Road, step: Step) -> dict[str, Any]:
    from crdlint.planning import guide, stages

    return {
        "step": step.number,
        "title": guide.title(road, step),
        "changes": step.kinds,
        "why": guide.why(road, step),
        "before": guide.checks(road, step),
        "storedVersions": step.stored,
        "storage": stages.storage_of(step.crd),
        "webhook": [
            {"from": source, "to": target, "duties": duties}
            for source, target, duties in step.duties
        ],
        "hurts": [_finding_as_json(finding) for finding in step.hurts],
        "clients": [_finding_as_json(finding) for finding in step.breaks],
        "first": [
            {"title": act.title, "file": act.file, "text": act.text}
            for act in guide.actions(road, step)
        ],
        "rollback": guide.rollback(road, step),
        "crd": step.crd,
    }


def _finding_as_json(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "field": finding.field,
        "message": finding.message,
        "effects": finding.effects,
        "server": [{"type": kind, "field": field} for kind, field in finding.server or ()],
        "witness": finding.witness,
    }


# Files.


def _write(folder: str, plans: list[_Plan]) -> None:
    """Write the steps of each plan; of several CRDs each below a folder of its name.

    A folder that has other steps stays as it is: somebody filled them in, or would apply them.
    """
    texts = {}
    many = len(plans) > 1
    for plan in plans:
        if plan.road is not None and plan.road.steps:
            where = os.path.join(folder, plan.name) if many else folder
            texts[where] = _files(plan, plan.road)
    for where, files in texts.items():
        _demand_free(where, files)
    for where, files in texts.items():
        try:
            os.makedirs(where, exist_ok=True)
        except OSError as error:
            raise click.UsageError(
                f"{where!r} cannot be made: {error.strerror}; name another folder with --write"
            ) from None
        for name, text in files.items():
            options.write(os.path.join(where, name), text)


def _files(plan: _Plan, road: Road) -> dict[str, str]:
    """Return the files of a plan by name."""
    from crdlint.planning import guide, manuscript

    found = {}
    for step in road.steps:
        text = step.text
        if plan.text:
            text = manuscript.write(step.crd, road.new, plan.text, minor=road.minor)
        head = f"# Step {step.number} of {len(road.steps)}: {guide.title(road, step)}\n"
        found[f"step-{step.number}.yaml"] = head + text
        found |= {act.file: act.text for act in guide.actions(road, step)}
    return found


def _demand_free(where: str, files: dict[str, str]) -> None:
    """Raise ClickException where a folder has steps that are not these."""
    try:
        names = sorted(name for name in os.listdir(where) if _STEP.fullmatch(name))
    except OSError:
        return
    for name in names:
        try:
            with open(os.path.join(where, name), encoding="utf-8", newline="") as file:
                same = file.read() == files.get(name)
        except (OSError, UnicodeDecodeError):
            same = False
        if not same:
            raise click.ClickException(
                f"{os.path.join(where, name)} is there already, and no file of this plan; name"
                " another folder with --write, or remove the steps in it"
            )
