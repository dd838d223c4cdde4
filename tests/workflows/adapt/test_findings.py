"""The report tells the worst of what is written, with bone and frame."""

from dataclasses import replace

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene.motion import read_motion
from bl_ext.devrepo.motion_loom.solvers.adapt import worst_events
from bl_ext.devrepo.motion_loom.workflows.adapt import findings, run
from bl_ext.devrepo.motion_loom.workflows.adapt.remarks import remarks
from bl_ext.devrepo.motion_loom.workflows.adapt.run import AdaptRigOptions
from bl_ext.devrepo.motion_loom.workflows.adapt.words import figures_in_words
from bl_ext.devrepo.motion_loom.workflows.core.result_keys import KeyOptions
from bl_ext.devrepo.motion_loom.workflows.environment.model import stored_of

from tests import adapt_scenes as scenes
from tests.adapt_scenes import raise_step
from tests.commands import adapt

FRAMES = scenes.FRAMES


def adapted(rig, **keys):
    return run.adapt_rig(bpy.context, rig, scenes.workflow(), AdaptRigOptions(keys=KeyOptions(**keys)))


def written(rig):
    """(F, K, 3) solved joints as the action that the rig plays moves them, and those that were bound."""
    track = stored_of(rig, scenes.workflow()).binding.track
    joints = read_motion(bpy.context, rig, FRAMES).joints()
    return joints.positions[:, [joints.skeleton.names.index(n) for n in track.skeleton.names]], track.positions


def jerk(positions):
    return np.linalg.norm(np.diff(positions, 3, axis=0), axis=2).mean()


@pytest.mark.parametrize("keys", [{}, {"step": 3}, {"error": 0.01}])
def test_what_is_written_is_what_is_measured(bound, keys):
    """A frame step of three reported a jerk of 1.01 and wrote one of 3.94."""
    raise_step()
    measures = adapted(bound, **keys)["measures"]
    now, before = written(bound)
    assert measures["jerk_mean_ratio"] == pytest.approx(jerk(now) / jerk(before), rel=2e-3)
    names = stored_of(bound, scenes.workflow()).binding.track.skeleton.names
    worst = worst_events.worst(worst_events.jumps(before, now), FRAMES)
    jump = measures["worst"]["jump"]
    assert (jump["bone"], jump["frame"]) == (names[worst.joint].removesuffix("/tail"), worst.frame)
    assert jump["cm"] == pytest.approx(100 * worst.size, abs=1e-3)


def test_keys_that_are_left_out_show_in_the_measures(bound):
    """Curves between few keys are smooth, but go past places; straight ones jerked."""
    raise_step()
    dense, reduced, stepped = (adapted(bound, **keys) for keys in ({}, {"error": 0.03}, {"step": 3}))
    jerk, *others = (report["measures"]["jerk_mean_ratio"] for report in (dense, reduced, stepped))
    assert max(others) < jerk + 0.25
    assert any("set Frame Step to 1" in text for text in reduced["warnings"])
    assert not any("Frame Step" in text for text in dense["warnings"])


def test_measured_is_what_was_solved_where_all_frames_get_keys(bound, monkeypatch):
    """Turns are found again in the rig's motion."""
    solved, seen = [], []
    monkeypatch.setattr(run, "solve_steps", kept(run.solve_steps, solved))
    find = findings.findings.find
    monkeypatch.setattr(findings.findings, "find", lambda *args, **more: seen.append(args) or find(*args, **more))
    raise_step(0.3)
    adapted(bound)
    ((_, positions, turns, *_),) = seen
    np.testing.assert_allclose(positions, solved[0].adapted.positions, atol=1e-4)
    same = np.abs(np.einsum("fkc,fkc->fk", turns, solved[0].adapted.turns))
    np.testing.assert_allclose(same, 1.0, atol=1e-6)


def kept(steps, results):
    def spy(*args):
        results.append((yield from steps(*args)))
        return results[-1]

    return spy


