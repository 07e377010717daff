import pytest

from point2node.core.errors import InputError
from point2node.data import raw_roots
from point2node.data.generated import list_rooms
from point2node.data.raw_roots import FINDERS, open_data, open_generated_rooms
from tests.data.layouts import CLASS_FILE, write_modelnet_meshes, write_own_cloud, write_s3dis, write_scannet_pickles


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache of the test's own, not the user's."""
    monkeypatch.setenv("POINT2NODE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def write_folder(root):
    for split in ("train", "test"):
        write_own_cloud(root / split / "one.ply", [2, 5, 6, 0])
    (root / "classes.yaml").write_text(CLASS_FILE)
    return root


RAW = {
    "s3dis": write_s3dis,
    "scannet": write_scannet_pickles,
    "modelnet": write_modelnet_meshes,
    "folder": write_folder,
}


def test_every_data_set_that_can_be_downloaded_has_a_case():
    assert set(RAW) == set(FINDERS)


@pytest.mark.parametrize("dataset", RAW)
def test_a_raw_root_is_prepared_once_into_the_cache(dataset, tmp_path, cache):
    root = tmp_path / "raw"
    root.mkdir()
    RAW[dataset](root)
    read = []
    store = open_data(dataset, root, lambda done, total, name: read.append(name))
    assert store.path.parent == cache / "stores"
    assert store.manifest.dataset == dataset
    assert read
    read.clear()
    again = open_data(dataset, root, lambda done, total, name: read.append(name))
    assert not read
    assert again.checksum == store.checksum
    assert open_data(dataset, store.path).checksum == store.checksum  # a store is opened where it is


def test_two_roots_have_two_stores_and_one_root_by_any_path_has_one(tmp_path, monkeypatch):
    roots = [write_s3dis(tmp_path / name, areas=("Area_1",), rooms=1) for name in ("one", "two")]
    first, second = (open_data("s3dis", root) for root in roots)
    assert first.path != second.path
    monkeypatch.chdir(tmp_path)
    assert open_data("s3dis", (tmp_path / "one").relative_to(tmp_path)).path == first.path


def test_a_raw_root_that_changed_is_prepared_again(tmp_path):
    root = write_s3dis(tmp_path / "raw", areas=("Area_1",), rooms=1)
    before = open_data("s3dis", root).checksum
    write_s3dis(root, areas=("Area_2",), rooms=1)
    assert open_data("s3dis", root).checksum != before


def test_what_is_not_there_is_refused(tmp_path):
    with pytest.raises(InputError, match="a prepared store or the folder of a data set, found nothing there"):
        open_data("s3dis", tmp_path / "nothing")


def test_rooms_have_no_raw_form(tmp_path):
    with pytest.raises(InputError, match=r"expected a prepared store, found a folder without a manifest\.json"):
        open_data("rooms", tmp_path)


def test_generated_rooms_are_made_once_and_kept_by_number_and_seed(cache, monkeypatch):
    import point2node.rooms as rooms

    real = rooms.generate_room
    few = lambda seed, index, *, styles: real(seed, index, points=50, styles=styles)  # noqa: E731
    monkeypatch.setattr(rooms, "generate_room", few)
    monkeypatch.setattr(raw_roots, "prepare", _in_this_process(raw_roots.prepare))
    made = []
    store = open_generated_rooms(2, 5, lambda done, total, name: made.append(name))
    assert len(store.scenes()) == len(made) == len(list_rooms(2, 5).sources)
    assert open_generated_rooms(2, 5, lambda done, total, name: made.append(name)).checksum == store.checksum
    assert len(made) == 2
    assert open_generated_rooms(1, 5).path != store.path
    assert cache in store.path.parents


def _in_this_process(prepare):
    return lambda dataset, store, report: prepare(dataset, store, workers=1, report=report)
