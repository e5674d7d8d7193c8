"""Data written as YAML is read back as the same data."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from crdlint import document, json_text, yaml_text

WORDS = st.sampled_from(
    "y No on 0755 0x1 1e3 1_0 ~ null .inf -.inf .nan 1:30 2020-01-01 = << --- ... - ? a: :a #".split()
) | st.sampled_from(
    ["a: b", "a #b", "- a", "a\nb", "a\nb\n", "a\n\n", " a\nb", "a \nb", "\n", "\u2028", "\x7f"]
)
TEXTS = WORDS | st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


def same(a: Any, b: Any) -> bool:
    return json_text.dump(a) == json_text.dump(b)


@given(st.dictionaries(TEXTS, VALUES, min_size=1, max_size=4))
@settings(deadline=None)
def test_round_trip(value: dict[str, Any]) -> None:
    text = yaml_text.dump(value)
    (read,) = document.read(text.encode(), "a.yaml")
    assert read.error is None, (text, read.error)
    assert same(read.data, value)


def test_what_it_looks_like() -> None:
    value = {
        "kind": "Widget",
        "spec": {"on": "yes", "list": [{"a": 1, "b": []}, [1, 2]], "text": "a\nb\n", "empty": {}},
    }
    assert (
        yaml_text.dump(value)
        == """\
kind: Widget
spec:
  "on": "yes"
  list:
  - a: 1
    b: []
  - - 1
    - 2
  text: |
    a
    b
  empty: {}
"""
    )


def test_deep_data() -> None:
    deep: Any = 1
    for i in range(9_000):
        deep = {"a": deep} if i % 2 else [deep]
    assert len(yaml_text.dump({"x": deep})) < 100_000
    assert json_text.dump(deep).count("[") == 4_500
