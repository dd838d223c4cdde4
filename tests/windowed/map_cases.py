"""What is mapped in the windowed check of Map, and its cases: buttons, undo, edits, performing, deleting, scenes."""

import importlib
from pathlib import Path

import bpy
import driving as ui
import numpy as np
from driving import Session
from mesh_script import EXACT, MeshScript

FRAME = 50
MOST_BUTTONS = 12
BUTTONS = {
    "F13": ("fit", {"workflow": "map"}), "F14": ("live", {"workflow": "map"}), "F15": ("bake", {"workflow": "map"}),
    "F16": ("map_suggest", {}), "F17": ("map_next_suggestion", {"step": 1}), "F18": ("map_add_pair", {}),
    "F19": ("live_refresh", {"workflow": "map"}), "F20": ("map_remove_pair", {}), "F21": ("map_perform", {}),
}  # fmt: skip
LEARN, LIVE, BAKE, SUGGEST, NEXT, ADD, REFRESH, REMOVE, PERFORM = BUTTONS


class MapScript(MeshScript):
    """The demo's caterpillar, which its walker drives."""

    workflow, ready, frame = "map", "paired.blend", FRAME

    def target(self):
        return bpy.data.objects["Caterpillar"]

    def own(self) -> list:
        return [self.target()]

    def wanted(self, frame: float) -> np.ndarray:
        ob, live = self.target(), ui.part("workflows.map.follower")
        frames = np.array([frame])
        coefficients, position, heading = live.result_at(ob, frames)
        plant = self.run().follower._plant(ob, frames)
        vertices, world = live.pose_of(ob, coefficients[0], position[0], heading[0], plant)
        return vertices @ world[:3, :3].T + world[:3, 3]


SCRIPT = MapScript(BUTTONS, LIVE)
target, settings, copy, status, wanted = SCRIPT.target, SCRIPT.settings, SCRIPT.copy, SCRIPT.status, SCRIPT.wanted
opened, went_live, went_off, follows, is_off = (
    SCRIPT.opened, SCRIPT.went_live, SCRIPT.went_off, SCRIPT.follows, SCRIPT.is_off,
)  # fmt: skip


def make_file() -> None:
    """Source and target picked, nothing learnt."""
    ui.clear()
    caterpillar = importlib.import_module("caterpillar_in_blender").add_caterpillar(name="Caterpillar")
    caterpillar.location.y = 1.0
    chosen = caterpillar.motion_loom_map
    chosen.source = importlib.import_module("walker").make_walker()
    chosen.use_target_range, chosen.target_start, chosen.target_end = True, 1, 145
    bpy.context.view_layer.update()
    ui.choose(caterpillar)
    SCRIPT.original = SCRIPT.digest()
    ui.show(FRAME)
    ui.save("picked.blend")


def answer(frame: float) -> float:
    """The target's: two steps of the walker, 32.4 frames, answer to one wave of the crawl, 24 frames."""
    return 49.0 + 24.0 * (frame / 32.4 % 1.0)


def add_pair_by_buttons(*keys: str):
    """Go to a suggestion, choose the answer, and pair both."""
    for key in keys:
        yield from ui.press(key)
        yield 0.2
    settings().target_frame = answer(bpy.context.scene.frame_current_final)
    yield 0.1
    yield from ui.press(ADD)
    yield 0.2


def counts() -> tuple[int, ...]:
    """What is in the file, and which frame is shown."""
    data, frame = bpy.data, bpy.context.scene.frame_current
    return frame, *(len(each) for each in (data.objects, data.meshes, data.node_groups, data.actions, data.shape_keys))


def buttons(session: Session):
    """The whole way, with at most twelve buttons; files are kept for the other cases."""
    yield from opened("picked.blend")
    yield from session.picture("1_picked")
    pressed = [LEARN]
    yield from ui.press_until(LEARN, lambda: settings().clip is not None)
    session.check("learnt", settings().learnt is not None, settings().learnt_summary)
    yield 0.3
    yield from session.picture("2_learnt")
    for number, keys in enumerate(((SUGGEST,), (SUGGEST,), (SUGGEST, NEXT), (SUGGEST,)), start=1):
        yield from add_pair_by_buttons(*keys)
        pressed += [*keys, ADD]
        session.check(f"pair {number}", len(settings().pairs) == number, settings().pairs[-1].source_frame)
        if number == 1:
            yield from session.picture("3_suggested")
    yield from session.picture("4_pairs")
    ui.save("paired.blend")
    yield 0.3
    yield from ui.press_until(LIVE, lambda: settings().live)
    pressed.append(LIVE)
    ui.show(FRAME + 20)
    yield from follows(session, "live")
    yield from session.picture("5_live")
    yield from ui.press_until(BAKE, lambda: settings().result is not None)
    pressed.append(BAKE)
    yield 0.3
    yield from session.picture("6_baked")
    session.check("at most twelve buttons", len(pressed) <= MOST_BUTTONS, len(pressed))
    for frame in (FRAME, FRAME + 13, FRAME + 50):
        ui.show(frame)
        yield 0.1
        distance = ui.gap(ui.seen(settings().result), ui.seen(copy()))
        session.check(f"the bake is the live copy, frame {frame}", distance < EXACT, f"{distance:.2g} m")
    yield from _moves(session)
    ui.save("live.blend")
    yield 0.2


