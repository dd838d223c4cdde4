"""The published transfer of travel, for comparison: it is right for a moment and drifts, where ours does not."""

import numpy as np
import pytest

from benchmarks.baselines.paper_displacement import PaperDisplacement
from solvers.core.errors import InputError
from solvers.transfer.rigid_motion import Bodies, RigidPairs, RigidTransfer
from tests.bendy_bodies import dance


@pytest.fixture
def pairs():
    clips = [dance(seed)[2:] for seed in (1, 2, 3)]
    rotations, translations = (np.concatenate(values) for values in zip(*clips, strict=True))
    return RigidPairs(rotations, translations, rotations, 1.2 * translations, np.repeat(np.arange(3), 60))


def test_it_starts_where_the_target_did_and_follows(pairs):
    learnt = PaperDisplacement.learn(pairs)
    rotations, translations = learnt.apply(pairs.source_rotations[:60], pairs.source_translations[:60])
    assert np.array_equal(rotations[0], pairs.target_rotations[0])
    assert np.array_equal(translations[0], pairs.target_translations[0])
    assert np.linalg.det(rotations) == pytest.approx(1.0)
    assert np.linalg.norm(translations[10] - pairs.target_translations[10]) < 0.2


def test_it_drifts_on_an_unseen_clip_more_than_a_similarity(pairs):
    unseen = dance(7)[2:]
    wanted = 1.2 * unseen[1]
    away = []
    for learnt in (PaperDisplacement.learn(pairs), RigidTransfer.learn(pairs, Bodies(1.0, 1.2))):
        _, translations = learnt.apply(*unseen)
        away.append(np.linalg.norm(translations[-1] - translations[0] - wanted[-1] + wanted[0]))
    assert away[1] < 0.02 < away[0]


def test_too_few_steps_are_named(pairs):
    with pytest.raises(InputError, match="Fewer than two steps"):
        PaperDisplacement.learn(RigidPairs(*(values[[0, 60, 120]] for values in vars(pairs).values())))
