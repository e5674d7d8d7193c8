"""Texts that are not files: git revisions, and the CRDs of a cluster by the user's own kubectl."""

# pathlib costs more start-up than a clean run may.

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from crdlint import git, source
from crdlint.source import STDIN, SUFFIXES, Source, SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CLUSTER = "cluster:"
_BRANCHES = ("main", "master", "trunk", "develop")
_REGULAR = ("100644", "100755")
_SYMLINK = "120000"
_HEXADECIMAL = frozenset("0123456789abcdef")


def side(text: str, *, stdin_filename: str = "") -> Iterator[Source]:
    """Yield the sources that one side of a comparison names.

    That is a file, a folder, `-`, `REVISION:PATH` of git as in `HEAD~1:config/crd`, or
    `cluster:NAME`. A file that is there wins over a revision of the same spelling. Raises
    SourceError.
    """
    if text.startswith(CLUSTER) and not os.path.exists(text):
        yield cluster(text.removeprefix(CLUSTER))
    elif text == STDIN or ":" not in text or os.path.exists(text):
        yield from source.find([text], stdin_filename=stdin_filename)
    else:
        revision, path = _split(text)
        yield from at_revision(revision, [_from_top(revision, path)], text)


def revision_of(text: str) -> str:
    """Return the git revision that a side names, or "" where it names none."""
    if text.startswith(CLUSTER) or ":" not in text or os.path.exists(text):
        return ""
    return _split(text)[0]


def _split(text: str) -> tuple[str, str]:
    """Split `REVISION:PATH` at the colon before which git knows a revision."""
    first = text.partition(":")
    at = text.find(":")
    while at >= 0:
        revision, path = text[:at], text[at + 1 :]
        if revision and not revision.startswith("-") and git.is_commit(revision):
            return revision, path
        at = text.find(":", at + 1)
    git.demand_repository(text)
    raise git.unknown_revision(first[0], text)


def changed(
    base: str | None, head: str | None, paths: Sequence[str]
) -> tuple[list[Source], list[Source], str]:
    """Return the sources of a revision, those of the working tree or of another one, and the base.

    Without a base it is the commit where the work at hand left the default branch. Paths are
    those of the working tree, relative to the current folder.
    """
    git.demand_repository(base or "--base")
    tip = head or "HEAD"
    start = base or merge_base(tip)
    git.demand_commit(start)
    wanted = list(paths) or ["."]
    inside = [below_top(path) for path in wanted]
    old = list(at_revision(start, inside, start, missing_ok=True))
    if head is None:
        there = [path for path in wanted if os.path.exists(path)]
        if not there and not old:
            raise SourceError(wanted[0], "is neither here nor there", f"name what {start} has")
        new = list(source.find(there))
    else:
        git.demand_commit(head)
        new = list(at_revision(head, inside, head, missing_ok=True))
        if not old and not new:
            raise SourceError(
                wanted[0], f"is neither in {start} nor in {head}", "name a path that git has"
            )
    return old, new, start


def before(revision: str, paths: Sequence[str]) -> Iterator[Source]:
    """Yield what a revision has of paths of the working tree; files that moved since by both names.

    Raises SourceError.
    """
    git.demand_repository(revision)
    git.demand_commit(revision)
    inside = [below_top(path) for path in paths]
    listed = git.ask("diff", "--name-status", "--diff-filter=R", "-M", "-z", revision, "--") or ""
    words = iter(listed.split("\0"))
    for _, old, new in zip(words, words, words, strict=False):
        if any(not path or new == path or new.startswith(f"{path}/") for path in inside):
            inside.append(old)
    yield from at_revision(revision, list(dict.fromkeys(inside)), revision, missing_ok=True)


