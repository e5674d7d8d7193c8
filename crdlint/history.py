"""A CRD's history in git: which version was storage when, and what clusters may have stored."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from crdlint import document, git
from crdlint.source import SUFFIXES, SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Progress = Callable[[str], None]

_AT_ONCE = 16  # blobs read by one git process: bundles may have several megabytes each
_KINDS = tuple(f"*{suffix}" for suffix in SUFFIXES)
# What stands below `schema:` in block style says nothing of versions, and is nearly all of a CRD.
_SCHEMA = re.compile(
    rb"^( *)(?:(schema:)[ \t]*\n(?:(?:\1 +[^ \n].*|[ \t]*)\n)+"
    rb"|(- schema:)[ \t]*\n(?:(?:\1 {3,}[^ \n].*|[ \t]*)\n)+)",
    re.MULTILINE,
)


class Version:
    """A version as a revision has it."""

    __slots__ = ("name", "served", "storage")

    def __init__(self, name: str, *, served: bool, storage: bool) -> None:
        self.name = name
        self.served = served
        self.storage = storage

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Version) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[str, bool, bool]:
        return self.name, self.served, self.storage


class Step:
    """A revision that changed the versions of the CRD; `label` is a tag, or the commit's start."""

    __slots__ = ("commit", "date", "label", "path", "versions")

    def __init__(
        self, commit: str, date: str, path: str, versions: tuple[Version, ...], label: str = ""
    ) -> None:
        self.commit = commit
        self.date = date
        self.path = path
        self.versions = versions
        self.label = label or commit[:12]

    @property
    def storage(self) -> str:
        """Return the storage version, or "" where there is none."""
        return next((version.name for version in self.versions if version.storage), "")

    @property
    def names(self) -> list[str]:
        """Return the names of all versions."""
        return [version.name for version in self.versions]


class Span:
    """A version and the steps from and to which it was storage."""

    __slots__ = ("first", "last", "version")

    def __init__(self, version: str, first: Step, last: Step) -> None:
        self.version = version
        self.first = first
        self.last = last


class Cluster:
    """Clusters first installed at a step and upgraded along all later ones.

    `stored` is their storedVersions at the end; `refused` the steps at which the server refused
    the upgrade until the versions named there were migrated and dropped.
    """

    __slots__ = ("installed", "refused", "stored")

    def __init__(self, installed: Step) -> None:
        self.installed = installed
        self.stored: list[str] = []
        self.refused: list[tuple[Step, list[str]]] = []


class History:
    """The steps of a CRD, oldest first.

    `path` is its file at the end, `revisions` how many were looked at; `cut` says that the clone
    lacks what was before the first step.
    """

    __slots__ = ("cut", "name", "path", "revisions", "steps")

    def __init__(self, name: str) -> None:
        self.name = name
        self.path = ""
        self.steps: list[Step] = []
        self.revisions = 0
        self.cut = False

    @property
    def spans(self) -> list[Span]:
        """Return when which version was storage, oldest first."""
        found: list[Span] = []
        for step in self.steps:
            if found and found[-1].version == step.storage:
                found[-1].last = step
            else:
                found.append(Span(step.storage, step, step))
        return [span for span in found if span.version]

    @property
    def clusters(self) -> list[Cluster]:
        """Return what becomes of a cluster from each step on, one after another."""
        return [self._upgraded(i) for i in range(len(self.steps))]

    @property
    def stored_versions(self) -> list[str]:
        """Return every version that can stand in storedVersions at the end, oldest first."""
        return list(
            dict.fromkeys(version for cluster in self.clusters for version in cluster.stored)
        )

    def _upgraded(self, start: int) -> Cluster:
        """Follow a cluster: storedVersions grows, and a version in it cannot be dropped."""
        cluster = Cluster(self.steps[start])
        for step in self.steps[start:]:
            missing = [name for name in cluster.stored if name not in step.names]
            if missing:
                cluster.refused.append((step, missing))
                cluster.stored = [name for name in cluster.stored if name in step.names]
            if step.storage and step.storage not in cluster.stored:
                cluster.stored.append(step.storage)
        return cluster


