"""Adapt on a made walk and on captured clips: what must hold whatever the environment does."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from benchmarks import edits
from benchmarks.climbs import climb
from benchmarks.metrics import measure
from benchmarks.props import box, flat_ground
from benchmarks.scenes import uneven
from solvers.adapt.binding import fit, fit_steps
from solvers.adapt.frame import FrameAdapter
from solvers.adapt.measures import compare
from solvers.adapt.solve import AVOID, BATCH, IGNORE, AdaptOptions, SurfaceUse, _Problem, adapt, adapt_steps
from solvers.adapt.worst_events import jumps, turn_steps
from solvers.core.errors import InputError, StaleBindingError
from solvers.core.steps import result_of
from solvers.core.types import JointTrack, MeshTrack, Skeleton
from solvers.warp.joint_limits import JointLimits
from tests.adapt_bound import Bound, gap, made, made_and, moved
from tests.adapt_walk import walk as made_walk_track


@pytest.fixture(scope="module")
def climbing():
    """Up the tall box of the first climb: hands and feet on boxes and ground."""
    return Bound(climb(0), 700, 1300)


@pytest.fixture(scope="module")
def walking():
    return Bound(uneven("03_01"), 0, 100)


@pytest.fixture(scope="module", params=made_and("climbing"))
def up(request):
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module", params=made_and("walking"))
def walk(request):
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module", params=made_and("climbing", "walking"))
def bound(request):
    return request.getfixturevalue(request.param)


def is_captured(bound):
    """The made walk stops at once: its own jerk and clearance are nothing to compare with."""
    return bound.scene.name != "made"


@pytest.mark.parametrize(
    "vector, shift, upright",
    [((0, 0, 0), (0, 0, 0), 1.0), ((0.2, -0.4, 1.1), (2.0, -1.0, 0.5), 0.0), ((0, 0, 2.5), (2.0, -1.0, 0.5), 1.0)],
)
def test_surroundings_that_stay_or_move_as_one_take_the_motion_along(bound, vector, shift, upright):
    turn = Rotation.from_rotvec(vector).as_matrix()
    motion = adapt(bound.binding, moved(bound.meshes, turn, shift), AdaptOptions(upright=upright))
    assert gap(motion.positions, bound.track.positions @ turn.T + shift) < 1e-6
    wanted = np.roll(Rotation.from_matrix(turn).as_quat(canonical=True), 1)
    assert gap(np.abs(motion.turns @ wanted), 1.0) < 1e-9
    assert motion.converged.all()


def test_frames_do_not_depend_on_their_batch(up):
    """Every pass: a frame alone, shuffled or in another batch is the same frame."""
    after = up.changed("tilted")
    uses = (SurfaceUse(),) * len(after)
    problem = _Problem(up.binding, after, uses, AdaptOptions())
    frames = up.frames

    def solved(slices, start, near=None):
        return result_of(problem.run(slices, start, near, (0.0, 1.0)))[0]

    whole = [slice(0, frames)]
    free = solved(whole, problem.start)
    near = solved(whole, free, problem.colliders(whole))
    odd = [slice(a, min(a + 7, frames)) for a in range(0, frames, 7)][::-1]
    again = solved(odd, problem.start)
    assert gap(free.joints, again.joints) < 1e-9
    assert gap(near.joints, solved(odd, again, problem.colliders(odd)).joints) < 1e-9
    few = np.array([frames - 10, 3, frames // 2, 77])
    alone = solved([few[[k]] for k in range(4)], problem.start)
    assert gap(alone.joints[..., few], free.joints[..., few]) < 1e-9


@pytest.mark.captures
def test_longer_than_a_batch_is_seamless(climbing):
    assert climbing.frames > BATCH
    after = climbing.changed("lifted")
    figures = climbing.figures(adapt(climbing.binding, after), after)
    assert figures["jerk_p95_ratio"] < 1.25


@pytest.mark.parametrize("edit", ["stretched", "lifted", "widened", "moved", "tilted"])
def test_edits_keep_contacts_clearance_and_smoothness(up, edit):
    after = up.changed(edit)
    motion = adapt(up.binding, after)
    figures = up.figures(motion, after)
    print(edit, figures)
    assert figures["contacts_kept_pct"] >= 95
    assert figures["penetration_pct"] <= figures["penetration_original_pct"] + 1
    assert figures["bone_error_max_pct"] < 1e-6
    if is_captured(up):
        assert max(figures["jerk_mean_ratio"], figures["jerk_p95_ratio"]) <= 1.25
        assert figures["clearance_lost_pct"] <= 10
    # And it is the environment that was followed, not the source that was kept.
    assert gap(motion.positions, up.track.positions) > 0.03
    if is_captured(up):
        kept = up.figures(replace(motion, positions=up.track.positions), after)
        assert kept["contacts_kept_pct"] < figures["contacts_kept_pct"]


@pytest.mark.parametrize("scale", [0.6, 1.5])
def test_another_body_stands_as_high_in_proportion(walk, scale):
    """It once was drawn into a crouch by what its hips and head kept of their old places."""
    motion = adapt(walk.binding, walk.meshes, AdaptOptions(scale=scale))
    assert motion.converged.all()
    now, then = (np.ptp(p[..., 2], axis=1) for p in (motion.positions, walk.track.positions))
    ratio = now / (scale * then)
    assert 0.9 < ratio.min() and ratio.max() < 1.1


@pytest.mark.parametrize("scale", [0.8, 1.2])
def test_another_body_keeps_its_contacts_in_proportion(up, scale):
    motion = adapt(up.binding, up.meshes, AdaptOptions(scale=scale))
    figures = up.figures(motion, up.meshes, scale)
    assert figures["contacts_kept_pct"] >= 95
    assert figures["penetration_pct"] <= figures["penetration_original_pct"] + 2
    if is_captured(up):
        assert max(figures["jerk_mean_ratio"], figures["jerk_p95_ratio"]) <= 1.35
    resized = scale * up.track.positions
    same = adapt(up.binding, up.meshes, AdaptOptions(scale=scale, resized=resized))
    assert gap(same.positions, motion.positions) < 1e-9


def swinging(mesh, angle, frames):
    """The mesh turning about a vertical axis through its centre by a slow sine, one state a frame."""
    centre = mesh.vertices[0].mean(axis=0)
    angles = angle * np.sin(np.linspace(0, 3 * np.pi, frames))
    turns = Rotation.from_rotvec(angles[:, None] * [0, 0, 1]).as_matrix()
    return MeshTrack(mesh.name, np.einsum("fab,vb->fva", turns, mesh.vertices[0] - centre) + centre, mesh.triangles)


def test_an_animated_environment(up):
    """Bound while it swings: unchanged it gives identity, elsewhere it takes the motion along, still it stops it."""
    swing = [swinging(m, 0.1, up.frames) if m.name == "Box1" else m for m in up.meshes]
    binding = fit(up.track, swing, up.effectors, up.scene.height)
    assert gap(adapt(binding, swing).positions, up.track.positions) < 1e-6
    turn, shift = Rotation.from_rotvec([0, 0.1, 0.7]).as_matrix(), np.array([0.3, 2.0, 0.1])
    carried = adapt(binding, moved(swing, turn, shift), AdaptOptions(upright=0.0))
    assert gap(carried.positions, up.track.positions @ turn.T + shift) < 1e-6
    wider = [swinging(m, 0.2, up.frames) if m.name == "Box1" else m for m in up.meshes]
    after = replace(up.track, positions=adapt(binding, wider).positions)
    figures = measure(up.track, after, swing, wider, up.scene.effectors, up.scene.height)
    assert figures["contacts_kept_pct"] >= 95
    if is_captured(up):
        assert figures["jerk_p95_ratio"] <= 1.35


def test_a_deforming_environment(up):
    """One state a frame that is no rigid motion: a box that breathes."""
    part = edits.sub_clip(up.track, up.frames - 60, up.frames)
    pulse = 1.0 + 0.05 * np.sin(np.linspace(0, np.pi, 60))[:, None, None] * [0, 0, 1]
    still = up.meshes
    breathing = [MeshTrack(m.name, m.vertices * pulse if m.name == "Box1" else m.vertices, m.triangles) for m in still]
    binding = fit(part, still, up.effectors, up.scene.height)
    motion = adapt(binding, breathing)
    each_by_itself = AdaptOptions(collision=False, upright=0.0)
    for frame in (0, 17, 30, 59):
        frozen = [m.state(frame) for m in breathing]
        frozen = [MeshTrack(m.name, m.vertices[None], m.triangles) for m in frozen]
        alone = adapt(binding, frozen, each_by_itself).positions[frame]
        moving = adapt(binding, breathing, each_by_itself).positions[frame]
        assert gap(alone, moving) < 1e-9
    assert gap(motion.positions[0], part.positions[0]) < 0.005 < gap(motion.positions[30], part.positions[30])


def test_a_box_under_a_stride_makes_no_foot_leap():
    """A step that was pushed back under the rear foot: the foot left it by another side from frame to frame and turned
    by 47 degrees in one."""
    bound = made()
    box = {"Box1": edits.moved((0, -0.6, 0))}
    after = list(edits.applied(bound.scene.environment, box).values())
    motion = adapt(bound.binding, after)
    assert turn_steps(motion.turns).max() < 15
    assert jumps(bound.track.positions, motion.positions).max() < 0.05
    adapter = FrameAdapter(bound.binding, AdaptOptions(), motion.moves)
    adapter.update([mesh.state(0) for mesh in after])
    gaps = [gap(adapter.solve(row).positions, motion.positions[row]) for row in range(0, bound.frames, 7)]
    assert np.median(gaps) < 2e-4 and max(gaps) < 5e-3


def wall_walker():
    """A stick figure that slides along both sides of a wall 2 cm thick, first one, then the other."""
    skeleton = Skeleton(("hip", "chest", "head", "foot"), np.array([-1, 0, 1, 0]))
    rest = np.array([[0, 0, 1.0], [0, 0, 1.4], [0, 0, 1.7], [0, 0, 0.05]])
    x = np.concatenate((np.full(60, 0.15), np.full(60, -0.15)))
    y = np.concatenate((np.linspace(-0.5, 0.5, 60), np.linspace(0.5, -0.5, 60)))
    positions = rest + np.stack((x, y, np.zeros(120)), axis=1)[:, None]
    return JointTrack(skeleton, positions, 30.0, np.arange(120))


def test_the_sides_of_a_thin_wall_are_told_apart():
    """Descriptors lie on both sides; bulging one of them moves who is on that side only."""
    track, wall = wall_walker(), box("Wall", [-0.01, -1, 0], [0.01, 1, 2])
    binding = fit(track, [wall], np.zeros(4, bool), 1.8)
    assert (binding.origins[0, :, 0] > 0.005).any() and (binding.origins[0, :, 0] < -0.005).any()
    side = wall.vertices[0, :, 0] > 0
    bulged = MeshTrack("Wall", wall.vertices + np.where(side[:, None], [0.2, 0, 0], 0.0), wall.triangles)
    shift = adapt(binding, [bulged]).positions - track.positions
    assert (shift[:50, :, 0] > 0.15).all()
    assert np.abs(shift[70:]).max() < 0.01


def test_ignored_objects_do_nothing_and_influence_lies_between_nothing_and_all(up):
    """The ground and boxes raised together by 10 cm with half the influence raise the motion by half of it."""
    after = up.changed("lifted")
    ignored = AdaptOptions(surfaces=(SurfaceUse(IGNORE),) * len(after))
    assert gap(adapt(up.binding, after, ignored).positions, up.track.positions) < 1e-9
    # With one of them ignored the result is that of the others alone.
    only = AdaptOptions(surfaces=tuple(SurfaceUse(IGNORE if m.name == "Box3" else "ATTACH") for m in after))
    wild = [MeshTrack(m.name, m.vertices + (5.0 if m.name == "Box3" else 0.0), m.triangles) for m in after]
    assert gap(adapt(up.binding, after, only).positions, adapt(up.binding, wild, only).positions) < 1e-9
    after = moved(up.meshes, np.eye(3), [0, 0, 0.1])
    half = AdaptOptions(surfaces=(SurfaceUse(influence=0.5),) * len(after), collision=False)
    shift = adapt(up.binding, after, half).positions - up.track.positions
    assert np.abs(shift - [0, 0, 0.05]).max() < 1e-4


def test_joint_weight_decides_who_gives_way(up):
    after = up.changed("stretched")
    toes = np.isin(np.arange(len(up.track.skeleton.names)), up.joints("toes"))
    loose = adapt(up.binding, after, AdaptOptions(joint_weight=np.where(toes, 0.02, 1.0), collision=False))
    firm = adapt(up.binding, after, AdaptOptions(joint_weight=np.where(toes, 20.0, 1.0), collision=False))
    target = _Problem(up.binding, after, (SurfaceUse(),) * len(after), AdaptOptions(collision=False)).targets
    target = up.binding.tree.to_track(target)[:, toes]
    miss = [np.linalg.norm(m.positions[:, toes] - target, axis=-1).mean() for m in (loose, firm)]
    assert miss[1] < 0.5 * miss[0]


def test_limits_are_heeded_and_never_tighter_than_the_clip(up):
    """Knees that may not bend beyond the clip's own range stay in it although a lower body wants to."""
    knees = up.joints("knees")
    straight = np.tile([1.0, 0, 0, 0], (up.frames, 2, 1))
    limits = JointLimits(knees, np.zeros((2, 3)), np.zeros((2, 3)), ("XYZ", "XYZ"), straight, straight)
    same = adapt(up.binding, up.meshes, AdaptOptions(limits=limits))
    assert gap(same.positions, up.track.positions) < 1e-6
    after = up.changed("stretched")
    bent = adapt(up.binding, after)
    held = adapt(up.binding, after, AdaptOptions(limits=limits))

    def knee_turn(motion):
        thigh = Rotation.from_quat(np.roll(motion.turns[:, knees - 1], -1, axis=-1).reshape(-1, 4))
        shin = Rotation.from_quat(np.roll(motion.turns[:, knees], -1, axis=-1).reshape(-1, 4))
        return np.degrees((thigh.inv() * shin).magnitude())

    assert np.percentile(knee_turn(held), 95) < 0.35 * np.percentile(knee_turn(bent), 95)


