"""A few pairs become pairs for all frames: timing errors on made subjects, exact pairs, fallbacks."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.interpolate import PchipInterpolator

from benchmarks.baselines.linear_map_cost import densify_by_linear_maps
from solvers.core.errors import InputError, PartError
from solvers.transfer.clip_pair import ClipRows
from solvers.transfer.correspondence import densify

SOURCE_FPS, TARGET_FPS, SWAYS = 50, 25, 6


class Made:
    """Five clips of two subjects who do the same, each in its own way, at its own pace, with noise.

    What they do is six sways, slow waves; rows of a part are a bent linear image of them, ever smaller from number to
    number. The target sways more or less in each, and adds a slow sway of its own. Time is warped smoothly.
    """

    def __init__(self, seed, parts=5, numbers=12, style=0.15, noise=0.05, warp=0.25):
        self.rng, self.noise, self.style, self.warp = np.random.default_rng(seed), noise, style, warp
        self.subjects = [[self.part(numbers) for _ in range(parts)] for _ in range(2)]
        self.gain = 1.0 + style * self.rng.normal(size=SWAYS)
        self.clips, self.truth = zip(*(self.clip() for _ in range(5)), strict=True)

    def part(self, numbers):
        weights = self.rng.normal(size=(SWAYS, numbers)) * 0.5
        return weights, 0.5 * self.rng.normal(size=numbers), 3.0 * 0.7 ** np.arange(numbers)

    def rows(self, subject, sways):
        for weights, bias, sizes in self.subjects[subject]:
            rows = np.tanh(sways @ weights + bias) * sizes
            yield rows + self.noise * np.sqrt(np.mean(rows**2)) * self.rng.normal(size=rows.shape)

    def waves(self, low, high, count):
        rate, start = self.rng.uniform(low, high, (count, SWAYS)), self.rng.uniform(0, 6.3, (count, SWAYS))
        size = self.rng.uniform(0.4, 1.0, (count, SWAYS))
        return lambda time: (size * np.sin(2 * np.pi * rate * time[:, None, None] + start)).sum(axis=1)

    def clip(self):
        """One clip with five pairs, and the target's row of every source row."""
        seconds, pace = self.rng.uniform(2.0, 4.0), self.rng.uniform(0.8, 1.25)
        knots = np.linspace(0.0, 1.0, 7)
        warped = knots.copy()
        warped[1:-1] = np.sort(warped[1:-1] + self.warp * knots[1] * self.rng.normal(size=5)).clip(0.02, 0.98)
        forth = PchipInterpolator(knots * seconds, warped * seconds * pace)
        back = PchipInterpolator(warped * seconds * pace, knots * seconds)
        times = np.arange(int(seconds * SOURCE_FPS)) / SOURCE_FPS
        answers = np.arange(int(seconds * pace * TARGET_FPS)) / TARGET_FPS
        sways, own = self.waves(0.3, 1.2, 2), self.waves(0.2, 0.8, 1)
        source = self.rows(0, sways(times))
        target = self.rows(1, sways(back(answers)) * self.gain + self.style * own(answers))
        truth = np.minimum(forth(times) * TARGET_FPS, len(answers) - 1)
        paired = np.round(np.linspace(0, len(times) - 1, 5)).astype(int)
        return ClipRows(tuple(source), tuple(target), np.stack((paired, np.round(truth[paired])), axis=1)), truth

    def error(self, **options):
        """Mean timing error in milliseconds."""
        dense = densified(list(self.clips), **options)
        away = [
            np.abs(clip.target_rows - truth[clip.source_rows]) for clip, truth in zip(dense, self.truth, strict=True)
        ]
        return 1e3 / TARGET_FPS * float(np.mean(np.concatenate(away)))


@pytest.fixture(scope="module")
def made():
    return Made(0)


def densified(clips, cost, **options):
    """By one of the two costs, or as published."""
    return densify_by_linear_maps(clips, **options) if cost == "paper" else densify(clips, cost, **options)


def test_better_than_even_time():
    costs = ("line", "paper", "gaussian_process")
    table = np.array([[Made(seed).error(cost=cost) for cost in costs] for seed in range(4)])
    means = ", ".join(f"{cost} {value:.1f}" for cost, value in zip(costs, table.mean(axis=0), strict=True))
    print("mean timing error, ms:", means)
    assert (table[:, 2] < 0.85 * table[:, 0]).all()
    assert table[:, 2].mean() < table[:, 1].mean()


