import pytest

from tests.scenarios.stores import write_area_store, write_room_store, write_shape_store


@pytest.fixture(scope="session")
def room_store(tmp_path_factory):
    return write_room_store(tmp_path_factory.mktemp("rooms") / "a store")


@pytest.fixture(scope="session")
def area_store(tmp_path_factory):
    return write_area_store(tmp_path_factory.mktemp("areas") / "store")


@pytest.fixture(scope="session")
def shape_store(tmp_path_factory):
    return write_shape_store(tmp_path_factory.mktemp("shapes") / "store")
