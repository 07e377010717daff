import math
from importlib import resources

import pytest
import torch
import yaml

from point2node.core.classes import CLASS_LISTS
from point2node.core.errors import InputError
from point2node.models.catalogue import create_model, find_size
from point2node.weights.settings import (
    MACHINE,
    Settings,
    check_settings,
    load_preset,
    parse_overrides,
    preset_names,
    read_settings,
)

KEYS = list(Settings.model_fields)
PAPER = ("s3dis", "scannet", "modelnet40")


def preset_values(name):
    return yaml.safe_load((resources.files("point2node") / "presets" / f"{name}.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_is_complete_and_in_the_order_of_the_schema(name):
    assert list(preset_values(name)) == KEYS
    assert load_preset(name).model_dump(mode="json") == preset_values(name)


@pytest.mark.parametrize("name", preset_names())
def test_the_network_of_every_preset_builds_for_its_classes_and_points(name):
    settings = load_preset(name)
    classes = settings.classes if not isinstance(settings.classes, str) else len(CLASS_LISTS[settings.classes])
    with torch.device("meta"):
        network = create_model(
            settings.model,
            preset=settings.size,
            variant=settings.variant,
            num_classes=classes,
            in_features=3 * len(settings.features),
            width=settings.width,
            dropout=settings.dropout,
        )
    assert network.task == ("classification" if settings.dataset == "modelnet" else "segmentation")
    assert settings.points >= network.plan.fewest_points
    assert settings.points == find_size(settings.size).points
    assert settings.block_points % settings.points == 0  # a block is asked in whole groups


def test_the_presets_that_the_documents_name_are_there():
    assert {*PAPER, "modelnet10", "rooms", "tiny"} <= set(preset_names())
    assert {f"{name}_modern" for name in (*PAPER, "modelnet10", "rooms")} <= set(preset_names())


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "s3dis",  # FACTS.md §4
            {
                "classes": "s3dis",
                "features": ("rgb",),
                "points": 2048,
                "block_side": 1.5,
                "block_grid": 0.03,
                "block_points": 8192,
                "test_area": 5,
                "steps": 60_000,
                "epochs": 1024,
                "batch_size": 16,
                "optimiser": "adam",
                "learning_rate": 0.001,
                "schedule": "steps",
                "decay_factor": 0.8,
                "decay_every": 5000,
                "lowest_rate": 1e-6,
                "adam_epsilon": 1e-5,
                "weight_decay": 1e-8,
                "turn": pytest.approx(math.degrees(math.pi / 32)),
                "tilt": 0.0,
                "scale": 0.001,
                "votes": 1,
                "rule": "max_confidence",
                "voxel": None,
            },
        ),
        (
            "scannet",  # FACTS.md §5 and what §4 says of it
            {
                "classes": "scannet",
                "features": (),
                "points": 2048,
                "block_side": 1.5,
                "block_grid": 0.03,
                "block_points": 8192,
                "epochs": 1024,
                "batch_size": 16,
                "optimiser": "adam",
                "learning_rate": 0.005,
                "schedule": "steps",
                "decay_factor": 0.8,
                "decay_every": 5000,
                "lowest_rate": 1e-6,
                "adam_epsilon": 1e-5,
                "weight_decay": 1e-8,
                "turn": pytest.approx(math.degrees(math.pi)),
                "tilt": pytest.approx(math.degrees(math.pi / 72)),
                "scale": 0.05,
                "rule": "max_confidence",
                "voxel": 0.0484,
            },
        ),
        (
            "modelnet40",  # FACTS.md §6
            {
                "classes": 40,
                "features": (),
                "points": 1024,
                "batch_size": 128,
                "optimiser": "adam",
                "learning_rate": 0.01,
                "schedule": "steps",
                "decay_factor": 0.5,
                "decay_every": 8000,
                "adam_epsilon": 1e-2,
                "weight_decay": 1e-5,
                "turn": 180.0,
                "tilt": 0.0,
                "scale": 0.1,
                "voxel": None,
            },
        ),
    ],
)
def test_the_papers_presets_have_the_papers_numbers(name, expected):
    settings = load_preset(name)
    assert {key: getattr(settings, key) for key in expected} == expected
    assert (settings.size, settings.variant, settings.width) == (name, "point2node", None)
    plain = ("warmup_steps", "label_smoothing", "class_weights", "ema_decay", "gradient_clip")
    assert [getattr(settings, key) for key in plain] == [0, 0.0, "none", None, None]


@pytest.mark.parametrize("name", [name for name in preset_names() if name.endswith("_modern")])
def test_a_modern_preset_differs_in_its_recipe_only(name):
    ours, plain = load_preset(name), load_preset(name.removesuffix("_modern"))
    same = [key for key in KEYS[: KEYS.index("seed")] if key != "dropout"] + KEYS[KEYS.index("votes") :]
    assert {key: getattr(ours, key) for key in same} == {key: getattr(plain, key) for key in same}
    assert (ours.optimiser, ours.schedule) == ("adamw", "cosine")
    assert ours.warmup_steps > 0
    assert ours.label_smoothing > 0
    assert ours.ema_decay is not None


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("learning_rate=1e-3", 0.001),
        ("learning_rate=0.5", 0.5),
        ("steps=null", None),
        ("steps=", None),
        ("steps=1e3", 1000),
        ("features=[rgb]", ("rgb",)),
        ("features=[rgb, normals]", ("rgb", "normals")),
        ("features=[]", ()),
        ("sync_batch_norm=true", True),
        ("classes=13", 13),
        ("classes=scannet", "scannet"),
        ("devices=2", 2),
        ("devices=auto", "auto"),
        ("precision=bf16-mixed", "bf16-mixed"),
    ],
)
def test_words_mean_what_they_say(word, value):
    found = getattr(load_preset("tiny", [word]), word.partition("=")[0])
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("word", ["batchsize=4", "batch-size=4", "batch_sise=4"])
def test_an_unknown_key_is_answered_with_the_nearest(word):
    with pytest.raises(InputError, match="Did you mean 'batch_size'"):
        load_preset("tiny", [word])


