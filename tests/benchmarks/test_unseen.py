"""What the page on unseen clips is made of: pairs that go on in time, and figures that count bodies, not results."""

import numpy as np
import pytest

from benchmarks._kernel_cases import features_of, forward, suggested
from benchmarks._kernel_measures import BELIEVED, EXPONENTIAL, NETWORK, Compared
from benchmarks._unseen_page import _choice, _over, _summary


def compared(bodies, ratio, group="animals, held out", unseen="Walk", missed=(1.0, 2.0)):
    errors = {(BELIEVED, NETWORK): ratio, (BELIEVED, EXPONENTIAL): 1.0}
    return Compared(
        bodies, group, unseen, 6, "suggested", errors, dict(zip((NETWORK, EXPONENTIAL), missed, strict=True))
    )


def test_pairs_go_on_and_suggested_ones_begin_and_end_the_clip(rng):
    pairs = forward(np.array([(0, 0), (3, 0), (4, 2), (6, 2), (9, 5)], float))
    assert pairs.tolist() == [[0, 0], [4, 2], [9, 5]]
    rows = suggested(features_of((rng.normal(size=(30, 4)), rng.normal(size=(30, 2)))), 6)
    assert {0, 29} <= set(rows.tolist()) and len(set(rows.tolist())) == 6


def test_a_mean_is_of_bodies_however_many_results_each_has():
    found = [compared("one", 0.5)] * 9 + [compared("two", 2.0)]
    bodies, results, ratio, *_, nearer, farthest, nearest = _summary(
        found, _over((BELIEVED, NETWORK), (BELIEVED, EXPONENTIAL))
    )
    assert (bodies, results, ratio, nearer, farthest, nearest) == ("2", "10", "1.000", "90%", "2.00", "0.50")
    people = [compared("both", 1.0, "people, held out", clip) for clip in ("jog", "hang")]
    assert _summary(people, _over((BELIEVED, NETWORK), (BELIEVED, EXPONENTIAL)))[0] == "2"


def test_the_choice_is_the_kernel_that_misses_less_of_a_clip():
    assert _choice(compared("one", 0.5), NETWORK) == 0.0
    assert _choice(compared("one", 0.5, missed=(2.0, 1.0)), NETWORK) == pytest.approx(np.log(2.0))
