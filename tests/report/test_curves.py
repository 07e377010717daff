import pytest

from point2node.report.curves import SCENES, SHAPES, draw_curve
from point2node.training.history import COLUMNS

HEADING = ",".join(COLUMNS) + "\n"


@pytest.mark.parametrize(
    "rows",
    [
        "",
        "5,0,2.5,0.1,0.001,900,,,,,\n",
        "5,0,2.5,0.1,0.001,900,,,,,\n10,0,1.5,0.4,0.001,900,,,,,\n10,0,,,,,,,0.4,0.3,0.2\n",
        "10,0,,,,,,,nan,nan,nan\n",
    ],
    ids=["nothing yet", "without validation", "with validation", "nothing to score"],
)
def test_any_history_has_a_picture(rows, tmp_path):
    (tmp_path / "history.csv").write_text(HEADING + rows)
    draw_curve(tmp_path / "history.csv", tmp_path / "curve.png", "a run")
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG\r\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["curve.png", "history.csv"]


def test_the_same_history_gives_the_same_picture_and_another_another(tmp_path):
    for name, loss in (("a", 2.5), ("b", 2.5), ("c", 0.5)):
        (tmp_path / name).write_text(HEADING + f"5,0,3.0,0.1,0.001,900,,,,,\n10,0,{loss},0.1,0.001,900,,,,,\n")
        draw_curve(tmp_path / name, tmp_path / f"{name}.png", "a run")
    pictures = [(tmp_path / f"{name}.png").read_bytes() for name in "abc"]
    assert pictures[0] == pictures[1] != pictures[2]


def test_scenes_and_shapes_are_drawn_with_the_scores_that_they_are_judged_by(tmp_path):
    (tmp_path / "history.csv").write_text(HEADING + "10,0,,,,,,,0.9,0.8,0.3\n")
    for name, figures in (("scenes", SCENES), ("shapes", SHAPES)):
        draw_curve(tmp_path / "history.csv", tmp_path / f"{name}.png", "a run", figures)
    assert (tmp_path / "scenes.png").read_bytes() != (tmp_path / "shapes.png").read_bytes()
