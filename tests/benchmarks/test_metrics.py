"""The measures on hand-made motions whose answers are known, and on the captured climbs."""

import numpy as np
import pytest

from benchmarks import props
from benchmarks.climbs import climb
from benchmarks.metrics import measure, measure_details, without_joints
from solvers.core.errors import InputError
from solvers.core.types import JointTrack, MeshTrack, Skeleton

NAMES = ("hip", "knee", "ankle", "toe")
EFFECTORS = {"toe": ("toe",)}
POSE = np.array([[0, 0, 0.9], [0.05, 0, 0.5], [0, 0, 0.1], [0.15, 0, 0.03]])


def track(positions, fps=120.0, names=NAMES):
    skeleton = Skeleton(names, np.arange(len(names)) - 1)
    return JointTrack(skeleton, positions, fps, np.arange(len(positions)))


def stand(frames=100):
    return np.repeat(POSE[None], frames, axis=0)


def moved(positions, shift, frames=slice(None)):
    out = positions.copy()
    out[frames] += shift
    return out


def ground(height=0.0):
    return props.height_field("Ground", np.arange(-3, 4.0), np.arange(-3, 4.0), np.full((7, 7), height))


def compare(original, adapted, before=None, after=None, height=1.8, **options):
    before = before or [ground()]
    after = after or before
    return measure_details(track(original), track(adapted), before, after, EFFECTORS, height, **options)


def test_identity_is_perfect():
    rng = np.random.default_rng(0)
    wobble = np.cumsum(np.cumsum(rng.normal(0, 1e-4, (100, 1, 3)), axis=0), axis=0)
    positions = stand() + wobble * [1, 1, 0]
    figures = compare(positions, positions).figures
    assert figures["contact_frames"] > 50 and figures["contacts_kept_pct"] == 100
    assert figures["jerk_mean_ratio"] == figures["jerk_p95_ratio"] == 1
    assert figures["penetration_pct"] == figures["clearance_lost_pct"] == 0
    assert figures["bone_error_max_pct"] < 1e-9
    assert figures["skate_pct"] == figures["skate_pct_original"]


@pytest.mark.parametrize("lift, kept", [(0.015, 100), (-0.015, 100), (0.03, 70), (-0.03, 70)])
def test_contacts_are_kept_within_two_centimetres_both_ways(lift, kept):
    details = compare(stand(), moved(stand(), [0, 0, lift], slice(30)))
    assert details.figures["contact_frames"] == 100
    assert details.figures["contacts_kept_pct"] == kept
    (pair,) = details.pairs
    assert pair.offset == pytest.approx(0.03, abs=0.004)
    assert np.allclose(pair.shift[:30], lift) and np.allclose(pair.shift[30:], 0)
    assert pair.kept[30:].all() and (pair.kept[:30] == (kept == 100)).all()


def test_contacts_are_measured_against_the_changed_environment():
    raised = [ground(0.2)]
    assert compare(stand(), stand(), after=raised).figures["contacts_kept_pct"] == 0
    carried = compare(stand(), moved(stand(), [0, 0, 0.2]), after=raised).figures
    assert carried["contacts_kept_pct"] == 100 and carried["clearance_lost_pct"] == 0


def test_fast_and_distant_feet_do_not_touch():
    fast = stand() + np.linspace(0, 1, 100)[:, None, None] * [1, 0, 0]
    assert compare(fast, fast).figures["contact_frames"] == 0
    away = moved(stand(), [0, 0, 0.3])
    figures = compare(away, away).figures
    assert figures["contact_frames"] == 0 and figures["contacts_kept_pct"] is None


def test_offset_is_the_mode_not_the_least_distance():
    """A toe that rests at 3 cm and dips to 1 cm for a moment stands at 3 cm."""
    positions = stand()
    positions[40:50, 3, 2] = 0.01
    (pair,) = compare(positions, positions).pairs
    assert pair.offset == pytest.approx(0.03, abs=0.004)