def test_the_report_names_limbs_and_the_command_its_warnings(bound, capsys):
    floor = bpy.data.objects["Floor"]
    bound.motion_loom_adapt.surfaces[0].mode = "IGNORE"
    floor.location.z -= 0.5
    report = adapt(capsys)
    contacts = report["measures"]["contacts"]
    assert {"toe.L", "toe.R"} <= set(contacts) and all(limb["kept"] <= limb["counted"] for limb in contacts.values())
    assert contacts["toe.L"]["kept"] < 0.9 * contacts["toe.L"]["counted"]
    (text,) = [text for text in report["warnings"] if text.startswith("Bone 'toe.L' keeps")]
    assert text in report["notes"] and "at frame" in text
    assert report["measures"]["trunk"] == ["hips", "chest"] and report["unconverged"] == []


def test_a_report_of_nothing_wrong_warns_of_nothing(bound, capsys):
    report = adapt(capsys)
    assert report["warnings"] == [] and report["measures"]["worst"]["jump"]["cm"] < 0.01


def test_each_finding_beyond_its_bound_is_a_sentence_with_bone_and_frame(bound, monkeypatch):
    seen, find = [], findings.findings.find
    monkeypatch.setattr(findings.findings, "find", lambda *args, **more: seen.append(find(*args, **more)) or seen[-1])
    adapted(bound)
    (found,) = seen
    assert not any(remark.doubt for remark in remarks(found))
    steps, toe = np.zeros(found.jumps.shape), found.names.index("toe.L")
    steps[4, toe] = 1.0
    clear = np.zeros(len(found.frames), bool)
    clear[[2, 3]] = True
    bad = replace(
        found,
        jumps=0.12 * steps,
        turns=150.0 * steps,
        tilts=np.arange(24.0),
        clear=clear,
        erect=np.ones_like(clear),
        stretched=np.arange(24)[:, None] + 0 * found.stretched >= 12,
        comparison=replace(found.comparison, contacts=replace(found.contacts, kept=np.zeros_like(found.contacts.kept))),
    )
    told = remarks(bad)
    lost = [remark for remark in told if remark.text.startswith("Gives up")]
    assert {remark.bone for remark in lost} >= {"toe.L", "toe.R"} and not any(remark.doubt for remark in lost)
    jump, turn, tilt, balance, stretch, *limbs = told[: -len(lost)]
    assert stretch.doubt.startswith(
        "The knee or elbow at the head of 'hips' is straight in 50 % of frames, from frame 13"
    )
    assert (jump.bone, jump.frame, jump.text) == ("toe.L", 6, "Jump 12.0 cm")
    assert jump.doubt.startswith("Bone 'toe.L' jumps by 12.0 cm at frame 6")
    assert turn.doubt.startswith("Bone 'toe.L' turns by 150 degrees at frame 6")
    assert tilt.text == "Tilt 23.0 degrees, mean 11.5" and not tilt.doubt and not balance.doubt
    assert all(limb.doubt.startswith(f"Bone '{limb.bone}' keeps 0 %") for limb in limbs) and len(limbs) > 1
    leaning = replace(bad, tilts=2.0 * bad.tilts + 1.0)
    assert "raise Upright" in remarks(leaning, upright=0.5)[2].doubt
    assert not remarks(replace(leaning, erect=~clear))[2].doubt
    tilt = remarks(leaning)[2]
    assert "Upright" not in tilt.doubt
    assert (tilt.bone, tilt.frame) == ("chest", 4)
    assert tilt.doubt.startswith("The trunk, 'hips' to 'chest', tilts by up to 7 degrees, at frame 4, where nothing")


def test_lowering_upright_is_advised_where_it_is_on_over_tilted_ground(bound, monkeypatch):
    seen, find = [], findings.findings.find
    monkeypatch.setattr(findings.findings, "find", lambda *args, **more: seen.append(find(*args, **more)) or seen[-1])
    adapted(bound)
    steps, always = np.zeros(seen[0].jumps.shape), np.ones(len(seen[0].frames), bool)
    steps[4] = 1.0
    own = seen[0].comparison
    bad = replace(
        seen[0],
        jumps=0.12 * steps,
        turns=150.0 * steps,
        comparison=replace(own, jerk=2.0 * own.jerk),
        clear=always,
        sloped=always,
    )
    moves = [remark.doubt for remark in remarks(bad) if remark.doubt]
    assert len(moves) == 3 and all("lower Upright there, " in doubt for doubt in moves)
    for other, upright in ((bad, 0.0), (replace(bad, clear=~always), 1.0), (replace(bad, sloped=~always), 1.0)):
        assert not any("Upright" in remark.doubt for remark in remarks(other, upright=upright))
    assert "Avoid or Ignore" in moves[0]
    assert "Avoid or Ignore" not in remarks(replace(bad, objects=("Floor",)))[0].doubt


