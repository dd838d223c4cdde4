"""What the windowed check of Transfer works on, and its cases: buttons, Esc, undo, bakes, edits."""

import importlib

import bpy
import driving as ui
import numpy as np
from driving import Session
from mesh_script import EXACT, MeshScript

FRAME = 12
_OF = {"workflow": "transfer"}
BUTTONS = {
    "F13": ("fit", _OF), "F14": ("densify", _OF), "F15": ("train", _OF), "F16": ("live", _OF), "F17": ("bake", _OF),
    "F18": ("transfer_add_clip", {}), "F19": ("transfer_remove_clip", {}), "F20": ("transfer_suggest_pair", {}),
    "F21": ("transfer_add_pair", {}), "F22": ("transfer_remove_pair", {}), "F23": ("transfer_show_pair", {}),
    "F24": ("transfer_edit_path", {}), "F5": ("transfer_add_part", {}), "F6": ("transfer_remove_part", {}),
    "F7": ("transfer_suggest_parts", {}), "F8": ("live_refresh", _OF),
}  # fmt: skip
(
    READ, DENSIFY, TRAIN, LIVE, BAKE, ADD_CLIP, REMOVE_CLIP, SUGGEST, ADD, REMOVE, SHOW, EDIT, ADD_PART, REMOVE_PART,
    SUGGEST_PARTS, REFRESH,
) = BUTTONS  # fmt: skip


class TransferScript(MeshScript):
    """Bob, who performs what Ann does."""

    workflow, ready, frame = "transfer", "trained.blend", FRAME

    def target(self):
        return bpy.data.objects["Bob"]

    def own(self) -> list:
        return [bpy.data.objects[name] for name in ("Ann", "Bob", "Ann Again")]

    def wanted(self, frame: float) -> np.ndarray:
        ob, live = self.target(), ui.part("workflows.transfer.follower")
        clip, found = live.clip_of(ob), live.found_of(ob, self.run().follower._task)
        (plant,) = [None] if found is None else found.at(np.array([frame - clip.frames[0]]) / clip.fps)
        vertices, world = live.pose_of(ob, *live.result_at(ob, frame), plant)
        return vertices @ world[:3, :3].T + world[:3, 3]


SCRIPT = TransferScript(BUTTONS, LIVE)
target, settings, copy, status = SCRIPT.target, SCRIPT.settings, SCRIPT.copy, SCRIPT.status
opened, went_live, went_off, follows, is_off = (
    SCRIPT.opened, SCRIPT.went_live, SCRIPT.went_off, SCRIPT.follows, SCRIPT.is_off,
)  # fmt: skip


def play():
    """The small scene, which the tests without windows use as well."""
    return importlib.import_module("tests.transfer_play")


# --------------------------------------------------------------------------------------------------- the scene


def make_file() -> None:
    """Both subjects and the new clip side by side, nothing chosen."""
    ui.clear()
    ann, bob, new = play().add_scene()
    ann.location.x, new.location.x = -3.6, -1.8
    bob.location.x = 1.8
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 40
    bpy.context.view_layer.update()
    SCRIPT.original = SCRIPT.digest()
    ui.choose(bob)
    ui.show(FRAME)
    ui.save("picked.blend")


def refused(key: str):
    """Press a button whose reason not to do it pops up under the mouse, and close that."""
    yield from ui.press(key)
    yield from ui.press("ESC")


# --------------------------------------------------------------------------------------------------- what is so


def clip():
    return settings().clips[settings().active_clip]


def pairs() -> list[tuple[float, float]]:
    return [(pair.source_frame, pair.target_frame) for pair in clip().pairs]


def counts() -> tuple[int, ...]:
    """Of what is in use: a datablock that was given up stays until the file is saved."""
    held = bpy.data.objects, bpy.data.meshes, bpy.data.node_groups, bpy.data.images
    return tuple(sum(each.users > 0 for each in blocks) for blocks in held)


def state() -> tuple:
    """What buttons change. Which frame is shown is none of the user's data, undo leaves or brings it back."""
    chosen = settings()
    clips = tuple((each.source and each.source.name, each.stored, _frames(each)) for each in chosen.clips)
    held = tuple(block and block.name for block in (chosen.subjects, chosen.learnt, chosen.live_copy, chosen.result))
    return clips, tuple(each.name for each in chosen.parts), *held, chosen.live, target().hide_viewport


def _frames(each) -> tuple:
    return tuple((round(pair.source_frame, 3), round(pair.target_frame, 3)) for pair in each.pairs)


# --------------------------------------------------------------------------------------------------- the cases