def test_what_hangs_over_a_floor_does_not_touch_it():
    """A toe on the foot of a ramp was counted as touching the floor 10 cm below."""
    ramp = props.box("Ramp", [-1, -1, -0.07], [1, 1, 0.0])
    details = compare(stand(), stand(), [ramp, ground(-0.07)], [ramp, ground(-0.5)])
    assert details.figures["contact_frames"] == details.figures["contacts_kept_pct"] == 100
    on_ramp, on_floor = details.pairs
    assert on_ramp.contact.all() and not on_floor.contact.any()


def test_two_objects_as_near_as_each_other_are_one_contact():
    """With the one that is on top now: the other one's face lies inside it."""
    stage = props.box("Stage", [-1, -1, -0.3], [1, 1, 0.0])
    raised = props.box("Stage", [-1, -1, -0.15], [1, 1, 0.15])
    for lift, kept in ((0.15, 100), (0.0, 0), (0.3, 0)):
        figures = compare(stand(), moved(stand(), [0, 0, lift]), [ground(), stage], [ground(), raised]).figures
        assert figures["contact_frames"] == 100 and figures["contacts_kept_pct"] == kept


def test_a_contact_that_was_covered_does_not_count():
    under = props.box("Stage", [-1, -1, -0.5], [1, 1, -0.05])
    raised = props.box("Stage", [0.1, -1, -0.3], [1, 1, 0.15])
    figures = compare(stand(), moved(stand(), [0, 0, 0.15]), [ground(), under], [ground(), raised]).figures
    assert figures["contact_frames"] == 0 and figures["contacts_kept_pct"] is None


def test_riding_a_moving_platform_is_a_contact():
    """Speed counts against the surface: a foot on a lift at 1 m/s touches it, a hovering one does not."""
    rise = np.linspace(0, 99 / 120, 100)[:, None, None] * [0, 0, 1]
    plate = ground()
    lift = [MeshTrack("Ground", plate.vertices + rise, plate.triangles)]
    ridden = compare(stand() + rise, stand() + rise, lift)
    assert ridden.figures["contact_frames"] == 100 and ridden.figures["contacts_kept_pct"] == 100
    assert compare(stand(), stand(), lift).figures["contact_frames"] == 0


def test_penetration_is_a_share_of_frames_and_sees_bones():
    sunk = compare(stand(), moved(stand(), [0, 0, -0.05], slice(20)))
    assert sunk.figures["penetration_pct"] == 20
    assert sunk.figures["penetration_max_cm"] == pytest.approx(2.0)
    post = props.box("Post", [-0.1, -0.1, 0.35], [0.1, 0.1, 0.39])
    shin = compare(stand(), stand(), before=[post])
    deepest = shin.samples[np.argmax(shin.depth.max(axis=0))]
    assert deepest == "knee>ankle 1/3" and shin.figures["penetration_pct"] == 100


def test_clearance_counts_up_to_the_capsule():
    wall = props.box("Wall", [0.3, -1, -1], [0.4, 1, 2])
    near = props.box("Wall", [0.18, -1, -1], [0.28, 1, 2])
    far = props.box("Wall", [0.21, -1, -1], [0.31, 1, 2])
    lost = compare(stand(), stand(), [wall], [near])
    assert lost.figures["clearance_lost_pct"] == 100
    assert lost.figures["clearance_lost_max_cm"] == pytest.approx(2.0)
    assert lost.bones[np.argmax(lost.clearance_loss.max(axis=0))] == "ankle>toe"
    assert compare(stand(), stand(), [wall], [far]).figures["clearance_lost_pct"] == 0
    assert compare(stand(), stand(), [near], [wall]).figures["clearance_lost_pct"] == 0


def test_jerk_is_metres_a_second_cubed_and_that_of_a_louder_motion_a_ratio():
    t = np.arange(50) / 120
    cubic = stand(50) + (t**3)[:, None, None] * [1, 0, 0]
    assert np.allclose(compare(cubic, cubic).jerk, 6, rtol=1e-4)
    noise = np.random.default_rng(1).normal(0, 1e-3, (100, 4, 3))
    figures = compare(stand() + noise, stand() + 3 * noise).figures
    assert figures["jerk_mean_ratio"] == pytest.approx(3)
    assert figures["jerk_p95_ratio"] == pytest.approx(3)


