"""Drives the running program as a user does: keys and the mouse through its event queue, waits between, checks.

The command line, after "--", names a workflow and cases (all without any), and after "--pictures" a folder for PNG
files of what a case led to.

Cases are generators that are resumed on a timer: they yield seconds to wait, or a file to open.
"""

import importlib
import os
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass
from pathlib import Path

import bpy
import numpy as np
from pictures import save_window

from tests.map_scenes import world_positions

PACKAGE = "bl_ext.devrepo.motion_loom"
FOLDER = Path(tempfile.mkdtemp(prefix="motion_loom_"))  # of all files that are made
_ROOT = Path(__file__).resolve().parents[2]
_EVENT = 0.06  # seconds after an event until what it caused has been drawn, with software rendering
_LONG = 60.0


def enable(buttons: dict[str, tuple[str, dict]]) -> None:
    """Enable this checkout as an extension, linked from the folder. buttons: see ``add_buttons``."""
    os.symlink(_ROOT, FOLDER / "motion_loom", target_is_directory=True)
    bpy.context.preferences.extensions.repos.new(
        name="devrepo", module="devrepo", custom_directory=str(FOLDER), remote_url="", source="USER"
    )
    importlib.import_module("addon_utils").enable(PACKAGE, default_set=True)
    add_buttons(buttons)


def add_buttons(buttons: dict[str, tuple[str, dict]]) -> None:
    """Keys that stand for buttons: the event queue calls their operators, undo steps and all.

    buttons: key -> the operator's name and arguments.
    """
    keymap = bpy.context.window_manager.keyconfigs.addon.keymaps.new("3D View", space_type="VIEW_3D")
    for key, (name, arguments) in buttons.items():
        item = keymap.keymap_items.new(f"motion_loom.{name}", key, "PRESS")
        for argument, value in arguments.items():
            setattr(item.properties, argument, value)


def part(name: str):
    """A module of the extension."""
    return importlib.import_module(f"{PACKAGE}.{name}")


@dataclass(frozen=True)
class Open:
    """To be yielded: open a file of the folder, the windows staying as they are."""

    name: str


class _Listener:
    """Passes on what goes to a stream and counts the tracebacks."""

    def __init__(self, stream):
        self._stream, self.tracebacks = stream, 0

    def write(self, text: str) -> int:
        self.tracebacks += text.count("Traceback (most recent call last)")
        return self._stream.write(text)

    def flush(self) -> None:
        self._stream.flush()


class Session:
    """One run: what was checked, and the running case."""

    def __init__(self, pictures: Path | None = None):
        self.failed: list[str] = []
        self.pictures = pictures
        self.case = ""
        self.updates = 0
        sys.stderr = self._errors = _Listener(sys.stderr)
        bpy.app.handlers.depsgraph_update_post.append(self._count)

    def _count(self, *_args) -> None:
        self.updates += 1

    _count._bpy_persistent = None

    def check(self, name: str, is_right, told: object = "") -> bool:
        """Print one line, and remember a failure."""
        line = f"{'ok    ' if is_right else 'FAILED'} {self.case}: {name}{f'  ({told})' if told != '' else ''}"
        print(line, flush=True)
        if not is_right:
            self.failed.append(line)
        return bool(is_right)

    def quiet(self, name: str):
        """Nothing happens for a second in which nobody does anything, and no error was printed."""
        yield 0.15
        before = self.updates
        yield 1.0
        self.check(f"{name}: at rest", self.updates - before <= 2, f"{self.updates - before} updates in a second")
        self.no_errors(name)

    def no_errors(self, name: str) -> None:
        found, self._errors.tracebacks = self._errors.tracebacks, 0
        if found:
            self.check(f"{name}: no traceback", False, found)

    def require_right(self) -> None:
        """End the program, with an exit code, where a check failed."""
        if self.failed:
            print(f"{len(self.failed)} failed:", *self.failed, sep="\n", flush=True)
            os._exit(1)

    def picture(self, name: str):
        """Of the whole window, where the command line asks for pictures."""
        if self.pictures is None:
            return
        viewport().spaces.active.show_region_ui = True
        yield 0.3
        sidebar = next(region for region in viewport().regions if region.type == "UI")
        sidebar.active_panel_category = "Motion Loom"
        yield 0.3
        save_window(self.pictures / f"{name}.png")

    def run(self, cases, names: list[str], at_end) -> None:
        """Run cases (all, or those named) one after the other, and at_end when all are through."""
        chosen = [case for case in cases if not names or case.__name__ in names]
        unknown = set(names) - {case.__name__ for case in cases}
        if unknown:
            print(f"There is no case {', '.join(sorted(unknown))}; there are {', '.join(c.__name__ for c in cases)}.")
            os._exit(2)
        steps = self._all(chosen, at_end)
        bpy.app.timers.register(lambda: self._resume(steps), first_interval=1.0, persistent=True)

    def _all(self, cases, at_end):
        for case in cases:
            self.case = case.__name__
            try:
                yield from case(self)
            except Exception:
                traceback.print_exc(file=sys.stdout)
                self.check("ran to its end", False)
            self.no_errors("in all")
        yield from at_end(self)

    def _resume(self, steps) -> float | None:
        area = viewport()
        try:
            with bpy.context.temp_override(window=window(), area=area, region=canvas(area)):
                wanted = next(steps)
        except StopIteration:
            return None
        if isinstance(wanted, Open):
            bpy.ops.wm.open_mainfile(filepath=str(FOLDER / wanted.name), load_ui=False)
            return 0.3
        return wanted


