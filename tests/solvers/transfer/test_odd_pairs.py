"""A pair that is far off is named with what the others say; pairs that are right never are."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks._transfer_bodies import dancers, gallopers
from benchmarks._transfer_cases import direction
from solvers.transfer.clip_pair import ClipRows
from solvers.transfer.odd_pairs import odd_pairs
from tests.transfer_pairs import SAMBA_CRANE_STANDING, SAMBA_CRANE_STEPPING

FPS = 30.0
TIMES = np.arange(0, 91, 10)


def made(seeds=(0, 1), noise=0.002):
    """Clips of two parts that do the same, the target in a way of its own and with its own time."""
    mixing = np.random.default_rng(9).normal(size=(2, 6, 5))
    clips = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        waves = rng.uniform(0.5, 2.0, (2, 6)), rng.uniform(0, 6, (2, 6))
        source = [np.sin(np.arange(91)[:, None] / 14.0 * waves[0][part] + waves[1][part]) for part in range(2)]
        times = 90.0 * np.linspace(0, 1, 91) ** 1.1 / 1.0
        there = [np.stack([np.interp(times, np.arange(91), column) for column in rows.T], axis=1) for rows in source]
        target = [np.tanh(0.6 * rows) @ mixing[part] for part, rows in enumerate(there)]
        noisy = [tuple(rows + noise * rng.normal(size=rows.shape) for rows in side) for side in (source, target)]
        pairs = np.stack((TIMES, np.round(np.interp(TIMES, times, np.arange(91)))), axis=1).astype(float)
        clips.append(ClipRows(*noisy, pairs, (101.0, 1.0)))
    return clips


def with_pair(clips, clip, pair, target):
    pairs = clips[clip].pairs.copy()
    pairs[pair, 1] = target
    # Time goes on: those that would be passed are not there.
    passed = (np.arange(len(pairs)) < pair) & (pairs[:, 1] >= target)
    passed |= (np.arange(len(pairs)) > pair) & (pairs[:, 1] <= target)
    return [replace(one, pairs=pairs[~passed]) if k == clip else one for k, one in enumerate(clips)], pair - int(
        passed[:pair].sum()
    )


def test_right_pairs_are_not_named():
    for seeds in ((0, 1), (2, 3), (4,), (5, 6, 7)):
        assert odd_pairs(made(seeds), FPS) == []


@pytest.mark.parametrize("clip, pair, off", [(0, 4, 20), (0, 6, -20), (1, 2, 20), (1, 9, -20), (0, 0, 20)])
def test_a_pair_twenty_frames_off_is_named_with_where_it_fits(clip, pair, off):
    clips = made()
    right = clips[clip].pairs[pair, 1]
    wrong, at = with_pair(clips, clip, pair, right + off)
    [odd] = odd_pairs(wrong, FPS)
    assert (odd.clip, odd.pair) == (clip, at) and abs(odd.answer - right) <= 2 and odd.odds > 5.0


def test_two_are_named_the_worse_first_and_the_order_of_clips_is_nothing():
    clips, _ = with_pair(made(), 0, 4, made()[0].pairs[4, 1] + 20)
    clips, _ = with_pair(clips, 1, 2, clips[1].pairs[2, 1] + 20)
    found = odd_pairs(clips, FPS)
    assert sorted(odd.clip for odd in found) == [0, 1] and min(odd.odds for odd in found) > 5.0
    swapped = odd_pairs(clips[::-1], FPS)
    assert {(1 - odd.clip, odd.pair, odd.answer) for odd in swapped} == {(o.clip, o.pair, o.answer) for o in found}


def test_time_that_runs_unevenly_is_no_fault_where_poses_agree():
    """The target waits in the middle: its pairs are far from even time, and right."""
    [clip] = made((0,))
    waits = np.interp(np.arange(91), (0, 30, 60, 90), (0, 42, 48, 90))  # the row that each of the target's shows now
    at = np.clip(np.round(waits).astype(int), 0, 90)
    answers = [int(np.abs(waits - target).argmin()) for target in clip.pairs[:, 1]]
    slowed = replace(clip, target=tuple(rows[at] for rows in clip.target))
    pairs = np.stack((clip.pairs[:, 0], answers), axis=1).astype(float)
    assert (np.diff(pairs[:, 1]) > 0).all() and odd_pairs([replace(slowed, pairs=pairs)], FPS) == []


def test_a_cycle_of_six_pairs_is_named_in_its_own_round():
    """Of three rounds of one cycle any would do by poses; what is said lies between the neighbours."""
    turn = 2 * np.pi * np.arange(91) / 30.0
    ways = np.stack((np.cos(turn), np.sin(turn), 0.3 * np.cos(2 * turn)), axis=1)
    mixing = np.random.default_rng(4).normal(size=(2, 3, 5))
    rows = np.round(np.linspace(0, 90, 13))
    pairs = np.stack((rows, rows), axis=1)
    sides = [tuple(ways @ mixing[part] for part in range(2)), tuple(np.tanh(ways @ mixing[part]) for part in (1, 0))]
    assert odd_pairs([ClipRows(*sides, pairs)], FPS) == []
    wrong = np.delete(pairs, [5, 7], axis=0)
    wrong[5, 1] += 11.0
    [odd] = odd_pairs([ClipRows(*sides, wrong)], FPS)
    assert odd.pair == 5 and abs(odd.answer - pairs[6, 1]) <= 2


def test_too_few_pairs_and_still_parts_tell_nothing():
    clips = made((0,))
    few = [replace(clips[0], pairs=clips[0].pairs[[0, 3, 6, 9]] + [[0, 0], [0, 15], [0, 0], [0, 0]])]
    assert odd_pairs(few, FPS) == []
    stiff = [replace(clip, source=(clip.source[0][:, :0],) * 2, target=(clip.target[0][:, :0],) * 2) for clip in clips]
    assert odd_pairs(stiff, FPS) == []


@pytest.mark.captures
def test_no_right_pair_of_captured_bodies_is_named():
    """Of dancers whose pairs were marked by eye, in both directions, and of a gallop by several numbers of pairs."""
    samba, crane = dancers()
    pairs = [pairs.astype(float) for pairs in (SAMBA_CRANE_STANDING, SAMBA_CRANE_STEPPING)]
    assert odd_pairs([ClipRows(samba.track.rows, crane.track.rows, one) for one in pairs], FPS) == []
    assert odd_pairs([ClipRows(crane.track.rows, samba.track.rows, one[:, ::-1]) for one in pairs], FPS) == []
    horse, camel = gallopers()
    for count in (5, 6, 12, 24):
        rows = np.unique(np.round(np.linspace(0, 23, count)))
        assert odd_pairs([ClipRows(horse.track.rows, camel.track.rows, np.stack((rows, rows), axis=1))], FPS) == []


@pytest.mark.captures
@pytest.mark.slow
@pytest.mark.parametrize("backward", [False, True])
def test_of_the_set_none_is_named_and_most_that_are_off_are(backward):
    """All pairs of key poses that can be 20 frames off without turning back time."""
    clips = [case.clip for case in direction(backward).training]
    assert odd_pairs(clips, FPS) == []
    named, tried = 0, 0
    for clip, one in enumerate(clips):
        for pair in range(len(one.pairs)):
            for off in (-20.0, 20.0):
                pairs = one.pairs.copy()
                pairs[pair, 1] += off
                if (np.diff(pairs[:, 1]) > 0).all() and 0 <= pairs[pair, 1] < len(one.target[0]):
                    found = odd_pairs([replace(c, pairs=pairs) if k == clip else c for k, c in enumerate(clips)], FPS)
                    named += any((odd.clip, odd.pair) == (clip, pair) for odd in found)
                    tried += 1
    assert tried > 8 and named > 0.8 * tried