def touched(
    base: str | None, head: str | None, paths: Sequence[str]
) -> tuple[list[Source], list[Source], str]:
    """Return what `changed` does, less all files that are the same on both sides.

    Files that git ignores are left out too. A base of `HEAD` may have no commit yet.
    """
    git.demand_repository(base or "--base")
    if base == "HEAD" and not git.is_commit(base):
        start = (git.ask("hash-object", "-t", "tree", os.devnull) or "").strip()
    else:
        start = base or merge_base(head or "HEAD")
        git.demand_commit(start)
    if head is not None:
        git.demand_commit(head)
    revisions = [start] if head is None else [start, head]
    inside = [f":(top,literal){_demand_path(path, revisions)}" for path in paths]
    compare = ("diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-relative")
    listed = git.ask(*compare, *revisions, "--", *inside) or ""
    if head is None:
        new = ("ls-files", "--others", "--exclude-standard", "--full-name", "-z")
        listed += git.ask(*new, "--", *(inside or [":/"])) or ""
    names = {name for name in listed.split("\0") if name.endswith(SUFFIXES)}
    old = list(_some(start, names))
    if head is not None:
        return old, list(_some(head, names)), start
    top = (git.ask("rev-parse", "--show-toplevel") or ".").rstrip("\n")
    files = [os.path.relpath(os.path.join(top, name)) for name in sorted(names)]
    return old, [Source(file) for file in files if os.path.isfile(file)], start


def _demand_path(path: str, revisions: Sequence[str]) -> str:
    """Return a path from the top; raise SourceError where neither side has it."""
    below = below_top(path)
    if (len(revisions) > 1 or not os.path.lexists(path)) and not any(
        git.ask("ls-tree", "--full-tree", revision, "--", below or ".") for revision in revisions
    ):
        places = [f"in {revision}" for revision in revisions]
        where = " nor ".join(places if len(places) > 1 else ["here", *places])
        raise SourceError(path, f"is neither {where}", f"name a path that {revisions[0]} has")
    return below


def _some(revision: str, names: set[str]) -> Iterator[Source]:
    """Yield the files of a revision that have one of these names, as seen from the top."""
    if names:
        for source in at_revision(revision, [""], revision, missing_ok=True):
            if source.name.removeprefix(_shown(revision, "")) in names:
                yield source


def merge_base(tip: str) -> str:
    """Return the commit where a line of work left the default branch."""
    target = default_branch()
    found = git.ask("merge-base", target, tip)
    if found is None:
        raise SourceError(
            target,
            f"has no common ancestor with {tip}{git.shallow()}",
            "fetch more history (git fetch --unshallow; in GitHub Actions fetch-depth: 0), or name"
            " the revision with --base",
        )
    return found.strip()[:12]


def default_branch() -> str:
    """Return the branch that work is merged into: of a pull request, of origin, or by name."""
    names = []
    if target := os.environ.get("GITHUB_BASE_REF") or os.environ.get(
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME"
    ):
        names += [f"origin/{target}", target]
    if remote := git.ask("symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"):
        names.append(remote.strip())
    names += [f"origin/{name}" for name in _BRANCHES]
    names += _BRANCHES
    for name in names:
        if git.is_commit(name):
            return name
    raise SourceError(
        "the default branch",
        "is not known here",
        "name the revision to compare with: --base REVISION",
    )


def at_revision(
    revision: str, paths: Sequence[str], asked: str, *, missing_ok: bool = False
) -> Iterator[Source]:
    """Yield the files of a revision at and below paths that start at the top of the repository."""
    for path in paths:
        entries = list(_entries(revision, path))
        if not entries and not missing_ok:
            raise SourceError(
                asked,
                f"{revision} has no {path or 'YAML file'}",
                f"look with: git ls-tree -r --name-only {revision}",
            )
        for name, blob in entries:
            shown = _shown(revision, name)
            yield Source(shown, lambda blob=blob, shown=shown: _blob(blob, shown))  # type: ignore[misc]


def _shown(revision: str, name: str) -> str:
    """Return how reports name a file of a revision: an object name of 40 digits is cut to 12."""
    whole = len(revision) >= 40 and set(revision) <= _HEXADECIMAL
    return f"{revision[:12] if whole else revision}:{name}"


