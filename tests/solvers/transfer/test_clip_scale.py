"""The size of a clip against its subject's: bending does not change it, scaling does, what it had itself is one."""

import numpy as np
import pytest

from solvers.transfer.clip_scale import clip_scale
from tests.bendy_bodies import dance, performed
from tests.bendy_subject import CLIPS, VERTICES, bendy_subject, learn


@pytest.fixture(scope="module")
def subject():
    return bendy_subject()


@pytest.mark.parametrize("seed", (1, 3, 4))
def test_a_clip_of_the_subject_has_its_size_exactly(subject, seed):
    assert clip_scale(performed(VERTICES, dance(seed)).astype(np.float32), subject) == 1.0


@pytest.mark.parametrize("scale", (0.01, 0.5, 0.9, 1.1, 3.0, 100.0))
def test_a_scaled_clip_tells_by_how_much(subject, scale):
    clip = scale * performed(VERTICES, dance(3)) + np.array((5.0, -7.0, 2.0))
    assert abs(clip_scale(clip.astype(np.float32), subject) / scale - 1.0) < 0.02


def test_one_frame_will_do_and_a_few_edges_that_stretch_far_do_not_count(subject):
    assert clip_scale(CLIPS[0][:1], subject) == 1.0
    assert abs(clip_scale(2.0 * CLIPS[0][7:8], subject) - 2.0) < 0.08  # it bulges as it bends
    clip = performed(VERTICES, dance(3))
    clip[:, :10] *= 3.0
    assert clip_scale(clip, subject) == 1.0


def test_a_body_that_grew_in_its_own_clips_may_do_so_again():
    swell = np.linspace(1.0, 1.3, len(CLIPS[0]))[:, None, None]
    subject = learn([CLIPS[0] * swell])
    assert clip_scale(1.15 * CLIPS[1], subject) == 1.0
    assert clip_scale(2.0 * CLIPS[1], subject) != 1.0