def test_a_brief_contact_counts_where_too_many_are_lost_of_all(bound, monkeypatch):
    """One of two frames of a foot was nothing to warn of, with 87 % of all contacts kept."""
    seen, find = [], findings.findings.find
    monkeypatch.setattr(findings.findings, "find", lambda *args, **more: seen.append(find(*args, **more)) or seen[-1])
    adapted(bound)
    (found,) = seen
    toe, heel = found.names.index("toe.L"), found.names.index("toe.R")
    counted = np.zeros_like(found.contacts.counted)
    counted[:2, toe] = counted[:, heel] = True
    kept = counted.copy()
    kept[0, toe] = False

    def doubts(counted, kept):
        contacts = replace(found.contacts, counted=counted, kept=kept)
        bad = replace(found, comparison=replace(found.comparison, contacts=contacts))
        return [remark.bone for remark in remarks(bad) if remark.doubt]

    assert found.dt * 2 < 0.1 and doubts(counted, kept) == []
    counted[8:, heel] = kept[8:, heel] = False
    assert doubts(counted, kept) == ["toe.L"]


def test_what_is_inside_too_near_rough_or_slides_is_said_with_bone_object_and_frame(bound, monkeypatch):
    seen, find = [], findings.findings.find
    monkeypatch.setattr(findings.findings, "find", lambda *args, **more: seen.append(find(*args, **more)) or seen[-1])
    adapted(bound)
    (found,) = seen
    own = found.comparison
    sample = int(np.flatnonzero(found.sample_joints == found.names.index("head"))[0])
    after, lost, jerk = own.after.copy(), own.lost.copy(), 2.0 * own.jerk
    after[1, 7:, sample], after[1, 9, sample] = -0.02, -0.05
    lost[0, 5:, sample], lost[0, 6, sample] = 0.02, 0.03
    after[0, 5:7, sample] = 0.001
    jerk[8, found.names.index("head")] += 1e6
    row, toe = (int(part[-1]) for part in np.nonzero(own.contacts.kept & np.isfinite(own.slid).any(axis=0)))
    slid = own.slid.copy()
    slid[own.contacts.partner[row, toe], row, toe] = 0.042
    bad = replace(found, comparison=replace(own, after=after, lost=lost, jerk=jerk, slid=slid))
    rough, inside, nearer, slides = [remark for remark in remarks(bad) if remark.doubt]
    by, frame = found.objects[own.contacts.partner[row, toe]], int(found.frames[row])
    assert f"slides by 4.2 cm along '{by}' by frame {frame}," in slides.doubt
    assert (slides.bone, slides.frame) == (found.names[toe].removesuffix("/tail"), frame)
    assert (rough.bone, rough.frame) == ("head", 12) and "times as rough as the source" in rough.doubt
    assert (inside.bone, inside.frame) == ("head", 10) and "5.0 cm inside 'Step' at frame 10" in inside.doubt
    assert (nearer.bone, nearer.frame) == ("head", 7) and "3.0 cm less to 'Floor' at frame 7" in nearer.doubt


def test_covered_contacts_are_not_taken_for_none():
    """Feet that stood on a floor which lies inside a stage now."""
    report = {"contact_frames": 0, "contacts": {"toe.L": {"counted": 0, "kept": 0, "covered": 9}}}
    assert figures_in_words(report)[0] == "no contact: what hands and feet rested on is inside other objects now"
    report["contacts"] = {}
    assert figures_in_words(report)[0] == "no contact: no hand or foot rests on anything"
