"""Cases of Transfer in its picture: Edit Path with the mouse, and what is drawn over the viewport."""

import bpy
import driving as ui
import transfer_cases as cases
from driving import Session
from transfer_cases import EDIT, LIVE, SCRIPT, copy, opened, pairs, settings


def path(session: Session):
    """Edit Path: pairs are dragged, added and removed in the picture, kept or put back; all of it is one step back."""
    yield from opened("paired.blend")
    before = pairs()
    yield from ui.press(EDIT)
    yield from session.picture("8_path")
    yield from ui.drag(_at(18, 17), _at(19, 18), _at(20, 20))
    session.check("a pair is dragged", pairs() == [*before[:2], (20, 20), *before[3:]], pairs())
    yield from ui.drag(_at(13, 12), _at(14, 13))
    session.check("a pair is added by dragging", (14, 13) in pairs() and len(pairs()) == 7, pairs())
    yield from ui.drag(_at(14, 13), _at(30, 50))
    session.check("none passes another", pairs()[2] == (19, 19), pairs())
    yield from ui.press("X", at=_at(19, 19))
    session.check("X removes", len(pairs()) == 6, pairs())
    yield from ui.press("X", at=_at(23, 5))
    session.check("X beside the pairs does nothing", len(pairs()) == 6)
    yield from ui.press("RET")
    yield 0.1
    now = pairs()
    session.check("Enter keeps", now == [*before[:2], (20, 20), *before[3:]], now)
    yield from ui.press("X", at=_at(20, 20))
    session.check("it has ended", pairs() == now)
    yield from ui.press("ESC")  # the menu that X asked with
    yield from ui.undo()
    session.check("undone in one step", pairs() == before, pairs())
    yield from ui.redo()
    session.check("redone", pairs() == now, pairs())
    yield from session.quiet("kept")
    for end in ("ESC", "RIGHTMOUSE"):
        yield from ui.press(EDIT)
        yield from ui.drag(_at(27, _answer(27)), _at(29, 30))
        yield from ui.press("X", at=_at(9, _answer(9)))
        session.check(f"{end}: changed", pairs() != now and len(pairs()) == 5, pairs())
        yield from ui.press(end)
        session.check(f"{end}: as before", pairs() == now, pairs())
    yield from ui.press(EDIT)
    yield from ui.drag(_at(27, _answer(27)), _at(29, 30), let_go=False)
    yield from ui.press("ESC")
    session.check("Esc while it is held: as before", pairs() == now, pairs())
    yield from ui.undo()
    session.check("what was given up is no step", pairs() == before, pairs())


def _answer(frame: float) -> float:
    return dict(pairs())[frame]


def _at(source: float, target: float) -> tuple[int, int]:
    """Where in the window two frames, 1 to 40, are in the picture."""
    left, bottom, width, height = ui.part("workflows.transfer.overlay").PLACE
    area = ui.viewport()
    region = ui.canvas(area)
    start, free = ui.part("workflows.core.overlay").free_width(area, region)
    side = min(free, region.height)
    x = region.x + start + side * (left + width * (source - 1) / 39)
    return round(x), round(region.y + side * (bottom + height * (target - 1) / 39))


def overlays(session: Session):
    """Drawn for the target and its live copy, and made once a frame."""
    yield from opened("trained.blend")
    shown, workflow = [], ui.part("workflows.core.registry").by_id("transfer")
    of = workflow.overlay

    def noted(*arguments):
        shown.append(of(*arguments))
        return shown[-1]

    workflow.overlay = noted
    for frame in range(1, 31):
        ui.show(frame)
        for _ in range(2):
            ui.redraw()
        yield 0.02
    session.check("made once a frame", len(shown) == 30, len(shown))
    session.check("poses and path", all(len(each.triangles) and len(each.screen_triangles) for each in shown))
    yield from ui.press_until(LIVE, lambda: settings().live)
    yield 0.3
    session.check("drawn for the live copy", bpy.context.object == copy() and len(shown[-1].screen_triangles))
    problem = ui.part("state.overlay_problems").problem_of("transfer", copy())
    session.check("nothing is wrong with it", problem is None, problem or "")
    workflow.overlay = of


RUN = (
    (
        cases.buttons, cases.escape, path, overlays, cases.undone, SCRIPT.playback, cases.bakes, cases.edits,
        SCRIPT.saving, SCRIPT.disabled,
    ),
    cases.make_file, SCRIPT.finish, cases.BUTTONS,
)  # fmt: skip
