import pickle

from point2node.core.errors import InputError, unknown_choice


def test_the_message_says_where_expected_found_and_remedy_in_one_line():
    error = InputError("room.txt, line 7", expected="six numbers", found="five", remedy="Mend it.")
    assert str(error) == "room.txt, line 7: expected six numbers, found five. Mend it."


def test_an_unknown_choice_lists_the_valid_names_and_suggests_the_nearest():
    error = unknown_choice("preset", "s3di", ["s3dis", "scannet"])
    assert "one of s3dis, scannet" in str(error)
    assert "Did you mean 's3dis'?" in str(error)


def test_a_suggestion_is_not_buried_under_a_long_list():
    valid = [f"key_{number}" for number in range(50)]
    assert str(unknown_choice("setting", "key_49x", valid)) == (
        "setting: expected one of 50 names, found 'key_49x'. Did you mean 'key_49'?"
    )
    assert ", ".join(valid) in str(unknown_choice("setting", "zzz", valid))


def test_a_choice_unlike_any_other_suggests_nothing():
    assert "Did you mean" not in str(unknown_choice("preset", "zzz", ["s3dis"]))


def test_it_survives_the_way_from_a_worker_process():
    error = InputError("a", expected="b", found="c", remedy="d")
    copy = pickle.loads(pickle.dumps(error))
    assert isinstance(copy, InputError)
    assert (str(copy), copy.remedy) == (str(error), "d")