def of_commits(
    name: str, tip: str = "HEAD", *, path: str = "", progress: Progress | None = None
) -> History:
    """Follow a CRD from a revision, or from the end of a range, back along first parents.

    Args:
        name: metadata.name of the CRD.
        tip: a revision, or a range such as `v1.0..main`.
        path: the file that has it at the end, from the top of the repository, where known.
        progress: called with each path that the walk comes to.

    Raises:
        SourceError: no revision has the CRD, or git cannot say.
    """
    floor, _, end = tip.rpartition("..")
    if floor.endswith("."):
        raise SourceError(tip, "has three dots", f"write {floor[:-1]}..{end}")
    end = end or "HEAD"
    for revision in filter(None, (floor, end)):
        git.demand_commit(revision)
    found = History(name)
    path = path or _find(name, end, "")
    if not path:
        raise SourceError(
            name,
            f"is in no YAML file of {end}",
            "write metadata.name of the CRD, or the path of its file",
        )
    found.path = path
    steps: list[Step] = []
    seen: set[tuple[str, str]] = set()
    while path and (end, path) not in seen:
        seen.add((end, path))
        if progress:
            progress(path)
        part, last = _along(name, path, end, floor)
        found.revisions += len(part)
        steps += part
        before = f"{last}^" if last else ""
        end, path = _go_on(name, before, path)
        found.cut = bool(before and not path and git.shallow())
        if path and floor and git.ask("merge-base", "--is-ancestor", end, floor) is not None:
            break
    found.steps = _changes(reversed(steps))
    if not found.steps:
        raise SourceError(name, f"is in no revision of {tip}", "name an older one")
    return found


def _go_on(name: str, end: str, path: str) -> tuple[str, str]:
    """Return the newest revision at or before an end that has the CRD, and its file, or blanks.

    Clusters keep a CRD that was gone from the repository for a while.
    """
    kinds = [f":(top){kind}" for kind in _KINDS]
    while end and git.is_commit(end):
        if found := _find(name, end, path):
            return end, found
        changed = git.ask(
            "log", "-1", "--first-parent", "-m", "--format=%H", f"-S{name}", end, "--", *kinds
        )
        lines = (changed or "").split()
        end = f"{lines[0]}^" if lines else ""
    return "", ""


def stored_of(tip: str) -> Callable[[str], list[str] | None]:
    """Return what tells for the name of a CRD the storedVersions that clusters can have at a tip.

    It gives None for a CRD that git does not have. Raises SourceError outside of a repository.
    """
    git.demand_repository(tip)
    git.demand_commit(tip)

    def stored(name: str) -> list[str] | None:
        try:
            return of_commits(name, tip).stored_versions
        except SourceError:
            return None

    return stored


def of_tags(name: str, pattern: str, *, progress: Progress | None = None) -> History:
    """Look for a CRD in every tag that matches a pattern, in the order of their versions."""
    git.demand_repository(pattern)
    listing = git.ask(
        "-c", "versionsort.suffix=-", "tag", "--list", pattern, "--sort=version:refname",
        "--format=%(refname:short)%09%(objectname)%09%(*objectname)%09%(creatordate:short)",
    ) or ""  # fmt: skip
    found = History(name)
    path = ""
    steps = []
    for line in listing.splitlines():
        tag, own, pointed, date = line.split("\t")
        if progress:
            progress(tag)
        found.revisions += 1
        versions = _versions_at(name, tag, path) if path else ()
        if not versions:
            path = _find(name, tag, path)
            versions = _versions_at(name, tag, path) if path else ()
        if versions:
            steps.append(Step(pointed or own, date, path, versions, label=tag))
            found.path = path
    found.cut = bool(git.shallow())
    if not found.revisions:
        raise SourceError(pattern, "matches no tag", "fetch them: git fetch --tags")
    found.steps = _changes(steps, every=True)
    if not found.steps:
        raise SourceError(name, f"is in none of {found.revisions} tags", "write metadata.name")
    return found


def _changes(steps: Iterable[Step], *, every: bool = False) -> list[Step]:
    """Return the steps whose versions differ from those before; of tags every one."""
    kept: list[Step] = []
    for step in steps:
        if every or not kept or kept[-1].versions != step.versions:
            kept.append(step)
    return kept


def _along(name: str, path: str, tip: str, floor: str) -> tuple[list[Step], str]:
    """Return the steps of one file, newest first, and the oldest commit that has the CRD in it."""
    span = [tip, *([f"^{floor}"] if floor else [])]
    log = git.ask(
        "log", "--first-parent", "-m", "--raw", "--no-abbrev", "--no-renames",
        "--format=%x01%H %cs", *span, "--", f":(top,literal){path}",
    ) or ""  # fmt: skip
    commits = list(_commits(log))
    versions = _read([blob for _, _, blob in commits], name)
    steps = []
    last = ""
    for commit, date, blob in commits:
        if versions.get(blob, ()) is None:
            continue  # no YAML for a while: no cluster took it
        if not versions.get(blob):
            # Before this the file was not there, or did not have the CRD.
            break
        steps.append(Step(commit, date, path, versions[blob] or ()))
        last = commit
    if not steps and floor:
        # Nothing changed in the range: what its end has counts.
        at_end = _versions_at(name, tip, path)
        commit = (git.ask("rev-parse", tip) or "").strip()
        date = (git.ask("log", "-1", "--format=%cs", tip) or "").strip()
        steps = [Step(commit, date, path, at_end)] if at_end else []
    return steps, last


