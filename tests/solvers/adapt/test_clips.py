"""Adapt on many kinds of captured clips: hands and feet, animals, bars, a mug that moves; and on odd requests."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from benchmarks.climbs import climb
from benchmarks.props import box
from benchmarks.scenes import mug, obstacles, playground, quadruped, sitting
from solvers.adapt.binding import fit
from solvers.adapt.pushes import SPREAD_REACH
from solvers.adapt.solve import AVOID, IGNORE, AdaptOptions, Pin, SurfaceUse, adapt
from solvers.core.errors import InputError
from solvers.core.types import MeshTrack
from tests.adapt_bound import Bound, gap, made_and, moved

CLIPS = {
    "climb 0": (lambda: climb(0), 2200, 2500, "widened"),
    "climb 1": (lambda: climb(1), 1750, 1900, "widened"),
    "bars": (lambda: playground("01_06"), 300, 360, "shrunk"),
    "obstacles": (obstacles, 40, 140, "block_in_the_way"),
    "chair": (sitting, 60, 160, "lifted"),
    "dog": (lambda: quadruped("Husky"), 0, 124, "bent"),
    "mug": (mug, 0, 30, "larger"),
}


@pytest.fixture(scope="module", params=made_and(*CLIPS, marks=[pytest.mark.captures, pytest.mark.slow]))
def clip(request):
    if request.param not in CLIPS:
        return request.getfixturevalue(request.param)
    make, *part = CLIPS[request.param]
    return Bound(make(), *part)


@pytest.fixture(scope="module")
def descending():
    """Down from the boxes to the ground: all objects matter."""
    make, *part = CLIPS["climb 0"]
    return Bound(make(), *part)


@pytest.fixture(scope="module", params=made_and("descending"))
def down(request):
    return request.getfixturevalue(request.param)


TURN, SHIFT = Rotation.from_rotvec([0.3, -2.0, 1.1]).as_matrix(), np.array([5.0, -30.0, 2.0])


def test_nothing_changed_gives_back_the_motion(clip):
    motion = adapt(clip.binding, clip.meshes)
    assert gap(motion.positions, clip.track.positions) < 1e-6 and motion.converged.all()


def test_surroundings_moved_as_one_take_the_motion_along(clip):
    motion = adapt(clip.binding, moved(clip.meshes, TURN, SHIFT), AdaptOptions(upright=0.0))
    assert gap(motion.positions, clip.track.positions @ TURN.T + SHIFT) < 1e-6 and motion.converged.all()


def test_axes_units_and_place_do_not_matter(clip):
    """Collisions, edges, contacts and convergence are decided alike in any coordinates."""
    here = adapt(clip.binding, clip.after)
    for size, seed in ((1.0, None), (100.0, 2), (0.01, 3)):
        turn = np.eye(3)[[2, 0, 1]] if seed is None else Rotation.random(random_state=seed).as_matrix()
        shift = size * np.array([3.0, -20.0, 7.0])
        track = replace(clip.track, positions=size * clip.track.positions @ turn.T + shift)
        binding = fit(track, moved(clip.meshes, turn, shift, size), clip.effectors, size * clip.scene.height)
        options = AdaptOptions(gravity=tuple(turn @ [0.0, 0.0, -1.0]))
        motion = adapt(binding, moved(clip.after, turn, shift, size), options)
        assert gap(motion.positions, size * here.positions @ turn.T + shift) < 1e-6 * size * clip.scene.height


def test_bones_keep_their_lengths_and_a_second_run_is_the_same_to_the_last_bit(clip):
    one, two = (adapt(clip.binding, clip.after).positions for _ in range(2))
    assert np.array_equal(one, two)
    child = np.flatnonzero(clip.track.skeleton.parents >= 0)
    parent = clip.track.skeleton.parents[child]
    lengths = [np.linalg.norm(p[:, child] - p[:, parent], axis=-1) for p in (clip.track.positions, one)]
    assert (np.abs(lengths[1] - lengths[0]) <= 1e-9 * lengths[0] + 1e-12).all()


@pytest.fixture(scope="module", params=[(0, 2000, 2600), (1, 1500, 2200)], ids=["climb 0", "climb 1"])
def long_part(request):
    number, start, stop = request.param
    return Bound(climb(number), start, stop)


@pytest.mark.captures
@pytest.mark.slow
@pytest.mark.parametrize("edit", ["stretched", "lifted", "widened", "moved", "tilted"])
def test_contacts_are_kept(long_part, edit):
    changed = long_part.changed(edit)
    figures = long_part.figures(adapt(long_part.binding, changed), changed)
    print(long_part.scene.name, edit, figures)
    assert figures["contact_frames"] > 1000 and figures["contacts_kept_pct"] >= 95
    assert figures["penetration_pct"] <= figures["penetration_original_pct"] + 1
    assert max(figures["jerk_mean_ratio"], figures["jerk_p95_ratio"]) <= 1.25
    assert figures["bone_error_max_pct"] < 1e-6 and figures["clearance_lost_pct"] <= 10


def walled(bound):
    """With a wall three centimetres beside the whole motion, bound too."""
    lo, hi = bound.track.positions.min(axis=(0, 1)), bound.track.positions.max(axis=(0, 1))
    wall = box("Wall", [lo[0] - 0.6, hi[1] + 0.03, 0], [hi[0] + 0.6, hi[1] + 0.3, 3.0])
    return fit(bound.track, [*bound.meshes, wall], bound.effectors, bound.scene.height), wall


@pytest.fixture(scope="module")
def beside(down):
    return walled(down)


def uses(bound, *last):
    return (SurfaceUse(),) * len(bound.meshes) + last


def test_an_ignored_object_is_as_if_it_had_never_been_bound(down, beside):
    binding, wall = beside
    assert (binding.points.object_index == len(down.meshes)).sum() > 5
    ignored = AdaptOptions(surfaces=uses(down, SurfaceUse(IGNORE)))
    never = adapt(down.binding, down.after).positions
    elsewhere = MeshTrack("Wall", wall.vertices * 0.7 + 0.4, wall.triangles)
    for found in (wall, elsewhere):
        assert gap(adapt(binding, [*down.after, found], ignored).positions, never) < 1e-6
    none = AdaptOptions(surfaces=uses(down, SurfaceUse(influence=0.0)))
    assert gap(adapt(binding, [*down.after, elsewhere], none).positions, never) < 1e-6


@pytest.mark.parametrize("use", [SurfaceUse(IGNORE), SurfaceUse(influence=0.4), SurfaceUse(AVOID)])
def test_objects_heeded_less_do_not_hold_a_motion_back(down, beside, use):
    """All else moves as one and takes the motion along, wherever a wall of little influence was near."""
    binding, wall = beside
    options = AdaptOptions(surfaces=uses(down, use), upright=0.0)
    still = [wall] if use.mode == IGNORE else moved([wall], TURN, SHIFT)
    motion = adapt(binding, moved(down.meshes, TURN, SHIFT) + still, options)
    assert gap(motion.positions, down.track.positions @ TURN.T + SHIFT) < 1e-6


def test_influence_goes_smoothly_to_nothing(down, beside):
    binding, wall = beside
    away = MeshTrack("Wall", wall.vertices + [0, 0.3, 0], wall.triangles)

    def result(influence):
        options = AdaptOptions(surfaces=uses(down, SurfaceUse(influence=influence)))
        return adapt(binding, [*down.meshes, away], options).positions

    shifts = [np.abs(result(i) - down.track.positions).mean() for i in (0.0, 0.05, 0.3, 1.0)]
    assert shifts[0] < 1e-6 and shifts[1] < 0.2 * shifts[3] and shifts[1] < shifts[2] < shifts[3]


def test_avoiding_is_not_following(down, beside):
    binding, wall = beside
    avoid = AdaptOptions(surfaces=uses(down, SurfaceUse(AVOID)))

    def result(shift, options=avoid):
        return adapt(
            binding, [*down.meshes, MeshTrack("Wall", wall.vertices + shift, wall.triangles)], options
        ).positions

    source = down.track.positions
    assert gap(result([0, 0.3, 0]), source) < 1e-6
    assert gap(result([0, 0.3, 0], AdaptOptions()), source) > 0.05
    pushed = result([0, -0.15, 0])
    inside = (pushed[..., 1] > wall.vertices[..., 1].min() - 0.15 + 0.01).any(axis=1)
    assert inside.mean() < 0.02 and gap(pushed, source) > 0.1


def test_pins_are_reached_within_a_millimetre(down):
    row, fifth = np.arange(down.frames), down.frames // 5
    (hand,) = down.joints("hand")
    place = down.track.positions[:, hand] + [0.0, 0.03, 0.06]
    ramp = np.clip(np.minimum(row - fifth, 4 * fifth - row) / (down.frames // 10), 0, 1)
    motion = adapt(down.binding, down.meshes, AdaptOptions(pins=(Pin(hand, place, ramp),)))
    held = ramp == 1
    assert held.sum() > down.frames // 3
    assert np.linalg.norm(motion.positions[held, hand] - place[held], axis=1).max() < 0.001
    # What the pins push the body against, it begins to give way to so long before; touched up, a little earlier.
    before = row < fifth - SPREAD_REACH * down.track.fps
    assert before.any()
    assert gap(motion.positions[before], down.track.positions[before]) < 5e-4


@pytest.mark.parametrize("kind", ["half turn", "mirrored", "two half turns", "upside down"])
def test_no_change_is_too_wild(down, kind):
    """Surroundings whose mean rotation is no rotation at all still give a finite motion with the same bones."""
    down = Bound(down.scene, down.span.start, down.span.start + 25)
    after = []
    for k, mesh in enumerate(down.meshes):
        centre = mesh.vertices.mean(axis=1, keepdims=True)
        signs = {
            "half turn": [-1, -1, 1] if k else [1, 1, 1],
            "mirrored": [-1, 1, 1],
            "two half turns": ([1, 1, 1], [-1, -1, 1], [1, -1, -1], [-1, 1, -1])[k],
            "upside down": [1, -1, -1],
        }[kind]
        after.append(MeshTrack(mesh.name, (mesh.vertices - centre) * signs + centre, mesh.triangles))
    motion = adapt(down.binding, after)
    assert np.isfinite(motion.positions).all() and np.isfinite(motion.turns).all()
    tree = down.binding.tree
    lengths = [
        np.linalg.norm(tree.offsets(tree.from_track(p))[1:], axis=1) for p in (motion.positions, down.track.positions)
    ]
    assert np.abs(lengths[0] - lengths[1]).max() < 1e-9


def test_requests_that_cannot_be_met_are_named(down):
    frames, joints = down.track.positions.shape[:2]
    place, weight = np.zeros((frames, 3)), np.ones(frames)
    bad_place = place.copy()
    bad_place[17] = np.nan
    cases = (
        (AdaptOptions(pins=(Pin(joints, place, weight),)), f"joint {joints} of {joints}"),
        (AdaptOptions(pins=(Pin(0, bad_place, weight),)), f"pin of '{down.track.skeleton.names[0]}' at frame 17"),
        (AdaptOptions(pins=(Pin(0, place[:9], weight),)), f"9 places and {frames} weights"),
        (AdaptOptions(pins=(Pin(0, place, 2 * weight),)), "weight from 0 to 1"),
        (AdaptOptions(joint_weight=np.ones(2)), "Joint weights"),
        (AdaptOptions(joint_weight=np.zeros(joints)), "not all zero"),
        (AdaptOptions(joint_weight=np.full(joints, np.nan)), "Joint weights"),
        (AdaptOptions(resized=np.zeros((2, 2, 3))), "resized pose"),
        (AdaptOptions(orientation=np.nan), "orientation"),
        *((AdaptOptions(scale=scale), "scale") for scale in (0.0, -1.0, np.inf, np.nan)),
        (AdaptOptions(clearance=-0.1), "clearance must be zero or more metres, not -0.1"),
        (AdaptOptions(contact_reach=np.nan), "contact distance must be zero or more metres, not nan"),
        (AdaptOptions(surfaces=(SurfaceUse(),)), "1 uses were given for 4 objects"),
    )
    for options, message in cases:
        with pytest.raises(InputError, match=message):
            adapt(down.binding, down.meshes, options)
    for influence in (1.5, np.nan):
        with pytest.raises(InputError, match="between 0 and 1"):
            SurfaceUse(influence=influence)
    with pytest.raises(InputError, match="Unknown mode 'FOLLOW'"):
        SurfaceUse("FOLLOW")


def test_meshes_that_cannot_be_used_are_named(down):
    name = down.meshes[1].name
    vertices, triangles = down.meshes[1].vertices, down.meshes[1].triangles

    def changed(mesh):
        return [down.meshes[0], mesh, *down.meshes[2:]]

    for make, message in (
        (lambda: MeshTrack(name, 0 * vertices, triangles), f"'{name}' has no (triangle with an )?area"),
        (lambda: MeshTrack(name, vertices, triangles[:1]), f"of '{name}', which has only 1"),
        (lambda: MeshTrack(name, vertices * np.nan, triangles), f"'{name}' has vertices that are not numbers"),
        (lambda: MeshTrack(name, vertices, triangles[:0]), f"'{name}' has no faces"),
    ):
        with pytest.raises(InputError, match=message):
            adapt(down.binding, changed(make()))


def test_some_joints_may_count_for_nothing(down):
    """A limb of weight zero hangs on the rest."""
    hand = np.isin(np.arange(len(down.effectors)), down.joints("hand")) | np.isin(
        down.track.skeleton.parents, down.joints("hand")
    )
    motion = adapt(down.binding, down.after, AdaptOptions(joint_weight=np.where(hand, 0.0, 1.0)))
    assert np.isfinite(motion.positions).all() and motion.converged.mean() > 0.99
