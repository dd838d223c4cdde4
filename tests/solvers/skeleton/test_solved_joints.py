"""Which joints are solved: one small skeleton a rule. All bodies are 1.8 m high, Z up."""

import numpy as np
import pytest

from solvers.core.errors import InputError
from solvers.skeleton.solved_joints import solved_joints
from tests.counting import steps_of
from tests.joint_bodies import BODY, bones_of, rooted, track_of

HEIGHT = 1.8


def without(body, *names):
    """The body without some joints."""
    return {name: joint for name, joint in body.items() if name not in names}


def choose(body, motion=None, irrelevant=(), connected=(), solve=(), ride=()):
    """{joint: parent} of what is solved, and the choice; motion: name -> (F, 3) positions of joints that move."""
    (track, _), bones = track_of(body, motion), bones_of(body)
    relevant = np.array([name not in irrelevant for name in bones])
    joined, solve, ride = (np.isin(bones, list(chosen)) for chosen in (connected, solve, ride))
    found = solved_joints(track, len(bones), relevant, joined, HEIGHT, None, solve, ride)
    solved = found.track(track).skeleton
    tree = {name: solved.names[p] if p >= 0 else None for name, p in zip(solved.names, solved.parents, strict=True)}
    return tree, found


def named(found, tree, what):
    """Names of solved joints where a (K,) array is set."""
    return {name for name, is_so in zip(tree, getattr(found, what), strict=True) if is_so}


def test_a_plain_body_is_solved_whole():
    tree, found = choose(BODY)
    assert tree == {name: joint[0] for name, joint in BODY.items()}
    assert named(found, tree, "placed") == {"hips"}
    ends = {"head", "head/tail"}
    for side in "LR":
        ends |= {f"{end}.{side}{tail}" for end in ("wrist", "toe") for tail in ("", "/tail")}
    assert named(found, tree, "effectors") == ends


@pytest.mark.parametrize("connected", [(), ("hips",)])
def test_a_root_on_the_ground_is_left_alone(connected):
    """Unless the hips are connected to it: then only the root can carry them."""
    tree, found = choose(rooted(), irrelevant=("root",), connected=connected)
    assert tree["hips"] == ("root" if connected else None)
    assert named(found, tree, "placed") == ({"root"} if connected else {"hips"})
    assert (found.parents < np.arange(len(found.parents))).all()
    assert [list(tree).index(p) if p else -1 for p in tree.values()] == found.parents.tolist()


def test_a_chain_without_a_branch_keeps_its_root():
    tree, _ = choose({"a": (None, 0, 0, 0), "b": ("a", 0, 0, 0.6), "c": ("b", 0, 0, 1.2), "c/tail": ("c", 0, 0, 1.8)})
    assert tree == {"a": None, "b": "a", "c": "b", "c/tail": "c"}
    with pytest.raises(InputError, match="No bones are left to solve"):
        choose({"a": (None, 0, 0, 0), "a/tail": ("a", 0, 0, 0.001)})


def test_controls_are_left_out():
    controls = {
        "foot_ik.L": (None, 0.1, 0.3, 0.0), "foot_ik.L/tail": ("foot_ik.L", 0.1, 0.6, 0.0),
        "pole.L": ("hips", 0.1, -1.0, 0.5), "pole.L/tail": ("pole.L", 0.1, -1.2, 0.5),
    }  # fmt: skip
    tree, _ = choose(BODY | controls, irrelevant=("foot_ik.L", "pole.L"))
    assert set(tree) == set(BODY)


