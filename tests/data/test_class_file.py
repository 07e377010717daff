import pytest

from point2node.core.classes import CLASS_LISTS, S3DIS, SemanticClass
from point2node.core.errors import InputError
from point2node.data.class_file import read_class_file, read_scheme, scheme_names
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
        ("", "expected a list of classes, or 'classes' and 'ignore', found None"),
        ("just text", "expected a list of classes, or 'classes' and 'ignore', found 'just text'"),
        ("[]", "expected a list of one class or more, found []"),
        ("classes:", "expected a list of one class or more, found None"),
        ("[a, b]", "classes.yaml, class 1: expected a class such as {name: tree, value: 5}, found 'a'"),
        ("- {name: a}", "class 1: expected a whole number of 32 bits as value, found nothing"),
        ("- {name: a, value: high}", "class 1: expected a whole number of 32 bits as value, found 'high'"),
        ("- {name: a, value: 1.5}", "as value, found 1.5"),
        ("- {name: a, value: true}", "as value, found True"),
        ("- {name: a, value: 99999999999}", "as value, found 99999999999"),
        ("- {name: 5, value: 1}", "expected a name in quotes or letters, found 5"),
        ("- {name: '', value: 1}", "expected a name in quotes or letters, found ''"),
        ("- {name: a, value: 1, colour: red}", "or '#rrggbb', as colour, found 'red'"),
        ("- {name: a, value: 1, colour: [1, 2, 300]}", "or '#rrggbb', as colour, found 300"),
        ("- {name: a, value: 1, color: [1, 2]}", "or '#rrggbb', as col"),
        ("- {name: a, value: 1, colour: '#12345g'}", "as colour, found '#12345g'"),
        (
            "- {name: a, value: 1}\n- {name: b, value: 1, weight: 3}",
            "class 2: expected nothing but name, value and colour",
        ),
        ("classes: [{name: a, value: 1}]\nignored: [2]", "expected nothing but classes and ignore, found 'ignored'"),
        ("classes: [{name: a, value: 1}]\nignore: 2", "expected a list of whole numbers to ignore, found 2"),
        ("classes: [{name: a, value: 1}]\nignore: [x]", "expected a list of whole numbers to ignore, found 'x'"),
        ("- &a [*a]", "expected a class such as"),
        ("[" * 3000, "expected YAML"),
        ("- {name: a\n\tvalue: 1}", "classes.yaml, line 2: expected YAML, found"),
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


GIVEN = (SemanticClass("wall", 0, (0, 0, 0)), SemanticClass("door", 1, (0, 0, 0)), SemanticClass("cup", 2, (0, 0, 0)))


def scheme_of(tmp_path, text):
    (tmp_path / "mine.yaml").write_text(text)
    return read_scheme(str(tmp_path / "mine.yaml"))


@pytest.mark.parametrize("classes", CLASS_LISTS.values(), ids=CLASS_LISTS)
@pytest.mark.parametrize("name", scheme_names())
def test_schemes_of_the_package_have_a_class_for_every_class_of_the_data_sets(name, classes):
    scheme = read_scheme(name)
    assert set(scheme.values_for(classes)) <= {one.value for one in scheme.classes}


def test_asprs_knows_ground_and_building_and_nyu40_the_ids_of_scannet():
    names = [one.name for one in S3DIS]
    asprs = dict(zip(names, read_scheme("asprs").values_for(S3DIS), strict=True))
    assert (asprs["floor"], asprs["wall"], asprs["chair"]) == (2, 6, 1)
    nyu = dict(zip(names, read_scheme("nyu40").values_for(S3DIS), strict=True))
    assert (nyu["wall"], nyu["bookcase"], nyu["ceiling"], nyu["column"], nyu["clutter"]) == (1, 10, 22, 38, 40)


def test_a_class_stands_for_its_namesake_for_those_named_or_for_all_others(tmp_path):
    scheme = scheme_of(
        tmp_path,
        "- {name: door, value: 9}\n- {name: built, value: 7, from: [wall]}\n- {name: x, value: 5, from: others}",
    )
    assert scheme.values_for(GIVEN) == [7, 9, 5]
    assert scheme.unlabelled == 255


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- {name: a, value: 1, from: [wal, door, cup]}", "from of 'a': expected one of wall, door, cup, found 'wal'"),
        ("- {name: a, value: 1, from: [wall, door]}", "found none for 'cup'"),
        ("- {name: a, value: 1, from: [wall, door, cup]}\n- {name: b, value: 2, from: [cup]}", "'cup' twice"),
        ("- {name: a, value: 1, from: others}\n- {name: b, value: 2, from: others}", "one class with 'from: others'"),
        ("classes: [{name: a, value: 0, from: others}]\nunlabelled: 0", "a value for 'unlabelled' that no class has"),
        ("- {name: a, value: 1, from: 3}", "a list of classes, or 'others', as from"),
        ("- {name: a, value: 1, from: everything}", "a list of classes, or 'others', as from"),
        ("- {name: a, value: 1, origin: wall}", "nothing but name, value, colour and from, found 'origin'"),
        ("classes: []", "a list of one class or more"),
        ("3", "expected"),
    ],
)
def test_a_scheme_that_cannot_be_used_is_explained(tmp_path, text, said):
    with pytest.raises(InputError) as caught:
        scheme_of(tmp_path, text).values_for(GIVEN)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_name_is_refused():
    with pytest.raises(InputError, match=r"--classes: expected asprs, nyu40 or a YAML file"):
        read_scheme("aspr")
