import pytest

from point2node.core.classes import SemanticClass
from point2node.core.errors import InputError
from point2node.data.class_file import read_class_file
from tests.data.layouts import CLASS_FILE


def test_names_values_and_colours_are_read(tmp_path):
    path = tmp_path / "classes.yaml"
    path.write_text(CLASS_FILE)
    classes, ignored = read_class_file(path)
    assert classes[:2] == (SemanticClass("ground", 2, (140, 90, 60)), SemanticClass("tree", 5, (34, 119, 34)))
    assert len({one.colour for one in classes}) == 3
    assert ignored == (0, 7)


def test_a_plain_list_is_enough(tmp_path):
    path = tmp_path / "classes.yaml"
    path.write_text("- {name: ground, value: 0, color: [1, 2, 3]}\n")
    assert read_class_file(path) == ((SemanticClass("ground", 0, (1, 2, 3)),), ())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "valid dictionary"),
        ("[]", "at least 1 item"),
        ("- {name: a}", "classes, 0, value: Field required"),
        ("- {name: a, value: high}", "classes, 0, value"),
        ("- {name: a, value: 1.5}", "classes, 0, value"),
        ("- {name: a, value: 1, colour: [1, 2, 300]}", "classes, 0, colour, 2"),
        ("- {name: a, value: 1, colour: '#12345g'}", "classes, 0, colour"),
        ("- {name: a, value: 1, weight: 3}", "classes, 0, weight"),
        ("- {name: a, value: 1}\n- {name: a, value: 2}", "'a' 2 times"),
        ("- {name: a, value: 1}\n- {name: b, value: 1}", "1 2 times"),
        ("classes: [{name: a, value: 1}]\nignore: [1]", "1 in both"),
        ("- {name: a", "expected YAML"),
        ("!!python/object/apply:os.system ['true']", "expected YAML"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path, text, message):
    path = tmp_path / "classes.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=r"classes\.yaml") as caught:
        read_class_file(path)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_one_clear_error(tmp_path):
    with pytest.raises(InputError, match="expected a file of classes"):
        read_class_file(tmp_path / "classes.yaml")
