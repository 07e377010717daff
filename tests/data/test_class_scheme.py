import pytest

from point2node.core.classes import CLASS_LISTS, S3DIS, SemanticClass
from point2node.core.errors import InputError
from point2node.data.class_scheme import read_scheme, scheme_names

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