def _moves(session: Session):
    """It changes its pose and goes somewhere."""
    shapes, places = [], []
    for frame in range(FRAME, FRAME + 60, 4):
        ui.show(frame)
        yield 0.03
        shape = ui.seen(copy())
        places.append(shape.mean(axis=0))
        shapes.append(shape - places[-1])
    pose = np.ptp(shapes, axis=0).max()
    session.check("its pose changes", pose > 0.02, f"{pose:.2f} m")
    gone = np.linalg.norm(np.diff(places, axis=0)[:, :2], axis=1).sum()
    session.check("it travels", gone > 0.02, f"{gone:.2f} m")


def escape(session: Session):
    """Esc during Learn and during Bake changes nothing."""
    yield from opened("picked.blend")
    before = counts()
    yield from ui.press(LEARN)
    session.check("Learn is at work", ui.part("state.live_runs").live_runs.busy)
    yield from ui.press("ESC")
    yield 0.3
    session.check("Esc leaves it unlearnt", settings().learnt is None and settings().clip is None)
    session.check("Learn: nothing is left", counts() == before, counts())
    yield from is_off(session, "Learn, Esc")
    for live in (False, True):
        yield from went_live(session) if live else opened("paired.blend")
        before, files = counts(), _cached()
        yield from ui.press(BAKE)
        session.check("Bake is at work", settings().result is None)
        yield from ui.press("ESC")
        yield 0.3
        session.check("Esc leaves nothing baked", settings().result is None)
        session.check("Bake: nothing is left", counts() == before, counts())
        session.check("no cache file", _cached() == files)
        yield from follows(session, "Bake, Esc") if live else is_off(session, "Bake, Esc")


def _cached() -> list[Path]:
    return sorted((ui.FOLDER / "motion_loom_cache").glob("*"))


def undone(session: Session):
    """Undo and redo across every button: each is one step."""
    yield from opened("picked.blend")
    deeds = [
        ("learn", LEARN, lambda: settings().clip is not None),
        *((f"pair {n}", key, lambda n=n: len(settings().pairs) == n) for n, key in enumerate((SUGGEST, NEXT, NEXT), 1)),
        ("live", LIVE, lambda: settings().live),
        ("baked", BAKE, lambda: settings().result is not None),
        ("live off", LIVE, lambda: not settings().live),
        ("removed", REMOVE, lambda: len(settings().pairs) == 2),
        ("live again", LIVE, lambda: settings().live),
    ]
    states = [_state()]
    for name, key, is_so in deeds:
        if name.startswith("pair"):
            yield from ui.press(key)
            yield 0.2
            states.append(_state())
            key = ADD
        yield from ui.press_until(key, is_so)
        yield 0.2
        session.check(f"{name}: done", is_so())
        states.append(_state())
    yield from SCRIPT.back_and_forth(session, _state, states)


def _state() -> tuple:
    """What buttons change. Which frame is shown is none of the user's data, undo leaves or brings it back."""
    chosen = settings()
    pairs = tuple((round(pair.source_frame, 3), round(pair.target_frame, 3)) for pair in chosen.pairs)
    names = chosen.live_copy and chosen.live_copy.name, chosen.result and chosen.result.name
    return chosen.clip is not None, pairs, chosen.suggestions, chosen.live, *names, target().hide_viewport


def two_back(session: Session):
    """Two quick undos past live on: the original shows again; redone quickly it is live again."""
    yield from went_live(session)
    ui.push_undo("nothing")
    for _ in range(2):
        yield from ui.press("Z", ctrl=True)
    yield from is_off(session, "two undone")
    for _ in range(2):
        yield from ui.press("Z", ctrl=True, shift=True)
    yield from follows(session, "two redone")
    yield from went_off(session, "off")