def test_an_unknown_preset_is_answered_with_the_nearest():
    with pytest.raises(InputError, match="Did you mean 's3dis'"):
        load_preset("s3sid")


@pytest.mark.parametrize(
    ("word", "key"),
    [
        ("steps=0", "steps"),
        ("steps=many", "steps"),
        ("epochs=", "epochs"),
        ("optimiser=sgd", "optimiser"),
        ("features=rgb", "features"),
        ("features=[colour]", "features"),
        ("validation_share=1", "validation_share"),
        ("learning_rate=inf", "learning_rate"),
        ("learning_rate=nan", "learning_rate"),
        ("block_side=inf", "block_side"),
        ("turn=181", "turn"),
        ("test_area=5", "settings"),
        ("dataset=s3dis", "settings"),
        ("rule=median", "rule"),
        ("seed=-1", "seed"),
        ("seed=9223372036854775808", "seed"),
        ("precision=32", "precision"),
        ("precision=bf16-true", "precision"),
    ],
)
def test_a_bad_value_is_refused_in_one_line_that_names_the_key(word, key):
    with pytest.raises(InputError, match=rf"^preset 'tiny', {key}: expected .*, found ") as caught:
        load_preset("tiny", [word])
    assert "\n" not in str(caught.value)


def test_a_folder_may_be_called_by_a_date():
    assert load_preset("tiny", ["start=2026-11-17"]).start == "2026-11-17"
    with pytest.raises(InputError, match="a value in YAML, found '2026-13-45'"):
        load_preset("tiny", ["start=2026-13-45"])


@pytest.mark.parametrize("word", ["steps", "=3", "steps 3"])
def test_a_word_without_a_key_or_a_sign_is_refused(word):
    with pytest.raises(InputError, match="expected key=value"):
        parse_overrides([word])


def test_a_value_that_is_no_yaml_is_refused():
    with pytest.raises(InputError, match="a value in YAML"):
        parse_overrides(["features=[rgb"])


def test_a_missing_key_is_named():
    values = load_preset("tiny").model_dump()
    del values["voxel"]
    with pytest.raises(InputError, match=r"here, voxel: expected a value, found nothing\.$"):
        check_settings("here", values)


@pytest.mark.parametrize("name", preset_names())
def test_settings_survive_being_written_and_read(name, tmp_path):
    settings = load_preset(name, ["learning_rate=1e-7"])
    (tmp_path / "settings.yaml").write_text(settings.dump())
    assert read_settings(tmp_path / "settings.yaml") == settings


@pytest.mark.parametrize("content", [b"", b"[1, 2]", b"a: [", b"\xff\xfe", b"steps: 3\n", b"no_key: 3\n"])
def test_a_file_that_holds_no_settings_is_refused_in_one_line(content, tmp_path):
    file = tmp_path / "settings.yaml"
    file.write_bytes(content)
    with pytest.raises(InputError, match=r"settings\.yaml") as caught:
        read_settings(file)
    assert "\n" not in str(caught.value)


def test_the_held_out_split_follows_the_area():
    assert load_preset("s3dis", ["test_area=2"]).test_split == "Area_2"
    assert load_preset("tiny").test_split == "test"


def test_what_changes_the_result_is_no_machine_setting():
    assert set(KEYS) >= MACHINE
    assert not MACHINE & {"seed", "batch_size", "precision", "sync_batch_norm", "votes", "points"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["scale_range=[1.5,0.5]"], "a lower and an upper factor"),
        (["scale_range=[0,1]"], "a lower and an upper factor"),
        (["folds=4", "fold=4"], "fold to be below folds"),
        (["fold=1"], "fold to be below folds"),
    ],
)
def test_ranges_and_folds_that_make_no_sense_are_refused(words, message):
    with pytest.raises(InputError, match=message):
        load_preset("modelnet40", words)


@pytest.mark.parametrize("preset", ["s3dis", "scannet", "modelnet40"])
def test_the_papers_presets_start_and_step_as_pointcnn_does(preset):
    settings = load_preset(preset)
    assert (settings.adam_form, settings.chi_start, settings.loss) == ("tensorflow", "convolution", "nodes")
    assert not settings.correlation_norm
    assert not settings.correlation_scale
    assert settings.correlation_rate == 1


def test_mixing_needs_blocks_in_their_own_frame():
    assert load_preset("tiny", ["mix=0.5", "frame=block"]).mix == 0.5
    with pytest.raises(InputError, match="frame to be block"):
        load_preset("tiny", ["mix=0.5"])