def test_the_body_keeps_as_far_away_as_it_is_told_to():
    """A wall that comes to 24 cm before a figure: it gives way to 40 cm, not at all to 10, and never from where it
    was closer."""
    track = wall_walker()
    far = replace(track, positions=track.positions[:60] + [0.5, 0, 0], frames=np.arange(60))
    wall = box("Wall", [-0.01, -1, 0], [0.01, 1, 2])
    binding = fit(far, [wall], np.zeros(4, bool), 1.8)
    nearer = MeshTrack("Wall", wall.vertices + [0.4, 0, 0], wall.triangles)

    def distance(clearance, environment):
        options = AdaptOptions(clearance=clearance, surfaces=(SurfaceUse(AVOID, 1e-6),))
        return adapt(binding, [environment], options).positions[..., 0] - environment.vertices[..., 0].max()

    assert np.abs(distance(None, nearer) - 0.24).max() < 1e-3
    assert np.abs(distance(0.1, nearer) - 0.24).max() < 1e-3
    assert distance(0.4, nearer).min() > 0.36
    assert np.abs(distance(2.0, wall) - 0.64).max() < 1e-3


@pytest.mark.captures
def test_contacts_are_held_from_where_they_are_told_to(climbing):
    """Hands and feet on boxes that are tilted stay less well at their distance when no contact is held."""
    after = climbing.changed("tilted_y")
    motions = [adapt(climbing.binding, after, AdaptOptions(contact_reach=r)) for r in (None, 0.06, 0.0)]
    assert np.array_equal(motions[0].positions, motions[1].positions)
    kept = [climbing.figures(motion, after)["contacts_kept_pct"] for motion in motions]
    assert kept[2] < kept[0] - 2