def _commits(log: str) -> Iterator[tuple[str, str, str]]:
    """Yield commit, date and new blob of a raw log."""
    for entry in log.split("\x01")[1:]:
        head, *changes = entry.strip().splitlines()
        commit, date = head.split(" ")
        for change in changes:
            if change.startswith(":"):
                yield commit, date, change.split(" ")[3]
                break


def _find(name: str, revision: str, before: str) -> str:
    """Return the file of a revision that has a CRD: the one most like where it was."""
    listing = git.ask(
        "grep", "-l", "-z", "-F", "--full-name", "-e", name, revision, "--",
        *(f":(top){kind}" for kind in _KINDS),
    ) or ""  # fmt: skip
    paths = [entry.partition(":")[2] for entry in listing.split("\0") if entry]
    for path in sorted(paths, key=lambda path: _likeness(path, before)):
        if _versions_at(name, revision, path):
            return path
    return ""


def _likeness(path: str, before: str) -> tuple[bool, int, int, str]:
    """Rank a path, best first: the same file name, the most equal folders, the shortest."""
    folders = set(os.path.dirname(before).split("/"))
    shared = len(folders & set(os.path.dirname(path).split("/")))
    return os.path.basename(path) != os.path.basename(before), -shared, len(path), path


def _versions_at(name: str, revision: str, path: str) -> tuple[Version, ...]:
    found = git.run(["git", "cat-file", "blob", f"{revision}:{path}"])
    return () if found.returncode else versions_in(found.stdout, name)


def _read(blobs: list[str], name: str) -> dict[str, tuple[Version, ...] | None]:
    """Return the versions of a CRD in each of some blobs, None where one is no YAML."""
    wanted = list(dict.fromkeys(blob for blob in blobs if blob.strip("0")))
    found: dict[str, tuple[Version, ...] | None] = {}
    for start in range(0, len(wanted), _AT_ONCE):
        part = wanted[start : start + _AT_ONCE]
        text = git.run(["git", "cat-file", "--batch"], "\n".join(part).encode() + b"\n").stdout
        at = 0
        for blob in part:
            end = text.index(b"\n", at)
            fields = text[at:end].split()
            if len(fields) != 3:  # the clone is partial and lacks it
                at = end + 1
                continue
            size = int(fields[2])
            data = text[end + 1 : end + 1 + size]
            found[blob] = versions_in(data, name) or (None if _is_broken(data, name) else ())
            at = end + 1 + size + 1
    return found


def versions_in(data: bytes, name: str) -> tuple[Version, ...]:
    """Return the versions of the CRD of a name in the bytes of a file; none where it has none."""
    slim = _SCHEMA.sub(rb"\1\2\3 {}\n", data)
    for text in (slim, data) if slim != data else (data,):
        for part in document.read(text, name, wanted=name.encode()):
            for crd in _crds(part.data):
                if (crd.get("metadata") or {}).get("name") == name:
                    found = tuple(_versions(crd.get("spec")))
                    if found:
                        return found
    return ()


def _is_broken(data: bytes, name: str) -> bool:
    """Tell whether a file names a CRD in a document that does not parse."""
    wanted = name.encode()
    parts = document.read(data, name, wanted=wanted) if wanted in data else ()
    return any(part.error is not None for part in parts)


def _crds(data: Any) -> Iterator[dict[str, Any]]:
    if not isinstance(data, dict):
        return
    items = data.get("items")
    if isinstance(items, list):
        for item in items:
            yield from _crds(item)
    elif data.get("kind") == "CustomResourceDefinition" and isinstance(
        data.get("metadata") or {}, dict
    ):
        yield data


def _versions(spec: Any) -> Iterator[Version]:
    """Read spec.versions, or the single version of apiextensions v1beta1."""
    if not isinstance(spec, dict):
        return
    versions = spec.get("versions")
    if not isinstance(versions, list) or not versions:
        versions = [{"name": spec.get("version"), "served": True, "storage": True}]
    for version in versions:
        if isinstance(version, dict) and isinstance(version.get("name"), str):
            served, storage = version.get("served"), version.get("storage")
            yield Version(version["name"], served=served is True, storage=storage is True)
