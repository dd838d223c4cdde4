"""Cases of Adapt live: its buttons, undo and redo across them, dragging, playing, a set that deforms."""

import time

import bpy
import driving as ui
import live_script as adapt
from driving import Session


def bind(session: Session):
    """Bind, cancelled with Esc and then not; the file is kept for the others."""
    yield from adapt.opened()
    adapt.note_source()
    yield from adapt.button(adapt.BIND)
    yield from ui.press("ESC")
    yield 0.2
    session.check("Esc leaves it unbound", adapt.settings().binding is None)
    yield from adapt.button(adapt.BIND, lambda: adapt.settings().binding is not None)
    session.check("bound", adapt.settings().binding is not None, adapt.settings().summary)
    yield 0.3
    ui.save("bound.blend")
    yield 0.2


def bound_again(session: Session):
    """Bind Again while live asks for what has moved; Update Binding does not, and keeps it moved."""
    yield from adapt.went_live(session)
    yield from adapt.grab(adapt.STEP, "Z", "0.12")
    yield from adapt.settled(session, "lifted")
    first = adapt.settings().binding.name
    yield from adapt.button(adapt.BIND)
    yield 0.5
    yield from session.picture("bound_again")
    yield from ui.press("ESC")
    yield 0.5
    session.check("the question, cancelled, leaves what is bound", adapt.settings().binding.name == first)
    bpy.ops.object.select_all(action="DESELECT")
    bpy.data.objects.remove(bpy.data.objects["Slab low"])
    yield 0.3
    session.check("one button mends it", adapt.status().remedy == "UPDATE", adapt.status().problem)
    yield from session.picture("updated")
    yield from adapt.button(adapt.UPDATE, lambda: adapt.settings().binding.name != first)
    yield from adapt.settled(session, "updated")
    updated, second = adapt.shown(), adapt.settings().binding.name
    session.check("the step is still adapted to", adapt.off_source() > 0.1, adapt.off_source())
    yield from adapt.button(adapt.BIND)
    yield 0.5
    yield from ui.press("RET")
    yield from ui.until(lambda: adapt.settings().binding.name not in (first, second))
    yield from adapt.settled(session, "bound to the set as it is")
    session.check("what is, is the original", adapt.off_source() < adapt.EXACT)
    yield from ui.undo()
    yield from adapt.settled(session, "undone")
    session.check("one step of undo", ui.gap(adapt.shown(), updated) < adapt.EXACT, ui.gap(adapt.shown(), updated))


def on_and_off(session: Session):
    """Live on, Esc in the middle of it, on, off."""
    yield from adapt.bound()
    actions = len(bpy.data.actions)
    yield from adapt.button(adapt.LIVE)
    session.check("it is at work", not adapt.settings().live)
    yield from ui.press("ESC")
    yield 0.2
    session.check(
        "Esc changes nothing", len(bpy.data.actions) == actions and bpy.context.scene.frame_current == adapt.FRAME
    )
    yield from adapt.at_source(session, "Esc")
    yield from adapt.button(adapt.LIVE, lambda: adapt.settings().live)
    yield from adapt.settled(session, "on")
    yield from adapt.button(adapt.LIVE)
    yield from adapt.at_source(session, "off")
    session.check("nothing is left", len(bpy.data.actions) == actions, [a.name for a in bpy.data.actions])


def drag(session: Session):
    """G and the mouse: the character follows while dragging, the track comes after it."""
    yield from adapt.went_live(session)
    seen = set()
    ui.choose(adapt.step())
    x, y = ui.middle()
    yield from ui.press("G")
    before, start = adapt.shown(), adapt.step().location.z
    for number in range(1, 9):
        yield from ui.move_mouse(x, y + number)
        seen.add(adapt.track())
    lift = adapt.step().location.z - start
    session.check("the step is lifted", 0.02 < lift < 0.3, f"{lift:.3f} m")
    moved = (adapt.shown() - before)[:, 2].max()
    session.check("the figure follows while dragging", moved > 0.3 * lift, f"{moved:.3f} m, {adapt.status().ms:.1f} ms")
    distance = ui.gap(adapt.shown(), adapt.solved()[adapt.row()])
    session.check("as it will be, nearly", distance < adapt.ALONE, f"{distance:.3f} m")
    session.check("the track waits meanwhile", "WAITING" in seen, seen)
    ui.window().event_simulate(type="LEFTMOUSE", value="PRESS", x=x, y=y + 8)
    yield 0.02
    ui.window().event_simulate(type="LEFTMOUSE", value="RELEASE", x=x, y=y + 8)
    end = time.monotonic() + 30
    order = []
    while time.monotonic() < end:
        if not order or order[-1] != adapt.track():
            order.append(adapt.track())
        if order[-1] == "READY":
            break
        yield 0.01
    session.check("waiting, solving, ready", order[-2:] == ["SOLVING", "READY"], order)
    yield from adapt.settled(session, "dropped")
    for frame in (20, 77, 140):
        ui.show(frame)
        yield 0.1
        session.check(f"frame {frame}", ui.gap(adapt.shown(), adapt.solved()[adapt.row()]) < adapt.EXACT, adapt.track())
    # Esc puts it back.
    ui.choose(adapt.step())
    yield from ui.press("G")
    yield from ui.move_mouse(x, y + 60)
    yield from ui.press("ESC")
    yield from adapt.settled(session, "Esc while dragging")