def buttons(session: Session):
    """The whole way, button by button; files are kept for the other cases."""
    yield from opened("picked.blend")
    yield from session.picture("1_picked")
    yield from refused(ADD_CLIP)
    session.check("no clip without a source", len(settings().clips) == 0)
    settings().source = bpy.data.objects["Ann"]
    yield from ui.press(ADD_CLIP)
    session.check("a clip of the subjects", (clip().source.name, clip().target.name) == ("Ann", "Bob"))
    bpy.data.objects["Ann Again"].select_set(True)
    yield from ui.press(ADD_CLIP)
    session.check("a clip of another mesh", len(settings().clips) == 2 and clip().source.name == "Ann Again")
    ui.choose(target())
    yield from ui.press(REMOVE_CLIP)
    session.check("removed", len(settings().clips) == 1 and settings().active_clip == 0)
    yield from _parts(session)
    yield from ui.press_until(READ, lambda: settings().subjects is not None)
    session.check("read", clip().stored != "", settings().subjects_summary)
    yield from session.picture("3_read")
    ui.save("read.blend")
    yield from _pairs(session)
    yield from ui.press_until(DENSIFY, lambda: clip().picture is not None)
    session.check("densified", clip().picture is not None and clip().picture.packed_file is not None)
    yield from session.picture("5_densified")
    ui.save("paired.blend")
    yield from ui.press_until(TRAIN, lambda: settings().learnt is not None)
    session.check("trained", settings().learnt is not None, settings().learnt_summary)
    settings().performed = bpy.data.objects["Ann Again"]
    ui.save("trained.blend")
    yield from session.picture("6_trained")
    yield from ui.press_until(LIVE, lambda: settings().live)
    ui.show(FRAME + 5)
    yield from follows(session, "live")
    yield from session.picture("7_live")
    ui.save("live.blend")


def _parts(session: Session):
    yield from ui.press(ADD_PART)
    session.check("a part", len(settings().parts) == 1 and settings().active_part == 0)
    yield from ui.press(REMOVE_PART)
    session.check("no part", len(settings().parts) == 0)
    settings().part_count = 3
    yield from ui.press(SUGGEST_PARTS)
    session.check("three parts", len(settings().parts) == 3, [each.target_group for each in settings().parts])
    settings().show_parts = True
    target().update_tag()  # as a button of the panel does
    yield from session.picture("2_parts")
    settings().show_parts = False


def _pairs(session: Session):
    yield from ui.press(SUGGEST)
    yield 0.2
    session.check("an end is suggested", bpy.context.scene.frame_current in (1, 40), bpy.context.scene.frame_current)
    for frame, answer in play().PAIRS:
        ui.show(int(frame))
        settings().target_frame = answer
        yield from ui.press(ADD)
    session.check("six pairs", pairs() == list(play().PAIRS), pairs())
    ui.show(20)
    settings().target_frame = 1.0  # time would turn back
    yield from refused(ADD)
    session.check("none that turns back time", pairs() == list(play().PAIRS))
    clip().active_pair = 2
    yield from ui.press(SHOW)
    at = bpy.context.scene.frame_current, settings().target_frame
    session.check("the pair is shown", at == play().PAIRS[2], at)
    yield from session.picture("4_pairs")
    yield from ui.press(REMOVE)
    session.check("removed", len(pairs()) == 5 and play().PAIRS[2] not in pairs())
    yield from ui.undo()
    session.check("the pair is back", pairs() == list(play().PAIRS), pairs())


def escape(session: Session):
    """Esc during each of the long steps changes nothing."""
    steps = (
        ("Read Clips", "paired.blend", READ), ("Densify", "read.blend", DENSIFY), ("Train", "paired.blend", TRAIN),
        ("Live", "trained.blend", LIVE), ("Bake", "trained.blend", BAKE), ("Bake, live", "live.blend", BAKE),
    )  # fmt: skip
    for name, file, key in steps:
        yield from opened(file)
        if name == "Densify":
            play().add_pairs(clip())
            ui.push_undo("pairs")
        before = state(), counts(), bpy.context.scene.frame_current
        ui.tap(key, "ESC")
        yield 0.5
        session.check(f"{name}: nothing runs", not ui.part("state.live_runs").live_runs.busy)
        now = state(), counts(), bpy.context.scene.frame_current
        session.check(f"{name}: Esc changes nothing", now == before, (before, now) if now != before else "")
        session.check(f"{name}: no cache file", not list((ui.FOLDER / "motion_loom_cache").glob("*")))
        yield from follows(session, name) if settings().live else is_off(session, name)


