"""Texts over several lines."""

import pytest
from bl_ext.devrepo.motion_loom.workflows.interface.wrapping import wrap

LONG = "'Slab' had 24 vertices at bind, now it has 98. Restore its faces or bind again."


def test_lines_hold_all_words_in_order():
    lines = wrap(LONG, 150)
    assert len(lines) > 2 and " ".join(lines) == LONG


def test_wider_regions_take_fewer_lines():
    counts = [len(wrap(LONG, width)) for width in (60, 120, 240, 2000)]
    assert counts == sorted(counts, reverse=True) and counts[-1] == 1


@pytest.mark.parametrize("word", ["/projects/" + 40 * "long_", "骨" * 40, "W" * 40])
def test_words_longer_than_a_line_are_cut_not_lost(word):
    lines = wrap(f"at {word}", 100)
    assert len(lines) > 2 and "".join(lines) == f"at{word}"


@pytest.mark.parametrize("width", [-50, 0, 1])
def test_a_region_without_room_still_ends(width):
    assert "".join(wrap("bind again", width)) == "bindagain"


def test_nothing_takes_no_line():
    assert wrap("", 100) == wrap("  ", 100) == []