def test_bone_error_is_relative_to_rest():
    stretched = stand()
    stretched[10, 3] = stretched[10, 2] + 1.1 * (stretched[10, 3] - stretched[10, 2])
    figures = compare(stand(), stretched).figures
    assert figures["bone_error_max_pct"] == pytest.approx(10)
    assert figures["bone_error_mean_pct"] == pytest.approx(10 / 300)


def test_scaled_body_keeps_its_relations_in_proportion():
    figures = compare(stand(), 0.8 * stand(), scale=0.8).figures
    assert figures["contacts_kept_pct"] == 100 and figures["bone_error_max_pct"] < 1e-9
    assert figures["clearance_lost_pct"] == 0
    high = compare(stand(), moved(0.8 * stand(), [0, 0, 0.03]), scale=0.8)
    assert high.figures["contacts_kept_pct"] == 0


def test_slide_is_seen_standing_and_not_in_the_air():
    slide = stand() + np.linspace(0, 0.99, 100)[:, None, None] * [1, 0, 0]
    figures = compare(stand(), slide).figures
    assert figures["skate_pct"] == 100 and figures["skate_pct_original"] == 0
    assert figures["skate_weighted_cm_s"] == pytest.approx(120, rel=0.1)
    assert compare(stand(), moved(slide, [0, 0, 0.1])).figures["skate_pct"] == 0


@pytest.mark.parametrize("size", [0.01, 3.0])
def test_units_follow_the_height(size):
    """A body in other units gives the same figures once its height is told."""
    rng = np.random.default_rng(2)
    original = stand() + 1e-3 * rng.normal(size=(100, 4, 3))
    adapted = moved(original, [0, 0, -0.045], slice(35))
    plain = compare(original, adapted).figures
    plate = ground()
    scaled = [MeshTrack("Ground", plate.vertices * size, plate.triangles)]
    other = compare(original * size, adapted * size, scaled, height=1.8 * size).figures
    lengths = {key for key in plain if "_cm" in key}
    for key in plain.keys() - lengths:
        assert other[key] == pytest.approx(plain[key]), key
    for key in lengths:
        assert other[key] == pytest.approx(size * plain[key], abs=1e-9), key


def test_up_axis_does_not_matter():
    turn = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0.0]])
    slide = stand() + np.linspace(0, 0.99, 100)[:, None, None] * [1, 0, 0]
    plate = ground()
    turned = [MeshTrack("Ground", plate.vertices @ turn.T, plate.triangles)]
    plain = compare(stand(), slide).figures
    other = compare(stand() @ turn.T, slide @ turn.T, turned, up=turn @ [0, 0, 1]).figures
    assert other == pytest.approx(plain)


def test_dropped_joints_pass_their_children_on():
    kept = without_joints(track(stand()), ["knee", "toe"])
    assert kept.skeleton.names == ("hip", "ankle") and list(kept.skeleton.parents) == [-1, 0]
    assert np.array_equal(kept.positions, stand()[:, [0, 2]])


def test_sides_that_do_not_belong_together_are_refused():
    with pytest.raises(InputError, match="same joints"):
        compare(stand(), stand(50))
    with pytest.raises(InputError, match="'Ground' is missing"):
        compare(stand(), stand(), after=[props.box("Other", [0, 0, 0], [1, 1, 1])])
    with pytest.raises(InputError, match="'paw'"):
        measure(track(stand()), track(stand()), [ground()], [ground()], {"toe": ("paw",)}, 1.8)


@pytest.mark.captures
@pytest.mark.parametrize("number, penetration", [(0, 0.0), (1, 13.9)])
def test_climbs_measure_as_known(number, penetration):
    scene = climb(number)
    meshes = list(scene.environment.values())
    figures = measure(scene.track, scene.track, meshes, meshes, scene.effectors, scene.height)
    assert figures["penetration_pct"] == pytest.approx(penetration, abs=0.1)
    assert figures["contacts_kept_pct"] == 100 and figures["contact_frames"] > 8000
    assert figures["jerk_mean_ratio"] == 1 and figures["clearance_lost_pct"] == 0