def start(cases, prepare, at_end, buttons: dict[str, tuple[str, dict]]) -> None:
    """Once the program is up: enable this checkout, prepare, and run the cases that the command line names.

    The first case comes always: it leaves what the others begin with.  buttons: see ``enable``.
    """

    def begin() -> None:
        names = sys.argv[sys.argv.index("--") + 2 :]
        pictures = None
        if "--pictures" in names:
            place = names.index("--pictures")
            pictures = Path(names[place + 1])
            pictures.mkdir(parents=True, exist_ok=True)
            del names[place : place + 2]
        first = cases[0].__name__
        if names and first not in names:
            names = [first, *names]
        try:
            enable(buttons)
            prepare()
            Session(pictures).run(cases, names, at_end)
        except BaseException:
            traceback.print_exc()
            os._exit(1)

    bpy.app.timers.register(begin, first_interval=1.0)


def window():
    return bpy.context.window_manager.windows[0]


def viewport():
    return next(area for area in window().screen.areas if area.type == "VIEW_3D")


def canvas(area):
    return next(region for region in area.regions if region.type == "WINDOW")


def middle() -> tuple[int, int]:
    """The middle of the viewport, in pixels of the window."""
    region = canvas(viewport())
    return region.x + region.width // 2, region.y + region.height // 2


def only_one_window():
    """Close all windows but the first."""
    yield 0.2
    while len(bpy.context.window_manager.windows) > 1:
        other = bpy.context.window_manager.windows[-1]
        with bpy.context.temp_override(window=other):
            bpy.ops.wm.window_close()
        yield 0.2


def clear() -> None:
    """Remove all objects."""
    for ob in list(bpy.data.objects):
        bpy.data.objects.remove(ob)


def choose(ob) -> None:
    """Make an object the only selected one, and active."""
    for other in bpy.context.view_layer.objects:
        other.select_set(other == ob)
    bpy.context.view_layer.objects.active = ob


def seen(ob, graph=None) -> np.ndarray:
    """(V, 3) world vertices of an object as they are on the screen."""
    return world_positions(ob, graph or bpy.context.view_layer.depsgraph)


def gap(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.abs(one - other).max())