def _entries(revision: str, path: str) -> Iterator[tuple[str, str]]:
    """Yield name and blob of the YAML and JSON files at and below a path; the file named itself."""
    below = [path] if path else []
    listing = git.ask("ls-tree", "-r", "-z", "--full-tree", revision, "--", *below)
    for entry in (listing or "").split("\0"):
        meta, _, name = entry.partition("\t")
        parts = meta.split()
        if len(parts) != 3 or parts[0] not in (*_REGULAR, _SYMLINK):
            continue
        if name == path or name.endswith(SUFFIXES):
            blob = parts[2]
            if parts[0] == _SYMLINK:
                blob = f"{revision}:{name}"
            yield name, blob


def _blob(blob: str, shown: str) -> bytes:
    """Return the bytes of a blob; a link inside the repository is followed."""
    if ":" in blob:  # a link: let git follow it
        asked = os.fsencode(f"{blob}\n")
        text = git.run(["git", "cat-file", "--batch", "--follow-symlinks"], asked)
        head, _, rest = text.stdout.partition(b"\n")
        if text.returncode or head.split()[1:2] != [b"blob"]:
            reason = "is a link that leads out of the repository"
            raise SourceError(shown, reason, "name its target")
        return rest[:-1]
    found = git.run(["git", "cat-file", "blob", blob])
    if found.returncode:
        raise SourceError(shown, f"cannot be read: {git.said(found)}", "try: git fsck")
    if found.stdout.startswith(b"version https://git-lfs.github.com/spec/"):
        raise SourceError(shown, "is kept by Git LFS, not in git", "check it out and name the file")
    return found.stdout


def _from_top(revision: str, path: str) -> str:
    """Return a path of `REVISION:PATH` as seen from the top: as git reads it, else from here."""
    clean = os.path.normpath(path).replace(os.sep, "/") if path else ""
    clean = "" if clean == "." else clean
    if path.startswith(("./", "../")):
        return below_top(path)
    if clean and git.ask("cat-file", "-e", f"{revision}:{clean}") is None:
        below = below_top(path)
        if git.ask("cat-file", "-e", f"{revision}:{below}") is not None:
            return below
    return clean


def below_top(path: str) -> str:
    """Return a path of the working tree as seen from the top of the repository."""
    top = os.path.realpath((git.ask("rev-parse", "--show-toplevel") or ".").rstrip("\n"))
    full = os.path.join(os.path.realpath(os.getcwd()), path)
    # The last part may itself be a link that git keeps as one.
    folder, name = os.path.split(os.path.normpath(full))
    inside = os.path.relpath(os.path.join(os.path.realpath(folder), name), top)
    if inside == os.curdir:
        return ""
    if inside.startswith(os.pardir):
        raise SourceError(path, f"is outside of the git repository {top}", "name a path inside")
    return inside.replace(os.sep, "/")


def cluster(name: str) -> Source:
    """Return a CRD as the cluster of the current context holds it, read by kubectl."""
    shown = f"{CLUSTER}{name}"
    if not name or name.startswith("-"):
        raise SourceError(shown, "names no CRD", "write it as cluster:widgets.example.com")
    return Source(shown, lambda: _from_cluster(name, shown))


def _from_cluster(name: str, shown: str) -> bytes:
    command = ["kubectl", "get", "customresourcedefinition", name, "-o", "json"]
    import subprocess

    try:
        found = subprocess.run(command, capture_output=True, check=False)  # noqa: S603
    except FileNotFoundError:
        raise SourceError(
            shown,
            "kubectl is not installed, or not in PATH",
            "install it, or give a dump: kubectl get crd NAME -o yaml",
        ) from None
    except OSError as error:
        raise SourceError(
            shown, f"kubectl does not start: {error.strerror}", "check that it runs"
        ) from None
    if found.returncode:
        raise SourceError(
            shown,
            f"kubectl failed: {git.said(found)}",
            f"check context and rights with: kubectl get crd {name}",
        )
    if b"CustomResourceDefinition" not in found.stdout:
        cure = f"look at what it prints: kubectl get crd {name} -o json"
        raise SourceError(shown, "kubectl printed no CustomResourceDefinition", cure)
    return found.stdout
