"""Clips with pairs: what cannot be used is named."""

import numpy as np
import pytest

from solvers.core.errors import InputError
from solvers.transfer.clip_pair import ClipRows, checked_clips

PAIRS = [[0, 0], [10, 8], [19, 14]]


def clip(rng, source=(20, 20), target=(15, 15), widths=(4, 3), pairs=PAIRS, starts=(0.0, 0.0), name=None):
    sides = (
        tuple(rng.normal(size=(frames, width)) for frames, width in zip(side, widths, strict=False))
        for side in (source, target)
    )
    return ClipRows(*sides, np.array(pairs), starts, name)


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def test_rows_between_rows(rng):
    rows = rng.normal(size=(5, 2))
    two = ClipRows((rows,), (rows[:3],), np.array([[0.5, 0.0], [4.0, 2.0]])).paired()
    np.testing.assert_allclose(two[0][0], [0.5 * (rows[0] + rows[1]), rows[4]])
    np.testing.assert_allclose(two[1][0], rows[[0, 2]])


def test_good_clips_pass(rng):
    checked = checked_clips([clip(rng), clip(rng, pairs=[[0.5, 0.0], [18.2, 13.9]])])
    assert len(checked) == 2 and checked[0].pairs.dtype == float


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"pairs": [[0, 0]]}, "Clip 2 needs two pairs or more"),
        ({"pairs": np.zeros((0, 2))}, "Clip 2 needs two pairs or more"),
        ({"pairs": [[0, 0], [10, 8], [10, 9]]}, "Clip 2: pairs 10=8 and 10=9 are out of order"),
        ({"pairs": [[0, 0], [10, 8], [12, 8]]}, "Clip 2: pairs 10=8 and 12=8 are out of order"),
        ({"pairs": [[5, 5], [4, 8]], "starts": (101, 1)}, "Clip 2: pairs 106=6 and 105=9 are out of order"),
        (
            {"pairs": [[0, 0], [20, 8]], "starts": (101, 1)},
            "Clip 2, pair 121=9: frame 121 is outside of the source's clip, 101 to 120",
        ),
        ({"pairs": [[0, -1], [5, 8]]}, "Clip 2, pair 0=-1: frame -1 is outside of the target's clip, 0 to 14"),
        ({"pairs": [[0, 0], [5, np.nan]]}, "Clip 2, pair 5=nan: frame nan"),
        ({"pairs": [[3.2, 0], [4.7, 2]]}, "Clip 2 has no two whole frames of the source"),
        ({"pairs": [[0, 0]], "name": "Clip 5 of 'Bob'"}, "Clip 5 of 'Bob' needs two pairs"),
        ({"source": (1, 1)}, "Clip 2: the source has one frame only"),
        ({"target": (1, 1)}, "Clip 2: the target has one frame only"),
        ({"target": (15, 14)}, "Clip 2: the target has parts of .14, 15. frames"),
        ({"target": (15,)}, "Clip 2: the target has 1 parts, not 2"),
        ({"source": (20,)}, "Clip 2: the source has 1 parts, not 2"),
        ({"widths": (4, 5)}, "Clip 2: the source tells part 2 by 5 numbers, the first clip by 3"),
    ],
)
def test_what_cannot_be_used_is_named(rng, change, words):
    with pytest.raises(InputError, match=words):
        checked_clips([clip(rng), clip(rng, **change)])


@pytest.mark.parametrize("side", ["source", "target"])
def test_a_part_that_never_moves_is_named(rng, side):
    """Also where rounding makes it seem to; in one clip alone it may be still."""
    clips = [clip(rng), clip(rng)]
    getattr(clips[0], side)[1][:] = 7.0
    checked_clips(clips)
    getattr(clips[1], side)[1][:] = 7.0 + 1e-9 * rng.normal(size=getattr(clips[1], side)[1].shape)
    with pytest.raises(InputError, match=f"Part 2: it never moves in any clip of the {side}"):
        checked_clips(clips)


def test_poses_that_are_no_numbers_and_no_clips_are_named(rng):
    bad = clip(rng)
    bad.target[1][6, 0] = np.nan
    for clips, words in (([bad], "Clip 1: the target has a pose of part 2 in row 6"), ([], "no clips")):
        with pytest.raises(InputError, match=words):
            checked_clips(clips)


def test_stiff_parts_are_told_by_no_numbers(rng):
    clips = [clip(rng, (20, 20, 20), (15, 15, 15), (4, 0, 3)) for _ in range(2)]
    checked = checked_clips(clips)
    assert checked[0].telling == (0, 2)
    some = checked[1].of_parts((0, 2))
    assert [part.shape[1] for part in some.source + some.target] == [4, 3, 4, 3]
    assert np.array_equal(some.source[1], clips[1].source[2])
