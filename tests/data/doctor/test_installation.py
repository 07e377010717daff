from point2node.data.doctor import installation


def test_versions_device_and_threads_are_named():
    found, missing = installation.examine_installation()
    assert missing == []
    assert {"python", "torch", "numba", "device", "threads"} <= set(found)


def test_a_missing_extra_comes_with_the_line_that_installs_it(monkeypatch):
    monkeypatch.setattr(installation, "EXTRAS", {"no-such-package": "las"})
    found, missing = installation.examine_installation()
    assert found["no-such-package"] == "not installed (optional); pip install 'point2node[las]'"
    assert missing == []


def test_a_missing_requirement_is_told_apart(monkeypatch):
    monkeypatch.setattr(installation, "REQUIRED", ("no-such-package",))
    found, missing = installation.examine_installation()
    assert found["no-such-package"] == "missing; pip install no-such-package"
    assert missing == ["no-such-package"]
