"""One body's motion performed by another: identity, unseen clips, moved worlds, order, storage."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from benchmarks.mesh_sequences import edge_lengths
from solvers.core.errors import InputError
from solvers.core.steps import result_of
from solvers.transfer.correspondence import ClipRows, DenseClip, densify
from solvers.transfer.ground_contact import track_floor, with_clearance
from solvers.transfer.part_matching import match_parts
from solvers.transfer.part_suggestion import suggest_parts
from solvers.transfer.subject import SubjectTrack
from solvers.transfer.surface_transfer import SurfaceTransfer, bodies_of, levelled
from tests.bendy_bodies import NAMES, dance, memberships, performed, stiff_memberships, to_world, tube
from tests.bendy_subject import learn_subject
from tests.standing import captured

FPS = 15.0
SEEN, UNSEEN = (1, 2, 3, 4), 7
SIZE = 1.5
# The target's mesh has other vertices, and lies another way in its local frame.
SOURCE, TARGET = tube(), tube(rings=31, around=10, girth=0.25)
TURN = Rotation.from_euler("z", 2.0).as_matrix()


def learn_transfer(*arguments, **options):
    return result_of(SurfaceTransfer.learn_steps(*arguments, **options))


def source_clip(seed):
    return performed(SOURCE[0], dance(seed))


def target_clip(seed):
    """The same motion by the larger one, in a world turned against the source's."""
    angles, breath, turns, ground = dance(seed)
    return performed(TARGET[0], (0.8 * angles, breath, turns, ground), SIZE) @ TURN.T


def dense(frames=60):
    rows = np.arange(frames)
    return DenseClip(rows, rows.astype(float), np.zeros((frames, frames)), np.stack((rows, rows), 1), rows, "")


@pytest.fixture(scope="module")
def source():
    return learn_subject([source_clip(seed) for seed in SEEN], SOURCE[1], memberships(SOURCE[0]), NAMES)


@pytest.fixture(scope="module")
def target():
    return learn_subject([target_clip(seed) for seed in SEEN], TARGET[1], memberships(TARGET[0]), NAMES)


@pytest.fixture(scope="module")
def clips(source, target):
    return [(source.read(source_clip(seed)), target.read(target_clip(seed)), dense()) for seed in SEEN]


@pytest.fixture(scope="module")
def learnt(clips, source, target):
    return learn_transfer(clips, FPS, bodies=bodies_of(source, target))


def vertices_at(subject, track, frames):
    return np.array([
        to_world(subject.assemble(tuple(rows[f] for rows in track.rows)), track.rotations[f], track.translations[f])
        for f in frames
    ])  # fmt: skip


def rms(one, two):
    return np.sqrt(np.mean(np.sum((one - two) ** 2, axis=-1)))


def away(subject, track, wanted, step=5):
    """Root of the mean square of the distances from what was wanted, and their share of what it moves."""
    found = vertices_at(subject, track, range(0, len(wanted), step))
    distance = rms(found, wanted[::step])
    return distance, distance / rms(np.broadcast_to(wanted.mean(axis=0), wanted.shape), wanted)


def test_an_unseen_clip_is_performed(learnt, source, target):
    track = learnt.track(source.read(source_clip(UNSEEN)), FPS, start=learnt.rigid.source_place)
    distance, share = away(target, track, target_clip(UNSEEN))
    assert distance < 0.05 and share < 0.1


def test_a_body_onto_itself(clips, source):
    own = [(track, track, pairs) for track, _, pairs in clips]
    learnt = learn_transfer(own, FPS, bodies=bodies_of(source, source))
    clip = source_clip(UNSEEN)
    read = source.read(clip)
    track = learnt.track(read, FPS, start=learnt.rigid.source_place)
    assert np.abs(track.rotations - read.rotations).max() < 1e-9
    assert np.abs(track.translations - read.translations).max() < 1e-9
    assert away(source, track, clip)[0] < 0.02