@pytest.mark.parametrize("cost", ["gaussian_process", "paper", "line"])
def test_all_go_forward_through_the_pairs(made, cost):
    for clip, dense in zip(made.clips, densified(list(made.clips), cost, run=3), strict=True):
        assert dense.cost.shape == (len(clip.source[0]), len(clip.target[0])) and np.isfinite(dense.cost).all()
        np.testing.assert_array_equal(dense.source_rows, np.arange(clip.pairs[0, 0], clip.pairs[-1, 0] + 1))
        at = clip.pairs[:, 0].astype(int)
        np.testing.assert_allclose(dense.target_rows[at], clip.pairs[:, 1], atol=1e-9)
        np.testing.assert_allclose(dense.line[at], clip.pairs[:, 1], atol=1e-9)
        assert (np.diff(dense.target_rows) >= 0.0).all()
        assert (np.diff(dense.path, axis=0) >= 0).all() and dense.note == ""
        if cost == "line":
            np.testing.assert_array_equal(dense.target_rows, dense.line)
        else:
            assert np.abs(dense.target_rows - dense.line).max() > 0.5


def test_pairs_between_frames(made):
    pairs = np.array([[0.4, 0.3], [40.3, 17.8], [40.6, 18.1], [61.7, 29.5]])
    clips = [ClipRows(made.clips[0].source, made.clips[0].target, pairs), *made.clips[1:]]
    dense = densify(clips)[0]
    assert dense.source_rows[0] == 1 and dense.source_rows[-1] == 61
    assert (dense.target_rows >= 0.3).all() and (dense.target_rows <= 29.5).all()
    assert dense.target_rows[39] <= 17.8 and dense.target_rows[40] >= 18.1
    assert (np.diff(dense.target_rows) >= 0.0).all()


def test_units_do_not_matter_and_the_same_clip_is_paired_with_itself(made):
    """Frame by frame, also between pairs."""
    first = densify(list(made.clips))
    scaled = [ClipRows(tuple(7 * r for r in c.source), tuple(0.2 * r for r in c.target), c.pairs) for c in made.clips]
    for one, other in zip(first, densify(scaled), strict=True):
        np.testing.assert_allclose(one.target_rows, other.target_rows, atol=1e-6)
    clips = [ClipRows(clip.source, clip.source, np.repeat(clip.pairs[:, :1], 2, axis=1)) for clip in made.clips]
    for dense in densify(clips):
        np.testing.assert_allclose(dense.target_rows, dense.source_rows, atol=1e-6)


def test_where_pairs_are_too_steep_time_is_even(made):
    clip = made.clips[0]
    pairs = np.array([[0, 0], [40, 20], [44, 38], [60, 45]])
    dense = densify([ClipRows(clip.source, clip.target, pairs, (101.0, 11.0)), *made.clips[1:]])[0]
    assert dense.note == "time runs evenly in source frames 141 to 145 (target 31 to 49): too steep for runs of 2"
    np.testing.assert_allclose(dense.target_rows[40:45], dense.line[40:45], atol=1e-9)
    assert np.abs(dense.target_rows - dense.line)[:40].max() > 0.1
    assert densify([ClipRows(clip.source, clip.target, pairs), *made.clips[1:]], run=4)[0].note == ""


def test_a_part_that_moves_between_pairs_only_is_named(made):
    source = [tuple(rows.copy() for rows in clip.source) for clip in made.clips]
    for rows, clip in zip(source, made.clips, strict=True):
        rows[2][clip.pairs[:, 0].astype(int)] = 0.0
    clips = [ClipRows(rows, clip.target, clip.pairs) for rows, clip in zip(source, made.clips, strict=True)]
    for given, options, words in (
        (clips, (), "Part 3: The part does not move"),
        (list(made.clips), ("cheap",), "no cost 'cheap'"),
        ([replace(made.clips[0], pairs=made.clips[0].pairs[:1])], (), "Clip 1 needs two pairs or more"),
    ):
        with pytest.raises(InputError, match=words):
            densify(given, *options)


@pytest.mark.parametrize("cost", ["gaussian_process", "paper", "line"])
@pytest.mark.parametrize("sides", [("source",), ("target",), ("source", "target")])
def test_a_stiff_torso_says_nothing_of_time(made, sides, cost):
    """The same as without that part; what is wrong with another one is told by its own number."""
    stiff = [with_stiff_torso(clip, sides) for clip in made.clips]
    every = tuple(range(1, len(made.clips[0].source)))
    without = [clip.of_parts(every) for clip in made.clips]
    for one, two in zip(densified(stiff, cost), densified(without, cost), strict=True):
        assert np.array_equal(one.target_rows, two.target_rows)


def with_stiff_torso(clip, sides):
    changes = {side: (getattr(clip, side)[0][:, :0], *getattr(clip, side)[1:]) for side in sides}
    return replace(clip, **changes)


def test_parts_beside_a_stiff_one_keep_their_numbers(made):
    clips = [with_stiff_torso(clip, ("source", "target")) for clip in made.clips[:2]]
    for clip in clips:
        clip.source[2][np.round(clip.pairs[:, 0]).astype(int)] = 1.0
    with pytest.raises(PartError, match="does not move") as error:
        densify(clips)
    assert error.value.part == 2
