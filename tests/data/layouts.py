"""Small data sets in the exact on-disk layouts of the public releases, with the damage that is known of them."""

import json
import pickle
from pathlib import Path

import numpy as np

AREA_ROOMS = {"Area_1": 44, "Area_2": 40, "Area_3": 23, "Area_4": 49, "Area_5": 68, "Area_6": 48}

# what FACTS.md §4 lists: the file, the line as it is in the archives, and the line as it was
KNOWN_DAMAGE = {
    "Area_5/hallway_6/Annotations/ceiling_1.txt": (b"-1.5 2.0 3.1 185\x00187 4", b"-1.5 2.0 3.1 185 187 4"),
    "Area_5/office_19/Annotations/ceiling_1.txt": (b"1 2 3 103.0\x100000 4 5", b"1 2 3 103.000000 4 5"),
    "Area_3/hallway_2/hallway_2.txt": (b"22.3 -9.1\x160 3.3 1 4 5", b"22.3 -9.160 3.3 1 4 5"),
    "Area_1/WC_1/WC_1.txt": (b"1\x0e5 2 3 4 5 6", b"1.5 2 3 4 5 6"),
    "Area_6/hallway_2/hallway_2.txt": (b"1.5 2 3\x004 5 6", b"1.5 2 3 4 5 6"),
    "Area_2/auditorium_1/auditorium_1.txt": (b"1.5 2 3 4 \x15 6", b"1.5 2 3 4 5 6"),
}


def number_lines(count, seed=0):
    rng = np.random.default_rng(seed)
    xyz, rgb = rng.uniform(-5, 5, (count, 3)), rng.integers(0, 256, (count, 3))
    lines = (f"{x:.3f} {y:.3f} {z:.3f} {r} {g} {b}" for (x, y, z), (r, g, b) in zip(xyz, rgb, strict=True))
    return [line.encode() for line in lines]


def write_room(area, name, objects, seed=0, end=b"\n"):
    """A raw room: ``objects`` maps file stems such as ``chair_1`` to a number of points or to lines."""
    annotations = Path(area) / name / "Annotations"
    annotations.mkdir(parents=True)
    everything = []
    for stem, content in objects.items():
        lines = number_lines(content, seed) if isinstance(content, int) else content
        (annotations / f"{stem}.txt").write_bytes(b"".join(line + end for line in lines))
        everything += lines
        seed += 1
    (annotations.parent / f"{name}.txt").write_bytes(b"".join(line + end for line in everything))
    return annotations.parent


def write_s3dis(root, areas=("Area_1", "Area_5"), rooms=2):
    for area in areas:
        for number in range(1, rooms + 1):
            write_room(root / area, f"office_{number}", {"ceiling_1": 30, "chair_1": 20, "chair_2": 10}, seed=number)
    return root


def write_damaged_s3dis(root):
    """One room for each known damage; in every damaged file the second of three lines."""
    for path, (damaged, _) in KNOWN_DAMAGE.items():
        area, room, *rest = path.split("/")
        folder = write_room(root / area, room, {"ceiling_1": 3, "floor_1": 3})
        file = folder.joinpath(*rest)
        lines = number_lines(3)
        lines[1] = damaged
        file.write_bytes(b"".join(line + b"\n" for line in lines))
    write_room(root / "Area_6", "copyRoom_1", {"wall_1": 3})
    (root / "Area_6/copyRoom_1/copyRoom_1.txt").rename(root / "Area_6/copyRoom_1/copy_Room_1.txt")
    return root


def write_whole_s3dis(root):
    """All 272 rooms, of one point each."""
    for area, count in AREA_ROOMS.items():
        for number in range(count):
            write_room(root / area, f"office_{number}", {"floor_1": 1})
    return root


def write_ply(path, xyz, labels=None, rgb=None):
    """An ascii PLY as ScanNet's meshes have their vertices."""
    properties = [("float x", xyz[:, 0]), ("float y", xyz[:, 1]), ("float z", xyz[:, 2])]
    if rgb is not None:
        properties += [(f"uchar {name}", rgb[:, place]) for place, name in enumerate(("red", "green", "blue"))]
    if labels is not None:
        properties.append(("ushort label", labels))
    header = ["ply", "format ascii 1.0", f"element vertex {len(xyz)}"]
    header += [f"property {name}" for name, _ in properties] + ["end_header"]
    rows = (" ".join(str(column[row]) for _, column in properties) for row in range(len(xyz)))
    path.write_text("\n".join([*header, *rows]) + "\n")


