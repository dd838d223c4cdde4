"""What is made of poses of controls: a leg of two bones, FK or IK by a switch, built by a few lines of kinematics."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from solvers.controls.control_rig import MAIN, NO_TRUNK
from solvers.controls.limb_states import with_states
from solvers.controls.measured_rig import measured_rig
from solvers.rotations.channels import euler_to_matrix
from solvers.skeleton.rig import Rig

# Controls: p pelvis, t and s thigh and shin in FK, g what the leg reaches for and turns with.
# Mechanism: P, T, S, F.  Deforming: dp, the thigh's halves da and db, which share its twist, ds, df.
NAMES = ("p", "t", "s", "g", "P", "T", "S", "F", "dp", "da", "db", "ds", "df")
HEADS = {"p": 1.0, "P": 1.0, "dp": 1.0, "t": 1.0, "T": 1.0, "da": 1.0, "db": 0.75, "s": 0.5, "S": 0.5, "ds": 0.5}
LENGTHS = {"t": 0.5, "T": 0.5, "da": 0.25, "db": 0.25, "s": 0.4, "S": 0.4, "ds": 0.4}
CONTROLS = np.arange(4)
UP, DOWN = (np.array([[1.0, 0, 0], [0, 0, -way], [0, way, 0]]) for way in (1.0, -1.0))


def leg():
    rest = np.tile(np.eye(4), (len(NAMES), 1, 1))
    for number, name in enumerate(NAMES):
        rest[number, 2, 3] = HEADS.get(name, 0.1)
        rest[number, :3, :3] = UP if name in ("p", "P", "dp") else DOWN
    count = len(NAMES)
    no = np.zeros(count, bool)
    parents = np.where(np.array(NAMES) == "T", NAMES.index("P"), -1)
    return Rig(
        NAMES, parents, rest, np.array([LENGTHS.get(name, 0.1) for name in NAMES]), no, ~no,
        ("FULL",) * count, ~no, ("XYZ",) * count,
    )  # fmt: skip


def step(values):
    out = np.eye(4)
    out[:3, 3], out[:3, :3] = values[:3], euler_to_matrix(values[None, 3:], "XYZ")[0]
    return out


def without_roll(matrix, rest):
    """A matrix with the axis of another, turned as little as that takes."""
    start, end = rest[:3, 1], matrix[:3, 1]
    cross, cosine = np.cross(start, end), start @ end
    skew = np.array([[0, -cross[2], cross[1]], [cross[2], 0, -cross[0]], [-cross[1], cross[0], 0]])
    out = matrix.copy()
    out[:3, :3] = (np.eye(3) + skew + skew @ skew / (1.0 + cosine)) @ rest[:3, :3]
    return out


def pose(rig, steps, is_fk):
    """(B, 4, 4) with the controls moved by steps (4, 6)."""
    rest = dict(zip(NAMES, rig.rest, strict=True))
    at = {}

    def carry(name, on):
        return at[on] @ np.linalg.inv(rest[on]) @ rest[name]

    at["p"] = rest["p"] @ step(steps[0])
    at["P"], at["dp"] = carry("P", "p"), carry("dp", "p")
    at["t"] = carry("t", "p") @ step(steps[1])
    at["s"] = carry("s", "t") @ step(steps[2])
    at["g"] = rest["g"] @ step(steps[3])
    if is_fk:
        at["T"], at["S"] = at["t"], at["s"]
        at["F"] = carry("F", "s")
    else:
        hip, foot = carry("T", "p")[:3, 3], at["g"][:3, 3]
        knee = 0.5 * (hip + foot) + np.array([0.0, -0.2, 0.0])
        for name, head, tail in (("T", hip, knee), ("S", knee, foot)):
            aimed = carry(name, "p")
            axis = (tail - head) / np.linalg.norm(tail - head)
            side = np.cross(axis, [0.0, 1.0, 0.3])
            side /= np.linalg.norm(side)
            aimed[:3, :3] = np.stack((side, axis, np.cross(side, axis)), axis=1)
            aimed[:3, 3] = head
            at[name] = aimed
        at["F"] = carry("F", "g")
    at["da"], at["db"] = (without_roll(carry(name, "T"), carry(name, "p")) for name in ("da", "db"))
    at["ds"], at["df"] = carry("ds", "S"), carry("df", "F")
    return np.array([at[name] for name in NAMES])


def probe(rng, keyed=(True, False, False, True), order=range(4)):
    """In IK, then in FK."""
    rig = leg()
    size = np.repeat([0.04, 0.3], 3)
    rows = rng.uniform(0.5, 1.0, (3, 4, 6)) * rng.choice([-1.0, 1.0], (3, 4, 6)) * size
    groups = np.empty((2, 4), int)
    groups[:, list(order)] = np.arange(8).reshape(2, 4)
    ways = np.repeat(np.eye(2), 3, axis=1)
    steps = [rows[0] + np.eye(4)[control][:, None] * way * rows[2] for way in ways for control in order]
    posed = [[pose(rig, each, is_fk) for each in steps] for is_fk in (False, True)]
    switched = np.isin(NAMES, ["T", "S", "F"])[None]
    return SimpleNamespace(
        rig=rig, controls=CONTROLS, free=np.ones((4, 6), bool),
        keyed=np.repeat(np.array(keyed)[:, None], 2, axis=1), switches=("ik",),
        switched=switched, limb_switches=np.array([True]), ends=np.array([[0.0, 1.0]]), states=np.array([[0.0], [1.0]]),
        occurring=np.zeros((1, 1)),
        base=np.array([pose(rig, rows[0], is_fk) for is_fk in (False, True)]),
        other=np.array([pose(rig, rows[1], is_fk) for is_fk in (False, True)]),
        posed=np.array(posed), groups=groups, reached=np.ones((4, len(NAMES)), bool),
        deform=np.char.startswith(NAMES, "d"), plan=None,
    )  # fmt: skip


def names_of(measured, carriers):
    names = [*(NAMES[bone] for bone in measured.carriers), None]
    return [names[each] for each in carriers]


def test_carriers_are_the_bones_along_those_that_deform_on_which_controls_ride(rng):
    measured = measured_rig(probe(rng))
    assert set(names_of(measured, range(len(measured.carriers)))) == {"P", "T", "S", "F"}
    assert names_of(measured, measured.carrier_parents[np.argsort(measured.carriers)]) == [None, "P", "T", "S"]


def test_controls_ride_on_what_the_others_that_are_posed_leave_alone(rng):
    measured = measured_rig(probe(rng))
    assert names_of(measured, measured.riders[0]) == ["P", None, None, "F"]
    assert names_of(measured, measured.riders[1]) == ["P", "T", "S", None]
    alone = measured.posed_by(np.eye(4, 2, dtype=bool))
    assert names_of(alone, alone.riders[1]) == ["P", "T", "S", None]


def test_bones_that_keep_their_place_on_a_carrier_ride_on_it(rng):
    measured = measured_rig(probe(rng))
    on = dict(zip(NAMES, names_of(measured, measured.rides), strict=True))
    assert (on["dp"], on["p"], on["ds"], on["df"]) == ("P", "P", "S", "F")
    assert on["da"] is None and on["t"] is None and on["g"] is None


def test_a_limb_has_an_fk_end_and_an_ik_end(rng):
    measured = measured_rig(probe(rng))
    assert measured.limb_switches.tolist() == [0] and measured.limb_values.tolist() == [[1.0, 0.0]]
    assert measured.limb_controls[0].tolist() == [[False, True, True, False], [False, False, False, True]]
    assert sorted(names_of(measured, np.flatnonzero(measured.limb_carriers[0]))) == ["F", "S", "T"]
    assert measured.trunk.tolist() == [MAIN, NO_TRUNK, NO_TRUNK, NO_TRUNK]


@pytest.mark.parametrize("order", [(3, 2, 1, 0), (2, 0, 3, 1)])
def test_the_order_in_which_controls_were_posed_does_not_count(order):
    one = measured_rig(probe(np.random.default_rng(3)))
    other = measured_rig(probe(np.random.default_rng(3), order=order))
    for name in ("carriers", "carrier_parents", "rides", "riders", "moves", "trunk", "limb_controls"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_states_that_were_not_measured_are_composed_limb_by_limb(rng):
    """Two legs that share a rig's arrays: each goes by its own switch."""
    one = measured_rig(probe(rng))
    twice = two_limbs(one)
    mixed = with_states(twice, np.array([[0.0, 1.0], [0.0, 0.0]]))
    assert mixed.states.tolist() == [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]]
    posed = mixed.posed_by(np.ones((8, 2), bool))
    count, legs = len(one.carriers), one.posed_by(np.ones((4, 2), bool))
    np.testing.assert_array_equal(posed.riders[2, :4], legs.riders[0])
    np.testing.assert_array_equal(posed.riders[2, 4:], np.where(legs.riders[1] >= 0, legs.riders[1] + count, -1))
    np.testing.assert_array_equal(mixed.moves[2, :4, :count], one.moves[0])
    np.testing.assert_array_equal(mixed.moves[2, 4:, count:], one.moves[1])
    assert with_states(twice, twice.states[:1]) is twice


def two_limbs(one):
    """The rig beside itself; only what states are composed of is doubled."""
    count, controls = len(one.carriers), len(one.controls)
    moves = np.zeros((2, 2 * controls, 2 * count), bool)
    parted = np.zeros((2, 2 * len(one.pairs), 2, 2 * controls), bool)
    moves[:, :controls, :count] = moves[:, controls:, count:] = one.moves
    parted[:, : len(one.pairs), :, :controls] = parted[:, len(one.pairs) :, :, controls:] = one.parted
    return replace(
        one, controls=np.arange(2 * controls), carriers=np.tile(one.carriers, 2), switches=("ik", "other"),
        carrier_parents=np.concatenate((one.carrier_parents, one.carrier_parents + count * (one.carrier_parents >= 0))),
        states=np.repeat(one.states, 2, axis=1), riders=np.tile(one.riders, 2), moves=moves, parted=parted,
        pairs=np.concatenate((one.pairs, one.pairs + [controls, count])), carried=np.tile(one.carried, (1, 2, 1)),
        limb_switches=np.array([0, 1]), limb_values=np.repeat(one.limb_values, 2, axis=0),
        limb_carriers=np.kron(np.eye(2, dtype=bool), one.limb_carriers),
    )  # fmt: skip
