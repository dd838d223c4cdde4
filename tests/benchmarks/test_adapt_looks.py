"""What an animator sees of Adapt: figures and bars on a small made walk, and which rows there are."""

import struct
import zlib
from dataclasses import replace

import numpy as np
import pytest

from benchmarks import _adapt_looks_measures as looks
from benchmarks import _adapt_looks_page as page
from benchmarks import _adapt_looks_rows as table
from benchmarks import _adapt_looks_strip as strip
from benchmarks import _adapt_looks_words as words
from benchmarks import edits
from tests.adapt_bound import made


@pytest.fixture(scope="module")
def scene():
    bound = made()
    environment = bound.scene.environment
    sloped = dict.fromkeys(environment, edits.inclined(10, (0, 1)))
    return replace(bound.scene, edits={"same": {}, "up_10": sloped}), bound.binding


@pytest.fixture(scope="module")
def solved(scene):
    scene, binding = scene
    return {edit: looks.result(table.Row("made", edit, table.SLOPE), scene, binding) for edit in scene.edits}


def test_nothing_changed_passes_with_nothing_to_see(solved):
    figures = solved["same"].figures
    assert not looks.broken(solved["same"].row, figures)
    assert max(figures[key] for key in ("jump_cm", "turn_deg", "tilt_max_deg")) < 1e-3
    assert figures["knees_straight_pct"] == figures["knees_straight_original_pct"]


def test_a_bar_that_breaks_is_named_with_bone_and_frame(solved):
    row, figures = solved["same"].row, solved["same"].figures
    figures = figures | {"jump_cm": 4.2, "jump_bone": "toe.L", "jump_frame": 7.0}
    assert list(looks.broken(row, figures)) == ["jump_cm"]
    assert "FAIL jump 4.2 cm of toe.L at 7" in words.line(row, figures)
    found = [words.entry(row, each) for each in (figures, solved["same"].figures)]
    assert words.summary(found).splitlines() == ["passed 1 of 2 (50 %)", "  slope        1 of 2 (50 %)"]


@pytest.mark.parametrize(
    ("kind", "edit", "size", "key", "limit"),
    [
        (table.SLOPE, "up_15", 1.0, "tilt_mean_deg", 3.0),
        (table.SLOPE, "across_30", 1.0, "tilt_mean_deg", 6.0),
        (table.PLAIN, "lifted", 1.0, "penetration_gain_pct", 1.0),
        (table.PLAIN, "lifted", 0.8, "penetration_gain_pct", 2.0),
        (table.PLAIN, "lifted", 1.2, "jerk_p95_ratio", 1.35),
        (table.SEAT, "lifted", 1.0, "jump_cm", 3.0),
    ],
)
def test_bars(kind, edit, size, key, limit):
    assert looks.bars(table.Row("any", edit, kind, size))[key] == limit


def test_a_source_that_jumps_is_set_apart(scene):
    track = scene[0].track
    assert not looks.capture_pops(track, 1.8).any()
    positions = track.positions.copy()
    positions[10, 3, 0] += 1.0
    popped = replace(track, positions=positions)
    assert set(np.flatnonzero(looks.capture_pops(popped, 1.8))) >= {9, 10}


def test_the_page_names_what_fails_and_shows_before_and_now(solved):
    entries = [words.entry(each.row, each.figures) for each in solved.values()]
    worse = [entry | {"jump_cm": 7.25, "broken": ["jump_cm"]} for entry in entries]
    text = page.page(worse, [entries[0]], "Measured on: nothing")
    assert "| slope | – | – | 1 of 1 | 0 of 2 |" in text and "| all | – | – | 1 of 1 | 0 of 2 |" in text
    assert "- made same, held-out: jump 7.2 cm of" in text and "(no warning in the report)" in text
    (line,) = (line for line in text.splitlines() if line.startswith("| made same |"))
    assert " 0.0 → 7.2 " in line and line.endswith("| pass | fail |")
    assert "Rows that fail\n\nNone." in page.page([entries[0]], [], "")


def test_a_strip_is_a_picture_of_the_worst_step_and_of_the_clip(solved, tmp_path):
    """Read back by hand: the size from the header, colours from the rows, which are stored unfiltered."""
    result = solved["up_10"]
    assert set(strip.around(result)) >= {result.step - 1, result.step}
    strip.draw(result, tmp_path / "row.png")
    data = (tmp_path / "row.png").read_bytes()
    width, height = struct.unpack(">II", data[16:24])
    start = data.index(b"IDAT")
    (size,) = struct.unpack(">I", data[start - 4 : start])
    lines = np.frombuffer(zlib.decompress(data[start + 4 : start + 4 + size]), np.uint8).reshape(height, 1 + 3 * width)
    pixels = lines[:, 1:].reshape(height, width, 3).astype(int)
    assert (width, height) == (8 * strip.WIDE, 2 * (strip.HIGH + strip.FOOT))
    red, blue = pixels[..., 0] - pixels[..., 2], pixels[..., 2] - pixels[..., 0]
    across, down = np.nonzero(red > 150)[::-1]
    assert down.max() < strip.HIGH and set(across // strip.WIDE) == {3, 4}
    assert set(np.nonzero(blue > 100)[1] // strip.WIDE) == set(range(8))


def test_rows_are_developed_on_or_held_out():
    rows = table.rows()
    developed, held_out = table.rows(table.DEVELOPMENT), table.rows(table.HELD_OUT)
    assert len(set(rows)) == len(rows) == len(developed) + len(held_out)
    assert {row.kind for row in rows} == set(table.KINDS)
    assert not {row.scene for row in developed} & {row.scene for row in held_out}
    assert [row.scene for row in rows] == sorted((row.scene for row in rows), key=[r.scene for r in rows].index)


@pytest.mark.captures
@pytest.mark.parametrize("name", sorted({row.scene for row in table.rows()} - {"walker"}))
def test_rows_name_edits_of_their_scene(name):
    scene = table.BUILDERS[name]()
    assert scene.name == name
    assert {row.edit for row in table.rows(scenes=(name,))} <= scene.edits.keys()
