"""Cases of Adapt live: other objects take the place of the floor, one and then three."""

import bpy
import driving as ui
import live_modes
import live_script as adapt
from driving import Session

REPLACE = "F19"
BUTTONS = adapt.BUTTONS | {REPLACE: ("adapt_replace_by_objects", {})}
FLOOR = "Floor"


def replaced(session: Session):
    """A ramp in place of the floor, dragged, undone and opened again."""
    yield from adapt.went_live(session)
    _slab("Ramp", (-1.6, 9.6), lambda x: 0.05 * x)
    ui.push_undo("made")
    yield from _replace("Ramp")
    yield from adapt.settled(session, "on a ramp")
    yield from session.picture("replaced")
    for frame in (20, adapt.FRAME, 140):
        ui.show(frame)
        yield from adapt.settled(session, f"frame {frame}")
    session.check("the body is higher", adapt.off_source() > 0.05, adapt.off_source())
    yield from adapt.then(
        session,
        (lambda: adapt.grab("Ramp", "Z", "0.1"), "dragged"),
        (ui.undo, "drag undone"),
        (ui.redo, "drag redone"),
        (ui.undo, "drag undone again"),
        (ui.undo, "back on the floor"),
    )
    session.check("nothing replaces it", not _entry().replacements and adapt.off_source() < adapt.EXACT)
    yield from adapt.then(session, (ui.redo, "replaced again"))
    there = adapt.shown()
    ui.save("ramp.blend")
    yield from adapt.opened("ramp.blend")
    yield from adapt.settled(session, "opened")
    session.check("as it was", ui.gap(adapt.shown(), there) < adapt.EXACT, ui.gap(adapt.shown(), there))


def replaced_by_several(session: Session):
    """Three blocks, of which one is dragged and one deleted; the floor is hidden."""
    yield from adapt.went_live(session)
    blocks = [_slab(f"Block {n}", (4.0 * n - 3.0, 4.0 * n + 1.0), lambda x, top=0.1 * n: top) for n in range(3)]
    ui.push_undo("made")
    yield from _replace(*(block.name for block in blocks))
    yield from adapt.settled(session, "on blocks")
    found = [each.target for each in _entry().replacements]
    session.check("three of them", found == blocks, [ob.name for ob in found])
    yield from adapt.then(session, (lambda: adapt.grab("Block 1", "Z", "0.05"), "one dragged"), (ui.undo, "undone"))
    yield from session.picture("replaced_by_several")
    bpy.data.objects[FLOOR].hide_viewport = True
    yield from adapt.settled(session, "the floor hidden")
    ui.choose(bpy.data.objects["Block 1"])
    bpy.ops.object.delete("EXEC_DEFAULT", True)
    yield 0.5
    session.check("one is missed by name", "'Block 1'" in (adapt.status().problem or ""), adapt.status().problem)
    yield from session.quiet("deleted")
    yield from ui.undo()
    yield from adapt.settled(session, "there again")


def _replace(*names: str):
    """Select what is there now, the rig last, and press Replace by Selected."""
    settings = adapt.settings()
    settings.active_surface = next(k for k, item in enumerate(settings.surfaces) if item.bound_name == FLOOR)
    ui.choose(adapt.rig())
    for name in names:
        bpy.data.objects[name].select_set(True)
    yield from ui.press(REPLACE)


def _entry():
    return next(item for item in adapt.settings().surfaces if item.bound_name == FLOOR)


def _slab(name: str, along: tuple[float, float], height):
    """A face across the way, from x to x."""
    corners = [(x, y, height(x)) for x in along for y in (-1.6, 1.6)]
    data = bpy.data.meshes.new(name)
    data.from_pydata(corners, [], [(0, 2, 3, 1)])
    ob = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(ob)
    return ob


CASES = *live_modes.CASES, replaced, replaced_by_several
RUN = CASES, adapt.make_scene, live_modes.finish, BUTTONS
