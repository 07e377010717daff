"""The unit of a LAS file, from coordinate systems as they are found in the field."""

import struct

import laspy
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from point2node.core.point_cloud import PointCloud
from point2node.formats import read, write

GEOGRAPHIC = 'GEOGCS["NAD83",DATUM["x",SPHEROID["GRS 1980",6378137,298.257]],UNIT["degree",0.0174532925199433]]'
FEET = 'UNIT["US survey foot",0.304800609601219,AUTHORITY["EPSG","9003"]]'
PROJECTED = f'PROJCS["Ohio",{GEOGRAPHIC},PROJECTION["Lambert"],PARAMETER["false_easting",600000],{FEET}]'
VERTICAL = 'VERT_CS["NAVD88",VERT_DATUM["n",2005],UNIT["{}",{}],AXIS["Up",UP]]'
WKT_2 = (
    'PROJCRS["a",BASEGEOGCRS["b",DATUM["c",ELLIPSOID["d",6378137,298.257,LENGTHUNIT["metre",1]]]],'
    'CONVERSION["e",PARAMETER["False easting",1640416.6667,LENGTHUNIT["US survey foot",0.304800609601219]]],'
    'CS[Cartesian,2],AXIS["(E)",east,ORDER[1],LENGTHUNIT["{0}",{1}]],AXIS["(N)",north,LENGTHUNIT["{0}",{1}]]]'
)


def las_with(path, record_id, data):
    write(path, PointCloud(np.random.default_rng(0).random((5, 3))))
    las = laspy.read(path)
    las.vlrs.append(laspy.VLR("LASF_Projection", record_id, "", data))
    las.write(path)
    return read(path)


@pytest.mark.parametrize(
    ("wkt", "unit"),
    [
        (PROJECTED, 0.304800609601219),
        (f'COMPD_CS["both",{PROJECTED},{VERTICAL.format("foot", 0.3048)}]', 0.304800609601219),
        (f'COMPD_CS["mixed",{PROJECTED},{VERTICAL.format("metre", 1)}]', None),
        (WKT_2.format("metre", "1"), 1.0),
        (WKT_2.format("foot", "0.3048"), 0.3048),
        ('LOCAL_CS["site",UNIT["millimetre",0.001]]', 0.001),
        (GEOGRAPHIC, None),
        ('PROJCS["nothing"]', None),
        ('PROJCS["none",UNIT["nought",0]]', None),
        ('PROJCS["odd",UNIT["odd",1e+e-.]]', None),
        ("]]][[(UNIT[[", None),
        ("", None),
    ],
)
def test_the_unit_of_a_well_known_text(tmp_path, wkt, unit):
    assert las_with(tmp_path / "a.las", 2112, wkt.encode() + b"\0").unit == unit


@pytest.mark.parametrize(
    ("keys", "unit"),
    [
        ({3076: 9001}, 1.0),
        ({3076: 9002, 4099: 9002}, 0.3048),
        ({3076: 9003, 4099: 9002}, 1200 / 3937),
        ({3076: 9003, 4099: 9001}, None),
        ({3076: 32767}, None),
        ({1024: 1, 3072: 2263}, None),
        ({}, None),
    ],
)
def test_the_unit_of_geotiff_keys(tmp_path, keys, unit):
    data = struct.pack("<4H", 1, 1, 0, len(keys))
    data += b"".join(struct.pack("<4H", key, 0, 1, value) for key, value in keys.items())
    assert las_with(tmp_path / "a.las", 34735, data).unit == unit


def test_a_file_without_a_coordinate_system_states_no_unit(tmp_path):
    write(tmp_path / "a.laz", PointCloud(np.zeros((2, 3)), unit=0.001))
    assert read(tmp_path / "a.laz").unit is None


@given(text=st.text('UNITPROJCS[]()"0.3,e+-', max_size=200))
def test_no_text_ends_in_anything_but_a_unit_or_none(text):
    from point2node.formats.las_header import unit_of

    header = laspy.LasHeader(version="1.4", point_format=6)
    header.vlrs.append(laspy.vlrs.known.WktCoordinateSystemVlr(text))
    unit = unit_of(header)
    assert unit is None or 0 < unit < float("inf")
