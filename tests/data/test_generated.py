import pytest

from point2node.core.errors import InputError
from point2node.data.generated import list_rooms


def test_rooms_of_all_three_splits_are_listed_and_numbered():
    dataset = list_rooms(10, seed=3)
    splits = [source.split for source in dataset.sources]
    assert [splits.count(split) for split in ("train", "val", "test")] == [8, 1, 1]
    assert dataset.sources[0].name == "room_00000"


def test_only_the_test_split_is_furnished_in_held_out_styles(monkeypatch):
    import point2node.rooms as rooms

    asked = {}
    monkeypatch.setattr(rooms, "generate_room", lambda seed, index, *, styles: asked.setdefault(index, styles))
    dataset = list_rooms(10)
    for index, source in enumerate(dataset.sources):
        list(source.read(False))
        assert asked[index] == ("held_out" if source.split == "test" else "train")


def test_no_rooms_at_all_are_refused():
    with pytest.raises(InputError, match="--rooms"):
        list_rooms(0)


def test_a_store_of_an_older_generator_is_prepared_again(monkeypatch):
    import point2node.data.generated as generated
    from point2node.data.store_writer import fingerprint

    marks = []
    for version in (1, 2):
        monkeypatch.setattr(generated, "GENERATOR", version)
        dataset = list_rooms(1)
        marks.append(fingerprint(dataset.sources[0], dataset))
    assert marks[0] != marks[1]