@pytest.mark.parametrize("frames", [1, 2, 5])
def test_short_clips(up, frames):
    part = edits.sub_clip(up.track, 100, 100 + frames)
    binding = fit(part, up.meshes, up.effectors, up.scene.height)
    assert gap(adapt(binding, up.meshes).positions, part.positions) < 1e-6
    assert np.isfinite(adapt(binding, up.changed("lifted")).positions).all()


def test_what_one_frame_cannot_know_is_handed_on(up):
    """The last pass bends a frame from what it did by itself; without collisions there is none."""
    tree, frames = up.binding.tree, up.frames
    moves = adapt(up.binding, up.changed("mixed")).moves
    assert moves.exits.shape == (len(tree.parents), 3, frames) and moves.shifts.shape == (tree.roots, 3, frames)
    assert moves.start.shape == moves.bends.shape == (tree.bodies, 4, frames)
    assert np.abs(moves.bends[:, 1:]).max() > 0.01 and np.abs(moves.shifts).max() > 1e-3
    still = adapt(up.binding, up.meshes).moves
    free = adapt(up.binding, up.changed("tilted"), AdaptOptions(collision=False)).moves
    for same in (still, free):
        assert max(np.abs(same.exits).max(), np.abs(same.bends[:, 1:]).max(), np.abs(same.shifts).max()) < 1e-6
    assert np.abs(free.start[:, 1:]).max() > 0.01