def press(key: str, at: tuple[int, int] | None = None, unicode: str = "", **held):
    """Press and let go a key or mouse button in the viewport. unicode: what it types.  held: ctrl, shift, alt."""
    x, y = at or middle()
    window().event_simulate(type="MOUSEMOVE", value="NOTHING", x=x, y=y)
    yield _EVENT / 2
    window().event_simulate(type=key, value="PRESS", x=x, y=y, unicode=unicode, **held)
    yield _EVENT / 2
    window().event_simulate(type=key, value="RELEASE", x=x, y=y, **held)
    yield _EVENT


def move_mouse(x: int, y: int):
    window().event_simulate(type="MOUSEMOVE", value="NOTHING", x=x, y=y)
    yield _EVENT


def drag(*places: tuple[int, int], let_go: bool = True):
    """Press the left button at the first place, move over the others, let go at the last, in pixels of the window."""
    yield from move_mouse(*places[0])
    window().event_simulate(type="LEFTMOUSE", value="PRESS", **dict(zip("xy", places[0], strict=True)))
    yield _EVENT
    for place in places[1:]:
        yield from move_mouse(*place)
    if let_go:
        window().event_simulate(type="LEFTMOUSE", value="RELEASE", **dict(zip("xy", places[-1], strict=True)))
        yield _EVENT


def until(is_so, seconds: float = _LONG):
    """Wait until something is so; returns whether it became so in time."""
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            return False
        yield 0.03
    return True


def press_until(key: str, is_so, seconds: float = _LONG):
    """Press a button, and wait until what it begins is done; returns whether it became so in time."""
    yield from press(key)
    return (yield from until(is_so, seconds))


def tap(*keys: str) -> None:
    """Keys at once, one after the other: some steps take hardly longer than a key."""
    at = dict(zip("xy", middle(), strict=True))
    for key in keys:
        for value in ("PRESS", "RELEASE"):
            window().event_simulate(type=key, value=value, **at)


def typed(amount: str):
    """A number, and Enter."""
    for letter in amount:
        yield from press(_DIGITS[letter], unicode=letter)
    yield from press("RET")
    yield 0.1


_NUMBERS = "ZERO", "ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE"
_DIGITS = {".": "PERIOD", "-": "MINUS"} | {str(number): name for number, name in enumerate(_NUMBERS)}


def push_undo(message: str) -> None:
    bpy.ops.ed.undo_push(message=message)


def show(frame: float) -> None:
    bpy.context.scene.frame_set(frame)


def save(name: str, **options) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=str(FOLDER / name), **options)


def redraw() -> None:
    bpy.ops.wm.redraw_timer(type="DRAW_WIN", iterations=1)


def played(session: Session, look) -> set[float]:
    """The frames that are seen while the timeline plays, and look(frame) at each anew, until there are sixteen."""
    frames: set[float] = set()
    bpy.ops.screen.animation_play()
    end = time.monotonic() + 30.0
    while time.monotonic() < end and len(frames) < 16:
        frame = bpy.context.scene.frame_current_final
        if frame not in frames:
            frames.add(frame)
            look(len(frames))
        yield 0.02
    session.check("it plays", len(frames) == 16, f"{len(frames)} frames seen")
    return frames


def switch_off_and_on(session: Session, workflow: str, buttons: dict, meanwhile):
    """The extension is disabled, something is done meanwhile, and it is enabled again."""
    tools = importlib.import_module("addon_utils")
    tools.disable(PACKAGE)
    yield 0.3
    session.check("it is off", not hasattr(bpy.types.Object, f"motion_loom_{workflow}"))
    yield from meanwhile()
    tools.enable(PACKAGE, default_set=True)
    add_buttons(buttons)


def make_camera(name: str) -> bpy.types.Scene:
    """A small picture of the scene, which is returned, to be rendered to files of a name."""
    scene = bpy.context.scene
    scene.render.resolution_x = scene.render.resolution_y = 64
    scene.render.filepath = str(FOLDER / name)
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location, camera.rotation_euler = (4, -12, 1), (1.5, 0, 0)
    scene.collection.objects.link(camera)
    scene.camera = camera
    return scene


def undo():
    yield from press("Z", ctrl=True)
    yield 0.1


def redo():
    yield from press("Z", ctrl=True, shift=True)
    yield 0.1
