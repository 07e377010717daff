import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from point2node.core.documents import parse_json, parse_yaml

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs", "Cc"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="ascii", categories=["L"])), inner),
)


@given(values)
def test_what_was_written_is_what_is_read(value):
    assert parse_json(json.dumps(value)) == value
    assert parse_yaml(yaml.safe_dump(value)) == value


@pytest.mark.parametrize("parse", [parse_json, parse_yaml])
def test_a_text_nested_too_deeply_is_as_bad_as_a_damaged_one(parse):
    with pytest.raises(ValueError, match="nested too deeply"):
        parse("[" * 20_000 + "]" * 20_000)


def test_a_text_that_is_no_json_is_a_value_error():
    with pytest.raises(ValueError, match="Expecting"):
        parse_json("{")
