import numpy as np
import pytest
from PIL import Image

from point2node.show.colours import RAMPS
from point2node.show.sheets import BACKGROUND, LONGEST_NAME, MOST_NAMES, Sheet, legend, one_line, scale

RED = np.tile(np.array([255, 0, 0, 255], np.uint8), (40, 60, 1))


def reds(picture):
    return (np.asarray(picture) == [255, 0, 0]).all(axis=-1)


def test_pictures_stand_in_rows_and_an_empty_place_stays_empty():
    drawn = reds(Sheet([[RED, RED], [None, RED]]).draw())
    assert drawn.sum() == 3 * RED.shape[0] * RED.shape[1]
    rows, columns = (np.flatnonzero(drawn.any(axis=axis)) for axis in (1, 0))
    middle = np.flatnonzero(np.diff(rows) > 1)[0] + 1, np.flatnonzero(np.diff(columns) > 1)[0] + 1
    assert not drawn[rows[middle[0]] :, : columns[middle[1]]].any()


def test_transparent_pixels_show_the_sheet():
    picture = np.asarray(Sheet([[RED * np.uint8([1, 1, 1, 0])]]).draw())
    assert (picture == BACKGROUND).all()


def test_words_take_space_only_where_there_are_some():
    plain = Sheet([[RED]]).draw().size
    assert Sheet([[RED]], title="a room").draw().height > plain[1]
    assert Sheet([[RED]], headings=["truth"]).draw().height > plain[1]
    assert Sheet([[RED]], note="cut away").draw().height > plain[1]
    assert Sheet([[RED]], names=["a room"]).draw().width > plain[0]
    assert Sheet([[RED]], key=legend([("wall", (0, 255, 255))], 60)).draw().height > plain[1]


def test_a_legend_shows_every_colour_in_columns_that_fit():
    entries = [(f"class {n}", (10 * n, 255 - 10 * n, 7)) for n in range(20)]
    drawn = legend(entries, 500)
    assert drawn.width <= 500
    colours = {tuple(colour) for colour in np.asarray(drawn).reshape(-1, 3).tolist()}
    assert {colour for _, colour in entries} <= colours
    assert legend(entries, 200).height > drawn.height


def test_a_legend_without_entries_is_none_and_one_with_too_many_is_cut():
    assert legend([], 500) is None
    few, many = (
        legend([("x" * length, (1, 2, 3))] * count, 900) for length, count in ((LONGEST_NAME, MOST_NAMES), (999, 500))
    )
    assert many.width <= few.width + 40
    assert many.height <= few.height + 60


def test_a_scale_runs_from_the_first_to_the_last_colour():
    bar = np.asarray(scale("entropy", 900))[2]
    coloured = bar[(bar != BACKGROUND).any(axis=-1)]
    assert coloured[0].tolist() == list(RAMPS["entropy"][0])
    assert coloured[-1].tolist() == list(RAMPS["entropy"][-1])


@pytest.mark.parametrize("text", ["", "Büro 3", "a\nb\tc\0", "部屋"])
def test_any_text_is_drawn_on_one_line(text, tmp_path):
    assert one_line(text).isprintable()
    Sheet([[RED]], title=text, names=[text], note=text).save(tmp_path / "a.png")
    with Image.open(tmp_path / "a.png") as picture:
        assert picture.height < 200