def edits(session: Session):
    """Pairs and sliders change what is live at once; the source moved elsewhere asks for a refresh."""
    yield from went_live(session)
    ui.show(FRAME + 5)
    yield from follows(session, "another frame")
    before = ui.seen(copy())
    settings().pairs[1].target_frame += 5.0
    yield from follows(session, "a pair changed")
    session.check("it shows", ui.gap(ui.seen(copy()), before) > 1e-4)
    for name, value, told in (("travel_scale", 2.0, "travels farther"), ("turn_ratio", -1.0, "turns the other way")):
        setattr(settings(), name, value)
        yield from follows(session, told)
    yield from ui.press(REMOVE)
    yield from follows(session, "a pair removed")
    settings().pairs[0].use = False
    yield 0.3
    many = sum(pair.use for pair in settings().pairs)
    settings().pairs[1].use = False
    yield 0.3
    session.check("too few pairs are a problem", status().problem and many == 2, status().problem)
    yield from session.quiet("too few")
    settings().pairs[0].use = settings().pairs[1].use = True
    yield from follows(session, "pairs back")
    settings().travel_scale = settings().turn_ratio = 1.0
    yield from _refreshed(session)


def _refreshed(session: Session):
    settings().source.location.z += 0.05
    settings().source.delta_location.z += 0.05
    ui.push_undo("moved")
    yield from ui.until(lambda: status().track == "SWEEP", 3)
    session.check("a refresh is offered", (status().track, status().remedy) == ("SWEEP", "REFRESH"), status())
    clip = settings().clip
    ui.tap(REFRESH, "ESC")
    yield 0.3
    session.check("Esc leaves it", settings().clip == clip and status().track == "SWEEP", status().track)
    yield from ui.press_until(REFRESH, lambda: status().track == "READY", 20)
    session.check("refreshed", status().track == "READY", status())
    yield from follows(session, "refreshed")
    yield from ui.undo()
    yield 0.3
    session.check("undone", status().track == "SWEEP", status().track)
    yield from ui.redo()
    yield from follows(session, "redone")


def performed(session: Session):
    """Poses of the target are shown one after the other; a key pairs the source as it plays with the one shown."""
    yield from went_live(session)
    before, shown = len(settings().pairs), settings().target_frame
    yield from ui.press(PERFORM)
    yield from ui.press("ESC")
    session.check("Esc before a pair", (len(settings().pairs), settings().target_frame) == (before, shown))
    yield from ui.press(PERFORM)
    targets, sources = [], []
    for frame in (FRAME + 3, FRAME + 9, FRAME + 17):
        ui.show(frame)
        yield 0.1
        targets.append(settings().target_frame)
        sources.append(frame)
        yield from ui.press("RET")
    yield from ui.press("BACK_SPACE")
    yield from ui.press("ESC")
    new = [(pair.source_frame, pair.target_frame) for pair in settings().pairs[before:]]
    session.check("three pairs", new == list(zip(sources, targets, strict=True)) and len(set(targets)) == 3, new)
    yield from follows(session, "after performing")
    yield from ui.undo()
    session.check("one step of undo", len(settings().pairs) == before, len(settings().pairs))
    yield from ui.redo()
    session.check("redone", len(settings().pairs) == before + 3)
    yield from session.quiet("performed")


def deleted(session: Session):
    """The live copy is deleted: that is said, undone, and mended by switching off and on."""
    for way in ("undo", "button", "redo"):
        yield from went_live(session)
        ui.choose(copy())
        bpy.ops.object.delete()
        ui.push_undo("deleted")
        yield 0.3
        session.check(f"{way}: it says so", status().problem and "deleted" in status().problem, status())
        yield from session.quiet(f"{way}: deleted")
        if way == "button":
            ui.choose(target())
            yield from went_off(session, "off after deleting")
            yield from ui.press_until(LIVE, lambda: settings().live)
            yield from follows(session, "on after deleting")
            continue
        yield from ui.undo()
        yield from follows(session, "deleting undone")
        if way == "redo":
            yield from ui.redo()
            yield 0.3
            session.check("deleted again", status() and status().problem, status())
            yield from ui.undo()
            yield from follows(session, "undone again")


def scenes(session: Session):
    """Another scene in the window and back; two windows, one with each."""
    yield from went_live(session)
    first = bpy.context.scene
    second = bpy.data.scenes.new("Another")
    ui.window().scene = second
    yield 0.3
    second.frame_set(FRAME + 3)
    yield from session.quiet("another scene")
    ui.window().scene = first
    yield 0.3
    ui.show(FRAME + 4)
    yield from follows(session, "back")
    bpy.ops.wm.window_new_main()
    yield 0.3
    bpy.context.window_manager.windows[1].scene = second
    yield 0.3
    ui.show(FRAME + 8)
    yield from follows(session, "another scene beside it")
    yield from ui.only_one_window()
    full = bpy.data.scenes
    with bpy.context.temp_override(window=ui.window()):
        bpy.ops.scene.delete() if len(full) > 1 and bpy.context.scene == second else full.remove(second)
    yield from follows(session, "the other scene deleted")