@pytest.mark.parametrize("stiff", [("source",), ("target",), ("source", "target")])
def test_stiff_trunks(stiff):
    """Of one or both: limbs are learnt as ever, a trunk that is stiff in the source alone from the limbs."""
    makes = {"source": (SOURCE, 1.0), "target": (TARGET, SIZE)}

    def clip(of, seed):
        angles, breath, *place = dance(seed)
        (vertices, _), size = makes[of]
        breath = 0.0 * breath if of in stiff else 0.1 * angles[:, 0]
        return performed(vertices, (angles * (0.8 if of == "target" else 1.0), breath, *place), size)

    bodies = []
    for of, ((rest, triangles), _) in makes.items():
        masks = stiff_memberships(rest)
        bodies.append(learn_subject([clip(of, seed) for seed in SEEN], triangles, masks, NAMES))
    source, target = bodies
    tracks = [(source.read(clip("source", seed)), target.read(clip("target", seed))) for seed in SEEN]
    ends = np.array(((0, 0), (20, 20), (40, 40), (59, 59)))
    pairs = densify([ClipRows(one.rows, two.rows, ends) for one, two in tracks])
    clips = [(*both, one) for both, one in zip(tracks, pairs, strict=True)]
    learnt = learn_transfer(clips, FPS, bodies=bodies_of(*bodies))
    learnt = SurfaceTransfer.from_arrays(learnt.to_arrays())
    track = learnt.track(source.read(clip("source", UNSEEN)), FPS, start=learnt.rigid.source_place)
    assert away(target, track, clip("target", UNSEEN))[1] < 0.1


@pytest.mark.captures
@pytest.mark.parametrize("yaw", [1.2, np.pi])
def test_one_part_that_faces_another_way(yaw):
    """A cat's walk by the same cat in a world that is turned: without parts, and hardly tilting, its shape tells."""
    clip, triangles = captured("walking_cat")
    other = clip @ Rotation.from_euler("z", yaw).as_matrix().T
    mask = np.ones((1, clip.shape[1]), bool)
    cat, twin = (learn_subject([each], triangles, mask, ("Body",)) for each in (clip, other))
    tracks = cat.read(clip), twin.read(other)
    learnt = learn_transfer([(*tracks, dense(len(clip)))], FPS, bodies=bodies_of(cat, twin))
    assert away(twin, learnt.track(tracks[0], FPS), other, 4)[0] < 0.004 * np.ptp(clip[0], axis=0).max()
    assert complex(*learnt.rigid.way) == pytest.approx(1.0, abs=0.02)


@pytest.mark.captures
@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4), (0, 1, 3, 2, 4), (0, 3, 2, 1, 4)])
def test_where_a_body_faces_with_parts_that_are_exchanged(order):
    """A cat whose legs answer to another leg of itself faces where it faces."""
    clip, triangles = captured("walking_cat")
    parts = suggest_parts(clip[0], triangles)
    names = tuple("abcde")
    one = learn_subject([clip], triangles, parts, names)
    other = learn_subject([clip @ Rotation.from_euler("z", 0.8).as_matrix().T], triangles, parts[list(order)], names)
    assert bodies_of(one, other).yaw == pytest.approx(0.8, abs=0.1)


def test_the_order_of_the_clips_changes_only_place_and_heading(clips, source, target, learnt):
    other = learn_transfer(clips[::-1], FPS, bodies=bodies_of(source, target))
    read = source.read(source_clip(UNSEEN))
    before, after = learnt.track(read, FPS), other.track(read, FPS)
    assert all(np.abs(one - two).max() < 1e-9 for one, two in zip(before.rows, after.rows, strict=True))
    assert np.abs(np.ptp(after.translations - before.translations, axis=0)).max() < 0.05


def test_fractions_of_the_targets_frames(clips, source, target):
    """Pairs at half the target's frames: what was captured at twice the rate is learnt from all the same."""
    coarse = []
    for here, there, _ in clips:
        half = SubjectTrack(tuple(rows[::2] for rows in there.rows), there.rotations[::2], there.translations[::2])
        rows = np.arange(59)
        coarse.append((here, half, DenseClip(rows, rows / 2, np.zeros((59, 30)), np.zeros((0, 2), int), rows / 2, "")))
    one = learn_transfer(coarse, FPS, bodies=bodies_of(source, target))
    track = one.track(source.read(source_clip(UNSEEN)), FPS, start=one.rigid.source_place)
    assert away(target, track, target_clip(UNSEEN), 10)[0] < 0.06


