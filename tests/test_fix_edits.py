"""Edits of text: the smallest ones, in every style of YAML and in JSON."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crdlint import document
from crdlint.edits import (
    APPEND,
    DROP,
    MOVE,
    PUT,
    RENAME,
    UNSHADOW,
    UNWRAP,
    Change,
    Plan,
    apply,
    changed,
    plain,
    same,
)
from crdlint.outline import NotEditable, Outline


def edit(text: str, *changes: Change) -> str:
    plan = Plan(Outline(text))
    assert plan.add(list(changes))
    new = apply(text, plan.edits())
    (before,) = document.read(text.encode(), "before")
    (after,) = document.read(new.encode(), "after")
    assert after.error is None, (new, after.error)
    assert same(plain(after.data), changed(before.data, changes)), new
    return new


CASES: list[tuple[str, str, list[Change], str]] = [
    (
        "a key of an item, the dash stays",
        "a:\n- name: x  # note\n  b: 1\n",
        [Change(DROP, ("a", 0, "name"))],
        "a:\n- b: 1\n",
    ),
    (
        "the only key",
        "a:\n  b: 1\nc: 2\n",
        [Change(DROP, ("a", "b"))],
        "a: {}\nc: 2\n",
    ),
    (
        "comments of others stay",
        "a: 1\n# of b\nb: 2 # b\n# of c\nc: 3\n",
        [Change(DROP, ("b",))],
        "a: 1\n# of b\n# of c\nc: 3\n",
    ),
    (
        "a new key behind another one, indented as they are",
        "a:\n    b: 1\n    c: 2\n",
        [Change(PUT, ("a", "x"), {"q": ["z"]}, after="b")],
        "a:\n    b: 1\n    x:\n        q:\n        - z\n    c: 2\n",
    ),
    (
        "lists indented below their key",
        "a:\n  - 1\n",
        [Change(PUT, ("b",), ["on"])],
        'a:\n  - 1\nb:\n  - "on"\n',
    ),
    (
        "behind a block scalar that keeps its line ends",
        "a: |+\n  text\n\n",
        [Change(PUT, ("b",), 1)],
        "b: 1\na: |+\n  text\n\n",
    ),
    (
        "brackets",
        "a: {b: 1, c: [x, y]}\n",
        [Change(DROP, ("a", "b")), Change(APPEND, ("a", "c"), "z"), Change(PUT, ("a", "d"), True)],
        "a: {c: [x, y, z], d: true}\n",
    ),
    (
        "JSON",
        '{\n  "a": {\n    "b": [1]\n  },\n  "c": "x"\n}\n',
        [
            Change(PUT, ("a", "d"), "y"),
            Change(RENAME, ("c",), "e"),
            Change(APPEND, ("a", "b"), 2),
        ],
        '{\n  "a": {\n    "b": [1, 2],\n    "d": "y"\n  },\n  "e": "x"\n}\n',
    ),
    (
        "quotes stay",
        "a: 'x'\nb: \"x\"\nc: x\n",
        [Change(PUT, (key,), "y z") for key in "abc"],
        "a: 'y z'\nb: \"y z\"\nc: y z\n",
    ),
    (
        "a value of several lines",
        "a: >-\n  x\n  y\nb: {}\n",
        [Change(PUT, ("a",), "z"), Change(PUT, ("b", "c"), 1)],
        "a: z\nb: {c: 1}\n",
    ),
    (
        "an unwritten null",
        "a:\nb:\n- \n",
        [Change(PUT, ("a",), 1), Change(PUT, ("b", 0), "x")],
        "a: 1\nb:\n- x \n",
    ),
    (
        "an item out of its list",
        "items:\n- type: string\n  # why\n  x: 1\n",
        [Change(UNWRAP, ("items",))],
        "items:\n  type: string\n  # why\n  x: 1\n",
    ),
    (
        "what a later key overwrites",
        "a: 1\nb: 2\na: 3\n",
        [Change(UNSHADOW, ("a",))],
        "b: 2\na: 3\n",
    ),
    (
        "an entry with its text, to another depth and with other names",
        "x:\n  old:  # note\n    # more\n    K: |\n      text\n  l:\n  - n: 1\n",
        [
            Change(
                MOVE,
                ("x", "l", 0, "new"),
                {"k": "text\n"},
                source=("x", "old"),
                names={"K": "k"},
            ),
            Change(DROP, ("x", "old")),
        ],
        "x:\n  l:\n  - n: 1\n    new:  # note\n      # more\n      k: |\n        text\n",
    ),
    (
        "several lines at one place: the deepest first",
        "a:\n  b:\n    c: 1\n",
        [Change(PUT, ("a", "b", "d"), 2), Change(PUT, ("a", "e"), 3), Change(PUT, ("f",), 4)],
        "a:\n  b:\n    c: 1\n    d: 2\n  e: 3\nf: 4\n",
    ),
    (
        "behind a line that goes",
        "a:\n  b:\n    c: 1\n    d: 2\n",
        [Change(DROP, ("a", "b", "d")), Change(PUT, ("a", "e"), 3)],
        "a:\n  b:\n    c: 1\n  e: 3\n",
    ),
    (
        "through an alias, once",
        "a: &x\n  k: 1\n  l: 2\nb: *x\n",
        [Change(DROP, ("a", "k")), Change(DROP, ("b", "k"))],
        "a: &x\n  l: 2\nb: *x\n",
    ),
]


@pytest.mark.parametrize(
    ("text", "changes", "new"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_edits(text: str, changes: list[Change], new: str) -> None:
    assert edit(text, *changes) == new


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("a: &x {k: 1}\nb:\n  <<: *x\n", Change(DROP, ("b", "k"))),
        ("a: &x 1\nb: *x\n", Change(PUT, ("b",), 2)),
        ("a: 1\n", Change(DROP, ("b",))),
    ],
)
def test_what_stands_elsewhere_is_not_edited(text: str, change: Change) -> None:
    with pytest.raises(NotEditable):
        Plan(Outline(text)).add([change])


def test_changes_that_touch_each_other_wait() -> None:
    plan = Plan(Outline("a:\n  b: 1\n"))
    assert plan.add([Change(PUT, ("a", "b"), 2)])
    assert not plan.add([Change(DROP, ("a",))])
    assert not plan.add([Change(PUT, ("a", "b"), 3)])


KEYS = st.sampled_from(["a", "b", "on", "1", "x-y", "with space", "ü", "#", "a: b", "'"])
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-99, 99),
    st.sampled_from(["yes", "", "x", "1.5", "a\nb", "- x", "é", "{", "0x1"]),
)
TREES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=10,
)


@settings(max_examples=300, deadline=None)
@given(data=st.dictionaries(KEYS, TREES, min_size=1, max_size=4), value=TREES, seed=st.data())
def test_edits_make_exactly_the_changes(
    data: dict[str, Any], value: Any, seed: st.DataObject
) -> None:
    import yaml

    style = seed.draw(st.sampled_from([False, True, None]))
    text = yaml.safe_dump(data, default_flow_style=style, allow_unicode=True, sort_keys=False)
    (read,) = document.read(text.encode(), "x")
    paths: list[tuple[str | int, ...]] = [()]
    for path in paths:
        here = changed(read.data, ()) if not path else read.value(path)
        steps = (
            here if isinstance(here, dict) else range(len(here)) if isinstance(here, list) else ()
        )
        paths += [(*path, step) for step in steps]
    path = seed.draw(st.sampled_from(paths))
    here = read.value(path)
    options = []
    if path:
        options += [Change(PUT, path, value), Change(DROP, path)]
    if isinstance(here, dict):
        options += [Change(PUT, (*path, "new"), value)]
    if isinstance(here, list):
        options += [Change(APPEND, path, value)]
    edit(text, seed.draw(st.sampled_from(options)))