@pytest.mark.captures
def test_progress_rises_and_can_be_dropped(climbing):
    steps = adapt_steps(climbing.binding, climbing.changed("lifted"))
    seen = [next(steps), next(steps)]
    steps.close()
    assert 0 < seen[0] <= seen[1] < 1
    seen = list(adapt_steps(climbing.binding, climbing.changed("tilted")))
    assert seen == sorted(seen) and seen[-1] <= 1 + 1e-9 and len(seen) > 12
    shares = list(fit_steps(climbing.track, climbing.meshes, climbing.effectors, climbing.scene.height))
    assert shares == sorted(shares) and 0 < shares[0] and shares[-1] < 1


def test_what_cannot_be_adapted_is_named(up):
    with pytest.raises(StaleBindingError, match="bound to 4 objects"):
        adapt(up.binding, up.meshes[:2])
    door = [MeshTrack(m.name, np.repeat(m.vertices, 3, axis=0), m.triangles) for m in up.meshes]
    with pytest.raises(InputError, match=f"3 states for {up.frames} frames"):
        adapt(up.binding, door)


def test_a_floor_under_a_stone_is_not_touched():
    """A foot on a thin stone holds to the stone: raised, it takes the foot along, whatever the floor below does."""
    skeleton = Skeleton(("hip", "knee", "ankle", "toe", "head"), np.array([-1, 0, 1, 2, 0]))
    rest = np.array([[0, 0, 1.0], [0.02, 0, 0.55], [0, 0, 0.16], [0.12, 0, 0.1], [0, 0, 1.75]])
    sway = 0.05 * np.sin(np.linspace(0, 4, 90))[:, None, None] * np.array([1.0, 0, 0])
    positions = rest + sway * np.array([1.0, 0.5, 0, 0, 1.2])[:, None]
    track = JointTrack(skeleton, positions, 30.0, np.arange(90))
    floor = box("Floor", [-2, -2, -0.2], [2, 2, 0])
    stone = box("Stone", [-0.2, -0.15, 0], [0.3, 0.15, 0.06])
    binding = fit(track, [floor, stone], np.array([0, 0, 1, 1, 0], bool), 1.8)
    assert binding.hidden[0, :, 2:4].all() and not binding.hidden[1].any()
    assert binding.contact[0, :, 3].max() == 0 and binding.contact[1, :, 3].min() > 0.9
    raised = MeshTrack("Stone", stone.vertices + [0, 0, 0.12], stone.triangles)
    shift = adapt(binding, [floor, raised]).positions - positions
    assert np.abs(shift[:, 2:4] - [0, 0, 0.12]).max() < 0.015


def test_a_foot_goes_with_what_it_stands_on_and_not_half_way():
    """A step lifted off the floor left the foot behind it, and the one on it, between the two."""
    track = made_walk_track(np.arange(60), 60.0)
    floor, step = flat_ground(track.positions), box("Step", [-0.6, 0.2, 0.0], [0.6, 0.8, 0.15])
    effectors = np.isin(track.skeleton.names, ("toe.L", "toe.R", "ankle.L", "ankle.R"))
    binding = fit(track, [floor, step], effectors, 1.7)
    after = [floor, replace(step, vertices=step.vertices + [0, 0, 0.3])]
    figures = compare(binding, adapt(binding, after).positions, after, 1.0).figures()
    assert figures["contacts_kept_pct"] > 95
