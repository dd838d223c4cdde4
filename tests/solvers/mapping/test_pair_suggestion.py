"""The integrated score is what it claims to be, and on captured motion it picks better pairs than others do."""

import numpy as np
import pytest

from benchmarks._map_source import CLIPS, clip
from benchmarks.baselines.variance_score import variance_scores
from solvers.core.errors import InputError
from solvers.mapping.global_motion import GlobalMotion
from solvers.mapping.pair_suggestion import RowSpace, confidence, scores, suggest, worth
from solvers.mapping.pose_features import PoseFeatures
from solvers.regression.ridge import NOISE, PoseRidge, posterior_variance

FRAMES = 60


@pytest.fixture
def source(rng):
    """Features (F, P) that lie in five dimensions."""
    return rng.normal(size=(FRAMES, 5)) @ rng.normal(size=(5, 40)) / 20


COMPARED = "dog walk", "dog turn", "gallop", "samba", "crane", "chicken", "kick", "slash", "dance", "terrain"
SCORES = {"integrated": scores, "paper": variance_scores}


def exact(source, chosen, kind, excluded=None):
    """By the posterior covariance of all frames, written out."""
    covariance = source @ np.linalg.inv(chosen.T @ chosen / NOISE + np.eye(source.shape[1])) @ source.T
    if kind == "paper":
        return np.diag(covariance)
    counted = np.ones(len(source)) if excluded is None else ~excluded
    return (covariance**2 * counted).sum(axis=1) / (np.diag(covariance) + NOISE)


@pytest.mark.parametrize("kind", ["integrated", "paper"])
@pytest.mark.parametrize("pairs", [0, 1, 6])
def test_scores_are_those_of_the_posterior(source, rng, kind, pairs):
    chosen = np.concatenate((source[:pairs], rng.normal(0, 0.1, (1, 40))))[: pairs and pairs + 1]
    got = SCORES[kind](RowSpace.of(source), chosen)
    np.testing.assert_allclose(got, exact(source, chosen, kind), rtol=1e-9, atol=1e-12)


def test_the_score_is_the_variance_that_a_pair_takes_off(source):
    chosen = source[[3, 9]]
    got = scores(RowSpace.of(source), chosen)
    before = posterior_variance(source, chosen).sum()
    for frame in (0, 17, 59):
        after = posterior_variance(source, np.concatenate((chosen, source[[frame]]))).sum()
        assert got[frame] == pytest.approx(before - after)


def test_excluded_frames_count_nothing(source):
    excluded = np.zeros(FRAMES, bool)
    excluded[[4, 20]] = True
    glitched = source.copy()
    glitched[[4, 20]] *= 50
    got = scores(RowSpace.of(glitched, excluded), source[:2])
    assert not got[excluded].any()
    np.testing.assert_allclose(got[~excluded], exact(glitched, source[:2], "integrated", excluded)[~excluded])


def test_leaving_small_axes_out_hardly_changes_the_score_and_wide_sources_score_as_long_ones(source, rng):
    wide = np.tile(source, (1, 40)) / np.sqrt(40)
    long = scores(RowSpace.of(source), source[:3])
    np.testing.assert_allclose(scores(RowSpace.of(wide), wide[:3]), long, rtol=1e-9, atol=1e-12)
    source = rng.normal(size=(FRAMES, 40)) * 0.6 ** np.arange(40)
    got, want = scores(RowSpace.of(source), source[:3]), exact(source, source[:3], "integrated")
    assert RowSpace.of(source).axes.shape[1] < 15 and np.abs(got - want).max() < 5e-3 * want.max()


def test_proposals_are_local_maxima_well_apart():
    times = np.arange(200) / 50
    score = 1 + np.sin(2 * np.pi * times) + 0.1 * np.sin(90 * times) + 0.01 * times
    found = suggest(score, times)
    assert len(found) == 5 and (np.diff(score[found]) <= 0).all()
    assert np.diff(np.sort(times[found])).min() > 0.19
    assert set(np.floor(times[found[:4]])) == {0, 1, 2, 3}
    assert len(suggest(score, times, count=2)) == 2
    np.testing.assert_array_equal(suggest(np.array([0.0, 2, 2, 0, 3]), np.arange(5.0)), [4, 1])
    assert not len(suggest(np.zeros(9), np.arange(9.0)))


def test_confidence_grows_with_pairs(source, rng):
    rows = np.concatenate((source / np.sqrt((source**2).sum(axis=1).mean()), np.ones((FRAMES, 1))), axis=1)
    levels = [confidence(posterior_variance(rows, rows[:n])).mean() for n in (0, 1, 3, 8)]
    assert levels[0] == 0.0 and (np.diff(levels) > 0).all() and levels[-1] > 0.7


def test_bad_input_is_named(source):
    for request, words in (
        (lambda: RowSpace.of(np.where(np.arange(FRAMES)[:, None] == 7, np.nan, source)), "not finite at its frame 7"),
        (lambda: RowSpace.of(np.zeros((4, 3))), "all zero"),
        (lambda: RowSpace.of(source, np.ones(FRAMES, bool)), "excluded"),
        (lambda: RowSpace.of(source, weights=np.zeros(FRAMES)), "excluded"),
        (lambda: RowSpace.of(source, weights=np.full(FRAMES, -1.0)), "zero or more"),
    ):
        with pytest.raises(InputError, match=words):
            request()