def walking(frames=20):
    """Ankles that go round in an ellipse, knees that follow at constant length of the shin."""
    out = {}
    for side, x, phase in (("L", 0.1, 0.0), ("R", -0.1, np.pi)):
        t = phase + np.linspace(0, 2 * np.pi, frames, endpoint=False)
        ankle = np.stack([0 * t + x, 0.25 * np.sin(t), 0.1 + 0.1 * np.maximum(np.cos(t), 0)], axis=1)
        hip = np.array([x, 0, 0.95])
        knee = ankle + 0.4 * (hip + [0, -0.15, 0] - ankle) / np.linalg.norm(hip - ankle, axis=1)[:, None]
        out |= {f"ankle.{side}": ankle, f"knee.{side}": knee}
        out |= {f"toe.{side}": ankle + [0, -0.15, -0.07], f"toe.{side}/tail": ankle + [0, -0.22, -0.07]}
        out[f"knee.{side}/tail"] = knee + 0.2 * (ankle - knee) / np.linalg.norm(ankle - knee, axis=1)[:, None]
    return out


@pytest.mark.parametrize("control", ["root", None])
def test_feet_under_controls_hang_on_their_legs(control):
    """As in exported quadrupeds; the shins' own tails are guessed by importers and too short."""
    body = rooted()
    for side in "LR":
        body[f"ankle.{side}"] = (control, *BODY[f"ankle.{side}"][1:])
        body[f"knee.{side}/tail"] = (f"knee.{side}", 0, 0, 0)
    tree, found = choose(body, walking(), irrelevant=("root",))
    assert tree["ankle.L"] == "knee.L" and tree["ankle.R"] == "knee.R" and tree["toe.L"] == "ankle.L"
    assert "root" not in tree and tree["hips"] is None
    assert named(found, tree, "placed") == {"hips", "ankle.L", "ankle.R"}


def test_a_foot_out_of_reach_hangs_on_its_leg_and_not_on_the_other_foot():
    """A leg that is too short points at its foot; the other foot, beside it on the ground, points at it as well."""
    body = BODY | {"knee.L/tail": ("knee.L", 0, 0, 0)}
    motion = walking()
    for side, x in (("L", 0.1), ("R", -0.1)):
        body[f"ankle.{side}"] = (None, *BODY[f"ankle.{side}"][1:])
        body[f"knee.{side}/tail"] = (f"knee.{side}", 0, 0, 0)
        away = motion[f"ankle.{side}"] - motion[f"knee.{side}"]
        stretch = 1 + 0.4 * np.linspace(0, 1, len(away))[:, None] ** 2
        motion[f"ankle.{side}"] = motion[f"knee.{side}"] + away * stretch
        motion[f"toe.{side}"] = motion[f"ankle.{side}"] + [-0.1 * np.sign(x), 0, 0]
        motion[f"toe.{side}/tail"] = motion[f"ankle.{side}"] + [-0.2 * np.sign(x), 0, 0]
    tree, _ = choose(body, motion)
    assert tree["ankle.L"] == "knee.L" and tree["ankle.R"] == "knee.R"


def test_feet_hang_on_their_legs_when_all_stand_still_and_no_leg_on_a_stub_that_points_at_it():
    body = BODY | {"ankle.L": (None, *BODY["ankle.L"][1:]), "knee.L/tail": ("knee.L", 0.1, -0.015, 0.4)}
    assert choose(body)[0]["ankle.L"] == "knee.L"
    body = BODY | {"belly": ("hips", 0.1, -0.08, 1.0), "belly/tail": ("belly", 0.1, -0.03, 0.97)}
    body["thigh.L"] = (None, *BODY["thigh.L"][1:])
    assert choose(body)[0]["thigh.L"] is None


def test_a_hand_ends_in_one_knuckle():
    hand = without(BODY, "wrist.L/tail")
    for k in range(5):
        y = 0.03 * (k - 2)
        hand |= {
            f"finger{k}": ("wrist.L", 0.82, y, 1.45), f"finger{k}b": (f"finger{k}", 0.86, y, 1.45),
            f"finger{k}b/tail": (f"finger{k}b", 0.9, y, 1.45),
        }  # fmt: skip
    tree, _ = choose(hand)
    assert {name: parent for name, parent in tree.items() if "finger" in name} == {"finger2": "wrist.L"}
    assert tree["wrist.L"] == "elbow.L"


