"""Curves with new keys over some time run as their source before and after it."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import actions
from bl_ext.devrepo.motion_loom.scene.curve_splice import splice

from tests.objects import add_object

TIMES = np.array([1.0, 9.0, 13.5, 30.0, 34.0, 52.0, 60.0])
WITHIN = (-5.0, 75.0)
NEW = np.arange(20.0, 41.0)
BOTH = (True, True)


@pytest.fixture
def source():
    """A curve with smooth keys far apart."""
    ob = add_object("Box")
    rng = np.random.default_rng(1)
    for time, value in zip(TIMES, rng.normal(0, 3, len(TIMES)), strict=True):
        ob.location.x = value
        ob.keyframe_insert("location", index=0, frame=time)
    return actions.all_curves(*actions.assigned(ob))[0]


def spliced(source, new=NEW, sides=BOTH):
    """A curve that is the source's but for keys over some time, where it is higher by something that fades."""
    ob = add_object("Other")
    action, slot = actions.create(ob, "Other")
    holder = actions.curve_list(action, slot, create=True)
    bump = np.sin(np.linspace(0.0, np.pi, len(new)))
    bump[[0, -1]] = 0.0
    values = np.array([source.evaluate(time) for time in new]) + bump
    curve = actions.write_curve(holder, "location", 0, None, new, values)
    splice(curve, source, sides, WITHIN)
    return curve


def at(curve, times):
    return np.array([curve.evaluate(time) for time in times])


def assert_same_outside(source, curve, new=NEW, step=0.37):
    for times in (np.arange(-20.0, new[0], step), np.arange(new[-1], 95.0, step)):
        np.testing.assert_allclose(at(curve, times), at(source, times), atol=2e-4)


HANDLES = ("AUTO", "AUTO_CLAMPED", "VECTOR", "ALIGNED", "FREE")


@pytest.mark.parametrize("kind", ["BEZIER", "LINEAR", "CONSTANT"])
@pytest.mark.parametrize("new", [NEW, NEW + 10.0, np.arange(9.0, 31.0), np.arange(-9.0, 0.0), np.arange(62.0, 70.0)])
def test_it_runs_as_before_between_keys_as_well(source, kind, new):
    """Also where the new keys end on keys of the source, before all of them, or after."""
    for key in source.keyframe_points:
        key.interpolation = kind
    curve = spliced(source, new)
    assert_same_outside(source, curve, new)
    middle = new[len(new) // 2]
    assert at(curve, [middle])[0] - at(source, [middle])[0] == pytest.approx(1.0, abs=0.03)


@pytest.mark.parametrize("handles", HANDLES)
@pytest.mark.parametrize("smoothing", ["NONE", "CONT_ACCEL"])
def test_handles_of_all_types_stay(source, handles, smoothing):
    """Blender sets automatic handles by the neighbours, which are others now."""
    source.auto_smoothing = smoothing
    for key in source.keyframe_points:
        key.handle_left_type = key.handle_right_type = handles
        if handles == "FREE":
            key.handle_right = key.co[0] + 9.0, key.co[1] + 2.0  # so long that it overlaps
    source.update()
    assert_same_outside(source, spliced(source))


def test_keys_outside_are_the_sources_own(source):
    curve = spliced(source)
    before, after = actions.keys_of(source), actions.keys_of(curve)
    for part in (TIMES < NEW[0], TIMES > NEW[-1]):
        kept = np.isin(after[:, 0], TIMES[part].astype(np.float32))
        np.testing.assert_array_equal(after[kept][:, :2], before[part][:, :2])
    assert len(after) == len(NEW) + (TIMES < NEW[0]).sum() + (TIMES > NEW[-1]).sum()
    assert curve.keyframe_points[0].handle_left_type == source.keyframe_points[0].handle_left_type


@pytest.mark.parametrize("kind", ["SINE", "BOUNCE", "ELASTIC"])
def test_easings_that_cannot_be_divided_are_sampled_up_to_the_next_key(source, kind):
    for key in source.keyframe_points:
        key.interpolation = kind
    assert_same_outside(source, spliced(source), step=1.0)


@pytest.mark.parametrize("new", [NEW, np.arange(62.0, 70.0)])
@pytest.mark.parametrize("sides", [BOTH, (True, False), (False, True)])
def test_a_curve_that_goes_on_straight_goes_on_and_holds_where_it_has_to(source, sides, new):
    source.extrapolation = "LINEAR"
    curve = spliced(source, new, sides)
    for times, is_open in ((np.arange(-20.0, new[0]), sides[0]), (np.arange(new[-1], 95.0), sides[1])):
        expected = (
            at(source, times) if is_open else np.full(len(times), at(source, [new[0 if times[0] < 0 else -1]])[0])
        )
        np.testing.assert_allclose(at(curve, times), expected, atol=2e-3)


@pytest.mark.parametrize("modifier", ["CYCLES", "NOISE"])
def test_what_modifiers_make_is_sampled_over_the_times_that_are_seen(source, modifier):
    source.modifiers.new(modifier)
    curve = spliced(source)
    times = np.arange(WITHIN[0], WITHIN[1] + 1.0)
    times = times[(times <= NEW[0]) | (times >= NEW[-1])]
    np.testing.assert_allclose(at(curve, times), at(source, times), atol=1e-5)
    assert not len(curve.modifiers)


def test_one_side_alone_and_no_source(source):
    curve = spliced(source, sides=(False, True))
    np.testing.assert_allclose(at(curve, [-5.0, 10.0, 20.0]), at(source, [20.0]).repeat(3), atol=1e-6)
    before = actions.keys_of(curve)
    splice(curve, None, BOTH, WITHIN)
    np.testing.assert_array_equal(actions.keys_of(curve), before)
    assert bpy.data.actions
