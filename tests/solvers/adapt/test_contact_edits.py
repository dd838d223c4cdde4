"""Contacts as they are edited: what is found, held and let go."""

from dataclasses import replace

import numpy as np

from solvers.adapt.contact_edits import RAMP, ContactEdit, found_spans, windows
from solvers.adapt.solve import adapt
from tests.adapt_bound import gap
from tests.adapt_seats import FRAMES, NAMES, PELVIS, bound, seated, surroundings

SEAT = 1
WHOLE = dict(joint=PELVIS, obj=SEAT, first=0, last=FRAMES - 1)


def raised(metres=0.1):
    ground, seat = surroundings(seated())
    return [ground, replace(seat, vertices=seat.vertices + [0, 0, metres])]


def test_runs_are_found_by_joint_and_short_gaps_are_joined():
    touched = np.zeros((2, 60, 3), bool)
    touched[1, 5:20, 2] = touched[1, 22:30, 2] = touched[1, 50:60, 2] = touched[0, 0:4, 0] = True
    assert found_spans(touched, 1.0 / 30.0).tolist() == [[0, 0, 0, 3], [2, 1, 5, 29], [2, 1, 50, 59]]


def test_a_window_is_whole_within_its_range_and_fades_beside_it():
    edit = ContactEdit(1, 0, 20, 30, True)
    off, on = windows([edit], (1, 60, 2), 1.0 / 30.0)
    found = on[0, :, 1]
    assert (found[20:31] == 1.0).all() and 0.0 < found[18] < 1.0
    assert not found[: 20 - int(RAMP * 30.0) - 1].any()
    assert not off.any()


def test_of_edits_that_overlap_the_later_one_counts_and_fades_into_the_other():
    on, off = (ContactEdit(0, 0, *rows, is_on) for rows, is_on in (((10, 50), True), ((20, 40), False)))
    held = windows([on, off], (1, 60, 1), 1.0 / 30.0)[1][0, :, 0]
    assert not held[20:41].any() and (held[[10, 14, 46, 50]] == 1.0).all()
    assert 0.0 < held[18] < 1.0 and np.abs(np.diff(held)).max() < 0.5
    assert (windows([off, on], (1, 60, 1), 1.0 / 30.0)[1][0, 10:51] == 1.0).all()


def test_a_seat_that_is_off_lets_go_and_auto_is_what_was_found():
    binding, after = bound(seated()), raised()
    off = binding.edited((ContactEdit(**WHOLE, is_on=False),))
    assert not off.touched[SEAT, :, PELVIS].any() and off.contact[SEAT, :, PELVIS].max() == 0.0
    assert gap(adapt(off, after).positions, adapt(binding, after).positions) > 0.01
    assert binding.edited(()) is binding and off.edited(()).contact.max() > 0.99


def test_hips_let_go_with_their_pelvis_but_for_those_with_edits_of_their_own():
    binding, hips = bound(seated()), [NAMES.index("hip.L"), NAMES.index("hip.R")]
    assert binding.touched[SEAT][:, hips].any(axis=0).all()
    off = ContactEdit(**WHOLE, is_on=False)
    assert not binding.edited((off,)).touched[SEAT][:, hips].any()
    kept = binding.edited((off, ContactEdit(hips[0], SEAT, 0, FRAMES - 1, True)))
    assert kept.touched[SEAT][:, hips].any(axis=0).tolist() == [True, False]
    assert kept.edited(kept.edits) is kept


def test_what_is_on_is_held_at_its_own_distance_of_each_frame():
    binding, after = bound(seated()), raised()
    older = replace(binding, rests=None)
    held = older.edited((ContactEdit(**WHOLE, is_on=True),))
    shift = (adapt(held, after).positions - held.track.positions)[:, PELVIS, 2]
    free = (adapt(older, after).positions - held.track.positions)[:, PELVIS, 2]
    assert np.abs(shift - 0.1).max() < 0.02 < np.abs(free - 0.1).max()


def test_nothing_moves_where_nothing_changes_whatever_is_held():
    binding = bound(seated())
    edits = (ContactEdit(**WHOLE, is_on=False), ContactEdit(NAMES.index("toe.L"), 0, 10, 40, True))
    assert gap(adapt(binding.edited(edits), surroundings(seated())).positions, binding.track.positions) < 1e-6


def test_edits_cost_no_second_bind():
    binding = bound(seated())
    edits = (ContactEdit(**WHOLE, is_on=False),)
    assert binding.edited(edits) is binding.edited(edits) and binding.edited(edits).relations is binding.relations