@pytest.mark.captures
def test_integrated_picks_beat_uniform_ones_and_the_papers():
    """SOLVERS.md, section 5: six pairs of a source with itself, mean error over all its frames."""
    errors = []
    for name in COMPARED:
        points, times = clip(*CLIPS[name])
        points = GlobalMotion(points[0]).track(points).points
        rows = PoseFeatures.fit(points, times).rows(points, times)
        places, space = rows[:, : rows.shape[1] // 2], RowSpace.of(rows)

        def error(picks, rows=rows, places=places):
            predicted = PoseRidge.fit(rows[picks], places[picks]).predict(rows)
            return np.linalg.norm(predicted - places, axis=1).mean() / np.linalg.norm(places, axis=1).mean()

        picked = {"integrated": [], "paper": []}
        for how, picks in picked.items():
            for _ in range(6):
                picks.append(int(np.argmax(SCORES[how](space, rows[picks]))))
        uniform = np.linspace(0, len(rows) - 1, 6).astype(int)
        errors.append([error(picked["integrated"]), error(picked["paper"]), error(uniform)])
    integrated, paper, uniform = np.transpose(errors)
    assert (integrated < paper).all() and (integrated < uniform).all()
    assert integrated.mean() < 0.8 * paper.mean() and integrated.mean() < 0.9 * uniform.mean()


def _picked(space, source, count=6):
    picks = []
    for _ in range(count):
        picks.append(int(np.argmax(scores(space, source[picks]))))
    return picks


def test_weights_that_are_all_alike_pick_as_none_do(source):
    plain, alike = RowSpace.of(source), RowSpace.of(source, weights=np.full(FRAMES, 7.0))
    np.testing.assert_array_equal(scores(alike, source[:2]), scores(plain, source[:2]))
    assert _picked(alike, source) == _picked(plain, source)


def test_weighted_scores_are_those_of_the_weighted_posterior(source, rng):
    weights = rng.uniform(0, 3, FRAMES)
    weights[:9] = 0.0
    normal = weights * (FRAMES - 9) / weights.sum()
    got = scores(RowSpace.of(source, weights=weights), source[:2])
    covariance = source @ np.linalg.inv(source[:2].T @ source[:2] / NOISE + np.eye(40)) @ source.T
    want = (covariance**2 * normal).sum(axis=1) / (np.diag(covariance) + NOISE)
    np.testing.assert_allclose(got, np.where(weights > 0.0, want, 0.0), rtol=1e-9, atol=1e-12)
    _, left = worth(RowSpace.of(source, weights=weights), source[:2])
    assert left == pytest.approx(normal @ posterior_variance(source, source[:2]))


@pytest.mark.parametrize("excluded", [None, np.arange(3 * FRAMES) % 50 == 0])
def test_frames_that_are_repeated_pick_as_if_they_were_not_where_they_weigh_the_less(source, excluded):
    times = np.random.default_rng(3).integers(1, 4, FRAMES)
    repeated = np.repeat(np.arange(FRAMES), times)
    once = RowSpace.of(source, None if excluded is None else excluded[:FRAMES])
    more = RowSpace.of(
        source[repeated],
        None if excluded is None else excluded[:FRAMES][repeated],
        weights=(1.0 / times)[repeated],
    )
    assert [repeated[pick] for pick in _picked(more, source[repeated])] == _picked(once, source)


def test_a_loop_that_matters_is_picked_within_and_made_surer(rng):
    """A loop that is played all day beside rare, large poses: without weights most pairs went to those."""
    turn = 2 * np.pi * np.arange(200) / 25
    loop = np.stack((np.cos(turn), np.sin(turn), np.cos(2 * turn), np.sin(2 * turn)), axis=1) @ rng.normal(size=(4, 30))
    rare = 3.0 * rng.normal(size=(60, 5)) @ rng.normal(size=(5, 30))
    rows = np.concatenate((loop, rare)) / 20
    rows = np.concatenate((rows, np.ones((260, 1))), axis=1)
    matters = (np.arange(260) < 200).astype(float)
    plain, weighted = RowSpace.of(rows), RowSpace.of(rows, weights=matters)
    picks = {name: _picked(space, rows) for name, space in (("plain", plain), ("weighted", weighted))}
    assert max(picks["weighted"]) < 200 <= max(picks["plain"])
    left = {name: posterior_variance(rows[:200], rows[at]).mean() for name, at in picks.items()}
    assert left["weighted"] < 0.5 * left["plain"]
    found = suggest(scores(weighted, rows[:0]), np.arange(260.0))
    assert len(found) > 2 and max(found) < 200


def test_the_gain_is_the_share_of_what_is_left(source):
    score, left = worth(RowSpace.of(source), source[[3, 9]])
    before, after = (posterior_variance(source, source[at]).sum() for at in ([3, 9], [3, 9, 17]))
    assert score[17] / left == pytest.approx((before - after) / before)
    assert (score <= left).all()
