"""Which variables are stepped at which frames."""

import numpy as np
import pytest

from solvers.controls.measuring import schedule


@pytest.mark.parametrize(("frames", "groups", "repeats"), [(60, 7, 3), (10, 7, 5), (12, 12, 4), (3, 20, 9), (1, 4, 2)])
def test_every_group_is_stepped_at_frames_that_are_spread(frames, groups, repeats):
    passes = schedule(frames, groups, repeats)
    at = {group: [] for group in range(groups)}
    for where, group in passes:
        assert (np.diff(where) > 0).all()
        assert where.min() >= 0
        assert where.max() < frames
        for frame, number in zip(where, group, strict=True):
            at[number].append(frame)
    for found in at.values():
        assert len(set(found)) == len(found) == min(repeats, frames)
        if len(found) > 1:
            assert np.diff(sorted(found)).max() <= 2 * frames / len(found)


def test_an_evaluation_of_a_clip_holds_as_many_as_it_has_frames():
    assert len(schedule(60, 20, 3)) == 1
    assert not schedule(60, 0, 3)