def test_a_face_rides_on_the_head():
    face = without(BODY, "head/tail") | {
        "jaw": ("head", 0, -0.05, 1.63), "eye.L": ("head", 0.03, -0.1, 1.7), "eye.R": ("head", -0.03, -0.1, 1.7)
    }  # fmt: skip
    tree, _ = choose(face)
    assert sum(parent == "head" for parent in tree.values()) == 1


def test_twist_bones_ride_on_the_arm():
    """With or without a hand's fingers beside them they do not make a hand of the forearm."""
    twists = {f"twist{k}": ("elbow.L", 0.5 + 0.05 * k, 0, 1.45) for k in range(1, 5)}
    twists |= {f"twist{k}/tail": (f"twist{k}", 0.5 + 0.05 * k, 0, 1.52) for k in range(1, 5)}
    tree, found = choose(BODY | twists)
    assert set(tree) == set(BODY)
    assert "elbow.L" not in named(found, tree, "effectors")


def test_coincident_bones_and_short_tails_are_one_and_a_tail_longer_than_the_body_means_nothing():
    body = {"hips": BODY["hips"], "spine": ("hips", 0, 0, 1.002)} | without(BODY, "hips")
    body |= {"chest": ("spine", 0, 0, 1.3), "head/tail": ("head", 0, 0, 1.63)}
    tree, _ = choose(body)
    assert "spine" not in tree and tree["chest"] == "hips" and "head/tail" not in tree
    assert "head/tail" not in choose(BODY | {"head/tail": ("head", 0, 0, 90.0)})[0]


def test_a_chest_whose_arms_hang_down_is_no_hand():
    """Shoulders of 15 cm and arms of 42 cm: the hands stay within 43 cm of the chest, as fingers do of a wrist."""
    body = without(BODY, *(f"wrist.{side}/tail" for side in "LR"))
    for side, x in (("L", 1), ("R", -1)):
        body |= {f"arm.{side}": ("chest", 0.15 * x, 0, 1.35), f"elbow.{side}": (f"arm.{side}", 0.15 * x, 0, 1.12)}
        body |= {f"wrist.{side}": (f"elbow.{side}", 0.15 * x, 0, 0.93)}
    body |= {"neck": ("chest", 0, 0, 1.45), "head": ("neck", 0, 0, 1.55), "head/tail": ("head", 0, 0, 1.7)}
    assert set(choose(body)[0]) == set(body)


def test_chosen_bones_are_solved_or_ride():
    """Those below a bone that rides hang on what carries it; a bone at the place of another one cannot be solved."""
    tree, _ = choose(BODY, ride=("elbow.L", "head"))
    assert set(tree) == set(BODY) - {"elbow.L", "head", "head/tail"} and tree["wrist.L"] == "arm.L"
    body = BODY | {"tip.L": ("elbow.L", 0.52, 0, 1.46), "twin": ("chest", 0, 0, 1.301)}
    assert "tip.L" not in choose(body)[0]
    assert choose(body, solve=("tip.L",))[0]["tip.L"] == "elbow.L"
    with pytest.raises(InputError, match="Bone 'twin' lies where 'chest' does"):
        choose(body, solve=("twin",))


def test_frames_are_not_looked_at_one_by_one():
    hands = dict(BODY)
    for side, x in (("L", 1), ("R", -1)):
        for finger in range(5):
            above = f"wrist.{side}"
            for link in range(4):
                name = f"f{finger}{link}.{side}"
                hands[name] = (above, (0.8 + 0.03 * link) * x, 0.03 * finger, 1.45)
                above = name
            hands[f"{above}/tail"] = (above, 0.93 * x, 0.03 * finger, 1.45)
    for k in range(40):
        hands[f"control{k}"] = (None, 0, 1, 0.05 * k)
    rng = np.random.default_rng(0)
    irrelevant = [name for name in hands if name.startswith("control")]

    def steps_over(frames):
        motion = {name: np.array(joint[1:]) + 0.1 * rng.standard_normal((frames, 3)) for name, joint in BODY.items()}
        return steps_of(lambda: choose(hands, motion, irrelevant))

    assert steps_over(1000) < steps_over(100) + 900