def test_limbs_see_the_torso(clips, source, target):
    """A target whose limbs go with its trunk too: limbs alone do not tell that."""
    mixed = []
    for here, there, pairs in clips:
        trunk = here.rows[0][:, :1]
        rows = (there.rows[0], *(limb + 3.0 * trunk for limb in there.rows[1:]))
        mixed.append((here, SubjectTrack(rows, there.rotations, there.translations), pairs))
    learnt = learn_transfer(mixed[1:], FPS, bodies=bodies_of(source, target))
    here, there, _ = mixed[0]
    found = learnt.track(here, FPS)
    for limb, wanted, plain in zip(found.rows[1:], there.rows[1:], clips[0][1].rows[1:], strict=True):
        assert rms(limb, wanted) < 0.25 * rms(plain, wanted)


def test_the_way_goes_with_the_size_and_facing_is_told_by_the_parts(learnt, source, target):
    assert np.hypot(*learnt.rigid.way) == pytest.approx(SIZE, rel=0.02)
    assert learnt.rigid.headings == pytest.approx(np.full(4, 2.0), abs=0.05)
    bodies = bodies_of(source, target)
    assert bodies.ratio == pytest.approx(SIZE, rel=0.1)
    assert bodies.yaw == pytest.approx(2.0, abs=0.3)


def test_a_source_whose_world_is_not_level(clips, source, target, learnt):
    """Captured 25 degrees off level, it is levelled, and so is what is performed; it came out 20 cm off."""
    tilt = Rotation.from_rotvec(np.radians(25.0) * np.array((0.6, 0.8, 0.0))).as_matrix()
    tilted = [(levelled(here, tilt), there, pairs) for here, there, pairs in clips]
    found = learn_transfer(tilted, FPS, bodies=bodies_of(source, target))
    assert np.degrees(Rotation.from_matrix(found.level @ tilt).magnitude()) < 2.0
    assert np.array_equal(learnt.level, np.eye(3))
    read = source.read(source_clip(UNSEEN))
    track = found.track(levelled(read, tilt), FPS, start=found.rigid.source_place)
    wanted = target_clip(UNSEEN)
    before = away(target, learnt.track(read, FPS, start=learnt.rigid.source_place), wanted)[0]
    assert away(target, track, wanted)[0] < 1.3 * before
    assert track_floor(source, [read]) == pytest.approx(np.quantile(source.lowest(read), 0.1))


def test_what_earlier_versions_have_learnt_levels_nothing(learnt):
    arrays = {name: value for name, value in learnt.to_arrays().items() if name not in ("level", "turn whole")}
    older = SurfaceTransfer.from_arrays(arrays)
    assert np.array_equal(older.level, np.eye(3)) and not older.turn.whole


def test_arrays_make_the_same_again(learnt, source):
    again = SurfaceTransfer.from_arrays(learnt.to_arrays())
    read = source.read(source_clip(UNSEEN))
    before, after = learnt.track(read, FPS), again.track(read, FPS)
    assert all(np.array_equal(one, two) for one, two in zip(before.rows, after.rows, strict=True))
    assert np.array_equal(before.translations, after.translations)


def test_learning_tells_how_far_it_is_and_can_be_dropped(clips, source, target):
    steps = SurfaceTransfer.learn_steps(clips, FPS, bodies=bodies_of(source, target))
    shares = [next(steps), next(steps)]
    steps.close()
    assert 0 < shares[0] < shares[1] < 1


