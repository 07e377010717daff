import os
from pathlib import Path

import fsspec
import pytest

from point2node.core.errors import InputError
from point2node.data.label_sidecar import sidecar_path
from point2node.data.remote import RemotePath
from point2node.inference.scans import Shard, find_jobs, find_local_scans, read_shard


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in ("a b.ply", "sub/ü.LAZ", "sub/deep/c.txt", "notes.md", ".hidden.ply", "old_labelled.ply"):
        file = tmp_path / "scans" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(jobs):
    return [(str(job.scan), str(job.target)) for job in jobs]


def test_a_file_is_labelled_under_its_own_name(folder):
    assert names(find_jobs(["scans/a b.ply"], Path("out"))) == [("scans/a b.ply", "out/a b_labelled.ply")]
    assert names(find_jobs(["missing.ply"], Path("out"), ".laz")) == [("missing.ply", "out/missing_labelled.laz")]


def test_a_folder_keeps_its_shape_and_leaves_out_what_is_no_scan(folder):
    assert names(find_jobs(["scans"], Path("out"))) == [
        ("scans/a b.ply", "out/a b_labelled.ply"),
        ("scans/sub/deep/c.txt", "out/sub/deep/c_labelled.txt"),
        ("scans/sub/ü.LAZ", "out/sub/ü_labelled.LAZ"),
    ]


def test_patterns_are_expanded_here(folder):
    assert [str(job.scan) for job in find_jobs(["scans/**/*.LAZ"], Path("out"))] == ["scans/sub/ü.LAZ"]
    with pytest.raises(InputError, match="no file of a readable format"):
        find_jobs(["scans/*.e57"], Path("out"))


def test_two_scans_never_become_one_file(folder):
    (folder / "scans/sub/a b.ply").write_text("x")
    with pytest.raises(InputError, match="the same name as scans/a b"):
        find_jobs(["scans/a b.ply", "scans/sub/a b.ply"], Path("out"))
    assert len(find_jobs(["scans/a b.ply", "scans/a b.ply"], Path("out"))) == 2


def test_scans_that_differ_in_their_format_alone_get_results_of_their_own(folder):
    for name in ("a b.las", "a b.LAZ"):
        (folder / "scans" / name).write_text("x")
    assert names(find_jobs(["scans/a*"], Path("out"))) == [
        ("scans/a b.LAZ", "out/a b_laz_labelled.LAZ"),
        ("scans/a b.las", "out/a b_las_labelled.las"),
        ("scans/a b.ply", "out/a b_ply_labelled.ply"),
    ]
    assert [str(job.target) for job in find_jobs(["scans/a b.las", "scans/a b.ply"], Path("out"), ".npz")] == [
        "out/a b_las_labelled.npz",
        "out/a b_ply_labelled.npz",
    ]
    (folder / "scans/a b_las.ply").write_text("x")
    with pytest.raises(InputError, match="the same name as"):
        find_jobs(["scans/a*"], Path("out"))


@pytest.mark.parametrize("letter", ["n", "ü", "点"])
def test_results_of_scans_with_the_longest_names_have_names_that_fit(folder, letter):
    stem = letter * (250 // len(letter.encode()))
    other = stem[:-1] + "x"
    for name in (stem, other):
        (folder / "scans" / f"{name}.ply").write_text("x")
    jobs = find_jobs([f"scans/{stem}.ply", f"scans/{other}.ply"], Path("out"))
    assert jobs[0].target != jobs[1].target
    for job in jobs:
        assert job.target.name.startswith(letter * 20)
        assert len(os.fsencode(sidecar_path(job.target).name)) <= 255
        assert len(os.fsencode(job.target.stem + "_confidence.png")) <= 255


def test_a_url_is_a_scan_without_asking_whether_it_is_a_folder():
    (job,) = find_jobs(["https://nobody.invalid/rooms/a.laz?signature=x"], RemotePath("s3://bucket/out"))
    assert job.scan.url == "https://nobody.invalid/rooms/a.laz?signature=x"
    assert job.target == RemotePath("s3://bucket/out/a_labelled.laz")


def test_remote_folders_keep_their_shape_and_what_needs_local_files_refuses_them():
    memory = fsspec.filesystem("memory")
    memory.store.clear()
    for name in ("a.ply", "sub/b.laz", "notes.md", "old_labelled.ply"):
        memory.pipe_file(f"/scans/{name}", b"x")
    jobs = find_jobs(["memory://scans"], Path("out"))
    assert [str(job.target) for job in jobs] == ["out/a_labelled.ply", "out/sub/b_labelled.laz"]
    with pytest.raises(InputError, match="no file of a readable format"):
        find_jobs(["memory://scans/*.e57"], Path("out"))
    with pytest.raises(InputError, match="expected a local file, found a URL"):
        find_local_scans(["memory://scans"])


@pytest.mark.parametrize("count", [1, 3, 8])
def test_shards_have_every_scan_once(folder, count):
    jobs = find_jobs(["scans"], Path("out"))
    taken = [job for number in range(1, count + 1) for job in Shard(number, count).take(jobs)]
    assert sorted(names(taken)) == sorted(names(jobs))


@pytest.mark.parametrize(
    ("text", "environment", "shard"),
    [
        ("3/8", {}, Shard(3, 8)),
        ("auto", {"SLURM_ARRAY_TASK_ID": "1", "SLURM_ARRAY_TASK_MIN": "1", "SLURM_ARRAY_TASK_COUNT": "8"}, Shard(1, 8)),
        ("auto", {"SLURM_ARRAY_TASK_ID": "7", "SLURM_ARRAY_TASK_COUNT": "8"}, Shard(8, 8)),
        (
            "auto",
            {
                "SLURM_ARRAY_TASK_ID": "20",
                "SLURM_ARRAY_TASK_MIN": "0",
                "SLURM_ARRAY_TASK_STEP": "10",
                "SLURM_ARRAY_TASK_COUNT": "4",
            },
            Shard(3, 4),
        ),
        ("auto/5", {"JOB_COMPLETION_INDEX": "0"}, Shard(1, 5)),
    ],
)
def test_a_shard_is_given_or_that_of_the_array_job(text, environment, shard):
    assert read_shard(text, environment) == shard


@pytest.mark.parametrize(
    ("text", "environment"),
    [
        ("0/8", {}),
        ("9/8", {}),
        ("-1/8", {}),
        ("3", {}),
        ("a/b", {}),
        ("auto", {}),
        ("auto", {"JOB_COMPLETION_INDEX": "0"}),
        ("auto/5", {"JOB_COMPLETION_INDEX": "5"}),
        ("auto", {"SLURM_ARRAY_TASK_ID": "x", "SLURM_ARRAY_TASK_COUNT": "8"}),
        ("auto", {"SLURM_ARRAY_TASK_ID": "1", "SLURM_ARRAY_TASK_STEP": "0", "SLURM_ARRAY_TASK_COUNT": "8"}),
    ],
)
def test_what_is_no_shard_is_refused(text, environment):
    with pytest.raises(InputError, match="--shard: expected"):
        read_shard(text, environment)