def slide(name: str, value) -> None:
    """What a slider of the panel does: the property is set, and an undo step made."""
    setattr(adapt.settings(), name, value)
    ui.push_undo(name)


def _now(call):
    call()
    yield 0.1


def _ignore_floor() -> None:
    adapt.settings().surfaces[0].mode = "IGNORE"
    ui.push_undo("mode")


def _edits() -> list[tuple]:
    """The contacts that are not as Bind found them."""
    found = adapt.settings().contacts
    return [(item.bone, item.object, item.start, item.state) for item in found if item.state != "AUTO"]


def _contact_off() -> None:
    """The first contact of a toe that Bind found, as its button in the list does."""
    contacts = adapt.settings().contacts
    next(item for item in contacts if item.bone.startswith("toe")).state = "OFF"
    ui.push_undo("contact off")


def _contact_added() -> None:
    """What is off, on the other side too."""
    ui.choose(adapt.rig())
    settings = adapt.settings()
    settings.active_contact = next(k for k, item in enumerate(settings.contacts) if item.state == "OFF")
    bpy.ops.motion_loom.adapt_mirror_contact("EXEC_DEFAULT", True)


def undone(session: Session):
    """Undo and redo across every button and edit, back past the bind and forth again."""
    yield from adapt.opened()
    # What is done in a step, and whether it is live after it.
    deeds = [
        ("bind", lambda: adapt.button(adapt.BIND), False),
        ("live on", lambda: adapt.button(adapt.LIVE), True),
        ("step lifted", lambda: adapt.grab(adapt.STEP, "Z", "0.12"), True),
        ("influence", lambda: _now(lambda: slide("influence", 0.4)), True),
        ("step moved", lambda: adapt.grab(adapt.STEP, "X", "0.1"), True),
        ("influence back", lambda: _now(lambda: slide("influence", 1.0)), True),
        ("contact off", lambda: _now(_contact_off), True),
        ("contact added", lambda: _now(_contact_added), True),
        ("floor ignored", lambda: _now(_ignore_floor), True),
        ("refresh", lambda: adapt.button(adapt.REFRESH), True),
        ("live off", lambda: adapt.button(adapt.LIVE), False),
        ("live again", lambda: adapt.button(adapt.LIVE), True),
        ("baked", lambda: adapt.button(adapt.BAKE), None),
    ]
    states = []
    for name, deed, live in deeds:
        yield from deed()
        yield from _in_state(session, name, live)
        states.append((adapt.shown(), adapt.settings().live, _edits()))
    for back in range(len(deeds) - 1, 0, -1):
        yield from ui.undo()
        name, _, live = deeds[back - 1]
        yield from _in_state(session, f"undone to {name}", live)
        session.check(f"undone to {name}: pose as it was", ui.gap(adapt.shown(), states[back - 1][0]) < adapt.EXACT)
        session.check(f"undone to {name}: contacts as they were", _edits() == states[back - 1][2], _edits())
    yield from ui.undo()
    session.check("undone past the bind", adapt.settings().binding is None and not adapt.settings().live)
    yield from adapt.at_source(session, "undone past the bind")
    for forth, (name, _, live) in enumerate(deeds):
        yield from ui.redo()
        yield from _in_state(session, f"redone {name}", live)
        session.check(f"redone {name}: pose as it was", ui.gap(adapt.shown(), states[forth][0]) < adapt.EXACT)
        session.check(f"redone {name}: contacts as they were", _edits() == states[forth][2], _edits())
    # Undone quickly, before anything could be solved.
    for _ in range(6):
        yield from ui.press("Z", ctrl=True)
    yield from _in_state(session, "six quickly undone", True)
    for _ in range(3):
        yield from ui.press("Z", ctrl=True, shift=True)
    yield from _in_state(session, "three quickly redone", True)