def write_scannet_scene(root, name, nyu40, segments=False):
    folder = root / "scans" / name
    folder.mkdir(parents=True)
    labels = np.asarray(nyu40)
    xyz = np.random.default_rng(len(labels)).uniform(0, 4, (len(labels), 3)).round(3)
    rgb = np.full((len(labels), 3), 128, np.uint8)
    write_ply(folder / f"{name}_vh_clean_2.ply", xyz, rgb=rgb)
    if not segments:
        write_ply(folder / f"{name}_vh_clean_2.labels.ply", xyz, labels, rgb)
    return folder


def write_segments(folder, of_vertex, groups):
    name = folder.name
    segments = {"sceneId": name, "segIndices": list(of_vertex)}
    (folder / f"{name}_vh_clean_2.0.010000.segs.json").write_text(json.dumps(segments))
    grouped = [{"objectId": n, "label": label, "segments": members} for n, (label, members) in enumerate(groups)]
    (folder / f"{name}.aggregation.json").write_text(json.dumps({"sceneId": name, "segGroups": grouped}))


def write_label_map(root):
    rows = ["id\traw_category\tcategory\tcount\tnyu40id\tnyu40class"]
    rows += ["1\twall\twall\t8277\t1\twall", "2\tfridge\trefrigerator\t400\t24\trefridgerator"]
    rows += ["3\toffice chair\tchair\t4646\t5\tchair", "4\tperson\tperson\t50\t31\tperson"]
    (root / "scannetv2-labels.combined.tsv").write_text("\n".join(rows) + "\n")


def write_scannet_pickles(root, train=3, test=2, protocol=2):
    root.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    for split, count in (("train", train), ("test", test)):
        clouds = [rng.uniform(0, 4, (20 + n, 3)).astype(np.float32) for n in range(count)]
        labels = [rng.integers(0, 21, len(cloud)).astype(np.int32) for cloud in clouds]
        with (root / f"scannet_{split}.pickle").open("wb") as file:
            pickle.dump(clouds, file, protocol)
            pickle.dump(labels, file, protocol)
    return root


def write_modelnet_h5(root, classes=("chair", "table", "sofa"), train=(5, 4), test=(3,), points=16, normals=False):
    import h5py

    root.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    (root / "shape_names.txt").write_text("\n".join(classes) + "\n")
    for split, counts in (("train", train), ("test", test)):
        names = [f"ply_data_{split}{number}.h5" for number in range(len(counts))]
        (root / f"{split}_files.txt").write_text("".join(f"data/modelnet40_ply_hdf5_2048/{n}\n" for n in names))
        for name, count in zip(names, counts, strict=True):
            with h5py.File(root / name, "w") as file:
                file["data"] = rng.uniform(-1, 1, (count, points, 3)).astype(np.float32)
                file["label"] = rng.integers(0, len(classes), (count, 1)).astype(np.uint8)
                if normals:
                    file["normal"] = rng.uniform(-1, 1, (count, points, 3)).astype(np.float32)
    return root


def write_modelnet_texts(root, shapes=(("chair", "train"), ("night_stand", "train"), ("chair", "test")), points=8):
    root.mkdir(parents=True, exist_ok=True)
    lists = {"train": [], "test": []}
    (root / "modelnet40_shape_names.txt").write_text("chair\nnight_stand\n")
    for number, (name, split) in enumerate(shapes):
        shape = f"{name}_{number:04d}"
        lists[split].append(shape)
        (root / name).mkdir(exist_ok=True)
        rows = np.random.default_rng(number).uniform(-1, 1, (points, 6))
        (root / name / f"{shape}.txt").write_text("\n".join(",".join(f"{v:.6f}" for v in row) for row in rows) + "\n")
    for split, names in lists.items():
        (root / f"modelnet40_{split}.txt").write_text("\n".join(names) + "\n")
    return root


def write_modelnet_meshes(root, header="OFF\n4 4 0\n"):
    tetrahedron = "0 0 0\n10 0 0\n0 10 0\n0 0 20\n3 0 1 2\n3 0 1 3\n3 0 2 3\n3 1 2 3\n"
    for name in ("chair", "night_stand"):
        for split in ("train", "test"):
            (root / name / split).mkdir(parents=True)
            (root / name / split / f"{name}_0001.off").write_text(header + tetrahedron)
    return root


CLASS_FILE = """\
classes:
  - {name: ground, value: 2, colour: [140, 90, 60]}
  - {name: tree, value: 5, colour: "#227722"}
  - {name: building, value: 6}
ignore: [0, 7]
"""


def write_own_cloud(path, labels, seed=0):
    path.parent.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    write_ply(path, rng.uniform(0, 9, (len(labels), 3)).round(3), np.asarray(labels))
