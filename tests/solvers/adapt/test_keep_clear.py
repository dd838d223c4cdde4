"""No capsule is deeper in its surroundings than it was, or than a millimetre; measured apart from the solver."""

import numpy as np
import pytest

from benchmarks import _adapt_looks_measures as looks
from benchmarks import _adapt_looks_rows as table
from benchmarks.climbs import climb
from benchmarks.metrics import capsule_depths
from solvers.adapt.measures import compare
from solvers.adapt.solve import adapt
from solvers.core.types import JointTrack
from solvers.warp.collision import Colliders
from tests.adapt_bound import Bound, made_and

SPACING = 0.01


def beyond(bound: Bound, positions, meshes) -> np.ndarray:
    """(F, B) metres by which capsules are deeper than they may be."""
    track = bound.track
    solved = JointTrack(track.skeleton, positions, track.fps, track.frames)
    pairs = (track, bound.meshes), (solved, meshes)
    before, after = (capsule_depths(*pair, bound.scene.height, SPACING) for pair in pairs)
    return after - np.maximum(before, 0.001)


@pytest.fixture(scope="module")
def climbing():
    return Bound(climb(0), 100, 500)


@pytest.mark.parametrize("name", made_and("climbing"))
@pytest.mark.parametrize("edit", ["lifted", "tilted"])
def test_no_capsule_is_deeper_than_it_was_by_more_than_samples_tell(request, name, edit):
    """Up to half a centimetre was taken for near enough once; between its samples the solver knows of nothing."""
    bound = request.getfixturevalue(name)
    after = bound.changed(edit)
    motion = adapt(bound.binding, after)
    assert motion.converged.all()
    assert beyond(bound, motion.positions, after).max() < 0.004
    figures = bound.figures(motion, after)
    assert figures["contacts_kept_pct"] >= 99 and figures["bone_error_max_pct"] < 1e-6


def test_what_is_deeper_is_measured_against_the_source_and_a_millimetre(made_walk):
    bound = made_walk
    source = bound.track.positions
    assert compare(bound.binding, source, bound.meshes, 1.0).deeper.max() < 1e-6  # single precision
    sunk = source - [0.0, 0.0, 0.02]
    found = compare(bound.binding, sunk, bound.meshes, 1.0).deeper
    assert found.max() == pytest.approx(0.02, abs=1e-3)
    # Without a capsule only what is inside by itself counts, from a millimetre on.
    bare = compare(bound.binding, sunk, bound.meshes, 1.0, clear=0.0).deeper
    assert bare.max() < found.max() and (bare <= np.maximum(found, 0.0) + 1e-9).all()


def test_only_what_is_too_near_is_asked_for_more(made_walk, monkeypatch):
    """Raising all distances would move feet that stand where they are to stand."""
    asked, raise_it = [], Colliders.raised

    def noted(self, pose, by):
        out = raise_it(self, pose, by)
        more = out._goals.least - self._goals.least
        near, distance = self._distances(pose)
        short = np.zeros(more.shape, bool)
        short.reshape(-1)[near.pairs[near.least > distance]] = True
        asked.append((np.unique(more[short]), np.abs(more[~short]).max(initial=0.0), by))
        return out

    monkeypatch.setattr(Colliders, "raised", noted)
    adapt(made_walk.binding, made_walk.changed("tilted"))
    assert asked
    for raised, others, by in asked:
        np.testing.assert_allclose(raised, by, atol=1e-12)
        assert others == 0.0


@pytest.mark.captures
@pytest.mark.slow
def test_contacts_come_before_clearance():
    """Rounds that made room moved feet of steep and stepped ground off it: 94 % were kept on stairs, 90 on a slope."""
    (row,) = (row for row in table.rows(scenes=("pfnn_flat09",)) if row.edit == "stairs_down")
    (result,) = looks.results([row])
    assert result.figures["contacts_kept_pct"] > 97
