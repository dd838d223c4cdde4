"""The measures of seats, on a made body."""

from dataclasses import replace

from benchmarks import _seat_measures as measures
from benchmarks import _seat_page as pages
from benchmarks._seat_cases import LOOKED_AT, Case, Joints
from benchmarks.datasets import Scene
from tests.adapt_seats import bound, seated, surroundings

JOINTS = Joints("pelvis", *(tuple(f"{part}.{side}" for side in "LR") for part in ("hip", "knee", "foot", "toe")))


def scene():
    track = seated()
    return Scene("made", track, {mesh.name: mesh for mesh in surroundings(track)}, {}, 1.8, {})


def test_a_seat_that_rises_keeps_its_body_and_one_that_is_let_go_does_not():
    case = Case(scene, JOINTS, ("Seat",), LOOKED_AT)
    binding = bound(seated())
    found, _, sits = measures.row(scene(), case, binding, 0.1)
    assert sits.all() and found["sits_frames"] == len(sits)
    assert found["pelvis_kept_pct"] == found["foot_kept_pct"] == 100.0 and found["out_of_reach_pct"] == 0.0
    alone, _, _ = measures.row(scene(), case, replace(binding, rests=None), 0.1)
    assert alone["pelvis_kept_pct"] < 100.0


def test_a_seat_beyond_the_legs_is_out_of_reach():
    case = Case(scene, JOINTS, ("Seat",), LOOKED_AT)
    found, _, _ = measures.row(scene(), case, bound(seated()), 0.9)
    assert found["out_of_reach_pct"] == 100.0 and found["all_kept_pct"] is None
    entry = {"case": "made", "mark": LOOKED_AT, "metres": 0.9, **found}
    assert "| made | +90 | –" in pages.page([entry], "here")