def undone(session: Session):
    """Undo and redo across every button: each is one step."""
    yield from opened("read.blend")
    deeds = [
        *((f"pair {n}", ADD, lambda n=n: len(pairs()) == n, pair) for n, pair in enumerate(play().PAIRS, start=1)),
        ("pair removed", REMOVE, lambda: len(pairs()) == 5, None),
        ("densified", DENSIFY, lambda: clip().picture is not None, None),
        ("trained", TRAIN, lambda: settings().learnt is not None, None),
        ("live", LIVE, lambda: settings().live, None),
        ("baked", BAKE, lambda: settings().result is not None, None),
        ("live off", LIVE, lambda: not settings().live, None),
        ("a clip more", ADD_CLIP, lambda: len(settings().clips) == 2, None),
        ("one less", REMOVE_CLIP, lambda: len(settings().clips) == 1, None),
        ("a part more", ADD_PART, lambda: len(settings().parts) == 4, None),
        ("a part less", REMOVE_PART, lambda: len(settings().parts) == 3, None),
        ("read again", READ, lambda: settings().learnt is None, None),
        ("trained again", TRAIN, lambda: settings().learnt is not None, None),
        ("live again", LIVE, lambda: settings().live, None),
    ]  # fmt: skip
    settings().performed = bpy.data.objects["Ann Again"]
    settings().bake_kind = "ABSOLUTE_KEYS"
    ui.push_undo("chosen")
    states = [state()]
    for name, key, is_so, pair in deeds:
        if pair is not None:
            ui.show(int(pair[0]))
            settings().target_frame = pair[1]
        yield from ui.press_until(key, is_so)
        yield 0.4
        if not session.check(f"{name}: done", is_so()):
            return
        states.append(state())
    yield from SCRIPT.back_and_forth(session, state, states)


def bakes(session: Session):
    """Each kind of bake is the live copy, and stays when live is off."""
    yield from went_live(session)
    allowed = {"PC2": EXACT, "PCA_KEYS": 0.02, "ABSOLUTE_KEYS": EXACT}
    for kind, most in allowed.items():
        settings().bake_kind = kind
        before = settings().result
        yield from ui.press_until(BAKE, lambda before=before: settings().result not in (None, before))
        yield 0.3
        made, worst, moved = settings().result, 0.0, []
        for frame in (2, 11, 19, 28):
            ui.show(frame)
            yield 0.1
            moved.append(ui.seen(made))
            worst = max(worst, ui.gap(moved[-1], ui.seen(copy())))
        session.check(f"{kind}: it is the live copy", worst < most, f"{worst:.2g} m, {made.name}")
        session.check(f"{kind}: it moves", ui.gap(moved[0], moved[1]) > 0.05)
        yield from session.picture(f"9_baked_{kind.lower()}")
    yield from follows(session, "baked")
    ui.show(15)
    yield 0.1
    last, shape = settings().result, ui.seen(copy())
    yield from went_off(session, "off")
    session.check("the bake stays", last.visible_get() and ui.gap(ui.seen(last), shape) < EXACT)


def edits(session: Session):
    """Switches change what is live at once; what was read or learnt of something else asks for its button."""
    yield from went_live(session)
    for name, value in (("correct", False), ("stitch", False), ("travel_scale", 2.0), ("keep_clearance", False)):
        before = ui.seen(copy())
        setattr(settings(), name, value)
        yield from follows(session, name)
        session.check(f"{name}: it shows", ui.gap(ui.seen(copy()), before) > 1e-4, ui.gap(ui.seen(copy()), before))
    clip().pairs[2].target_frame += 1.0
    yield from follows(session, "a pair changed")
    session.check("it asks to train", "Train" in (status().note or ""), status().note)
    yield from session.picture("10_untrained")
    yield from ui.press_until(TRAIN, lambda: not status().note, 20)
    yield from follows(session, "trained again")
    new = bpy.data.objects["Ann Again"]
    for point in new.data.shape_keys.key_blocks[15].points:
        point.co.z += 0.1
    new.data.shape_keys.update_tag()
    ui.show(16)
    yield 0.3
    session.check("a refresh is offered", (status().track, status().remedy) == ("SWEEP", "REFRESH"), status())
    yield from ui.press_until(REFRESH, lambda: status().track == "READY", 20)
    session.check("refreshed", status().track == "READY", status())
    yield from session.quiet("refreshed")
    settings().use_performed_range = True
    settings().performed_end = 20
    yield 0.3
    session.check("another range is a problem", status().problem and status().remedy == "REFRESH", status())
    yield from session.picture("11_problem")
    yield from ui.press_until(REFRESH, lambda: status().problem is None, 20)
    session.check("mended", status().problem is None, status())
    bpy.data.objects.remove(new)
    yield 0.3
    session.check("a deleted clip is a problem", status() and "deleted" in (status().problem or ""), status())
    yield from session.quiet("deleted")