def test_bad_input_is_named(clips, source, target, learnt):
    bodies = bodies_of(source, target)
    here, there, pairs = clips[0]
    fewer = SubjectTrack(there.rows[:2], there.rotations, there.translations)
    still = SubjectTrack((0 * here.rows[0], *here.rows[1:]), here.rotations, here.translations)
    narrow = SubjectTrack(tuple(rows[:, 1:] for rows in here.rows), here.rotations, here.translations)
    short = SubjectTrack(here.rows[:2], here.rotations, here.translations)
    for given, words in (
        ([], "no clips"),
        ([(here, fewer, pairs)], "Clip 1: the source has 3 parts and the target 2"),
        ([(still, there, pairs)], "Part 1: The part does not move"),
    ):
        with pytest.raises(InputError, match=words):
            learn_transfer(given, FPS, bodies=bodies)
    for given, words in (
        (narrow, "other numbers than those that were learnt from"),
        (short, "has 2 parts"),
    ):
        with pytest.raises(InputError, match=words):
            learnt.track(given, FPS)


# ------------------------------------------------------------------------------------------------ two captured people

PEOPLE = ("human_samba", "human_crane")
PAIRS = np.array(((0, 0), (9, 18), (15, 24), (20, 29), (27, 36), (31, 39)), float)
LIMBS = ("Torso", "Limb 1", "Limb 2", "Limb 3", "Limb 4")


@pytest.fixture(scope="module")
def people():
    """Of each: vertices, triangles, subject, track."""
    clips = [captured(name) for name in PEOPLE]
    masks = [suggest_parts(vertices[0], triangles) for vertices, triangles in clips]
    order = match_parts(clips[0][0][0], masks[0], clips[1][0][0], masks[1])
    masks[1] = masks[1][order]
    found = []
    for (vertices, triangles), mask in zip(clips, masks, strict=True):
        subject = learn_subject([vertices], triangles, mask, LIMBS)
        found.append((vertices, triangles, subject, subject.read(vertices)))
    return found


@pytest.mark.captures
@pytest.mark.slow
@pytest.mark.parametrize("backward", [False, True])
def test_a_dance_performed_by_the_other(people, backward):
    (_, _, source, read), (shape, triangles, target, there) = people[::-1] if backward else people
    pairs = PAIRS[:, ::-1] if backward else PAIRS
    (found,) = densify([ClipRows(read.rows, there.rows, pairs)])
    learnt = learn_transfer([(read, there, found)], 30.0, bodies=bodies_of(source, target))
    track = with_clearance(learnt.track(read, 30.0), target, read, source, 30.0)
    made = vertices_at(target, track, range(len(track)))
    assert np.isfinite(made).all()
    own, lengths = edge_lengths(shape, triangles), edge_lengths(made, triangles)
    excess = np.maximum(lengths / own.max(axis=0), own.min(axis=0) / lengths)
    assert (excess > 1.25).mean() < 1e-4 and (excess > 1.1).mean() < 2e-3
    low = made[..., 2].min(axis=1) - target.floor
    assert -0.06 < low.min() and low.max() < 0.1
    # As lively as it was captured, and no more.
    shake, wanted = (np.linalg.norm(np.diff(each, 2, axis=0), axis=2).mean() for each in (made, shape))
    assert 0.3 * wanted < shake < 1.5 * wanted
    # They faced opposite ways when they were captured.
    assert abs(abs(learnt.rigid.headings[0]) - np.pi) < 0.4


@pytest.mark.captures
def test_a_captured_person_onto_itself_at_frames_not_learnt_from(people):
    """Every second frame is learnt from; those between come nearer than halfway between their neighbours."""
    for shape, _, subject, read in people:
        even, odd = np.arange(0, 40, 2), np.arange(1, 39, 2)
        pairs = DenseClip(even, even.astype(float), np.zeros((40, 40)), np.zeros((0, 2), int), even, "")
        learnt = learn_transfer([(read, read, pairs)], 30.0, bodies=bodies_of(subject, subject))
        track = learnt.track(read, 30.0, start=learnt.rigid.source_place)
        error = rms(vertices_at(subject, track, odd), shape[odd])
        assert error < 0.01 and error < 0.8 * rms(0.5 * (shape[odd - 1] + shape[odd + 1]), shape[odd])