def undone_after_rest(session: Session):
    """An edit of the rig alone is undone after the track for it was written: the curves are as the rig says."""
    yield from adapt.went_live(session)
    yield from adapt.grab(adapt.STEP, "Z", "0.12")
    yield from adapt.settled(session, "lifted")
    ui.push_undo("nothing")
    slide("influence", 0.3)
    yield from adapt.settled(session, "influence")
    for deed, name, is_so in (
        (ui.undo, "undone", lambda: adapt.settings().influence == 1.0),
        (ui.redo, "redone", lambda: adapt.settings().influence < 0.5),
    ):
        yield from deed()
        session.check(f"{name}: influence", is_so(), adapt.settings().influence)
        yield from adapt.settled(session, name)
    session.check("no keys are taken for the user's", not adapt.settings().live_action.motion_loom_adapt.keyed)
    yield from adapt.button(adapt.LIVE)
    yield from adapt.at_source(session, "off")
    yield from ui.undo()
    yield from adapt.settled(session, "off undone")


def _in_state(session, name, live):
    yield 0.2
    yield from ui.until(lambda: not ui.part("state.live_runs").live_runs.busy)
    if live:
        yield from adapt.settled(session, name)
    elif live is False:
        yield from adapt.at_source(session, name)
    else:
        session.check(f"{name}: not live", adapt.status() is None)
        session.check(f"{name}: source untouched", adapt.source_digest() == adapt.SOURCE[0])
        yield from session.quiet(name)


def playback(session: Session):
    """Playing, and the step moved meanwhile."""
    yield from adapt.went_live(session)
    yield from ui.played(session, lambda number: adapt.lift(0.1) if number == 6 else None)
    yield from ui.until(lambda: adapt.track() == "READY")
    session.check("the track was swapped in while playing", adapt.track() == "READY", adapt.track())
    bpy.ops.screen.animation_play()
    yield from adapt.settled(session, "stopped")
    ui.show(adapt.FRAME)
    yield from adapt.settled(session, "on the step")
    session.check("it is the moved step's", adapt.off_source() > 0.05)


def resume(session: Session):
    """The user assigns the source to the live rig; Resume goes on, undone and redone."""
    yield from adapt.went_live(session)
    yield from adapt.grab(adapt.STEP, "Z", "0.1")
    yield from adapt.settled(session, "lifted")
    data, source = adapt.rig().animation_data, adapt.settings().source
    data.action = source
    if bpy.app.version >= (4, 4, 0):
        data.action_slot = source.slots[0]
    ui.push_undo("assigned")
    yield 0.3
    session.check("it says so", adapt.status().problem and adapt.status().remedy == "RESUME", adapt.status())
    session.check("the source plays", adapt.off_source() < adapt.EXACT)
    yield from session.quiet("not followed")
    yield from adapt.button(adapt.RESUME, lambda: adapt.status().problem is None)
    yield from adapt.settled(session, "resumed")
    yield from ui.undo()
    session.check(
        "undone: it says so again", adapt.status().problem and adapt.status().remedy == "RESUME", adapt.status()
    )
    yield from session.quiet("undone")
    yield from ui.undo()
    yield from adapt.settled(session, "undone to lifted")
    yield from ui.redo()
    yield from ui.redo()
    yield from adapt.settled(session, "redone")
    yield from adapt.button(adapt.LIVE)
    yield from adapt.at_source(session, "off")


def refresh(session: Session):
    """An environment that deforms over time."""
    yield from adapt.went_live(session)
    key = adapt.key_of_step()
    for frame, value in ((40, 0.0), (80, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    ui.push_undo("keyed")
    ui.show(adapt.FRAME)
    yield from ui.until(lambda: adapt.track() == "SWEEP")
    session.check(
        "a refresh is offered", (adapt.track(), adapt.status().remedy) == ("SWEEP", "REFRESH"), adapt.status()
    )
    yield from adapt.settled(session, "deforming", adapt.swept)
    yield from adapt.button(adapt.REFRESH)
    session.check("it is at work", ui.part("state.live_runs").live_runs.busy)
    yield from ui.press("ESC")
    yield 0.2
    now = adapt.track(), bpy.context.scene.frame_current
    session.check("Esc leaves all as it is", now == ("SWEEP", adapt.FRAME), now)
    yield from adapt.settled(session, "Esc", adapt.swept)
    yield from adapt.button(adapt.REFRESH, lambda: adapt.track() == "READY")
    session.check(
        "refreshed", adapt.track() == "READY" and bpy.context.scene.frame_current == adapt.FRAME, adapt.status()
    )
    yield from adapt.settled(session, "refreshed", adapt.swept)
    yield from adapt.then(session, (ui.undo, "undone"), (ui.redo, "redone"), solve=adapt.swept)


CASES = bind, bound_again, on_and_off, drag, undone, undone_after_rest, playback, resume, refresh
