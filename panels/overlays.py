"""Draws the workflows' overlays in the 3D viewport: of the active object and the other selected ones."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import blf
import bpy
import gpu
from bpy.app.handlers import persistent
from gpu_extras.batch import batch_for_shader
from mathutils import Matrix

from ..solvers.core.errors import MotionLoomError
from ..state import overlay_problems
from ..workflows.core import overlay as overlays
from ..workflows.core import registry

_MODES = {"OBJECT", "POSE"}
_POINT, _RIM, _LINE = 6.0, 2.0, 1.6  # pixels
_DARK = (0.05, 0.05, 0.06, 0.6)
_GROUND = (0.05, 0.05, 0.06, 0.75)
_LETTERS, _GAP = 11.0, 10.0  # points, and pixels between the parts of a line of text
_LEAST = 120  # pixels between toolbar and sidebar, less of which leave no place for anything
# What lies behind a surface is still hinted at, that much less opaque.
_BEHIND = 0.35
# Points are drawn nearer to the eye by this share of their distance, so that surfaces do not cut through them.
_NEARER = 0.006


@dataclass
class _Drawn:
    """An overlay, the state it was made for, and its batches; nothing here refers to Blender's data."""

    state: tuple
    overlay: overlays.Overlay | None
    batches: dict[str, tuple] = field(default_factory=dict)
    screen_place: tuple[float, float, float] | None = None  # what the last of these was made for
    screen: list[tuple] = field(default_factory=list)


@dataclass
class _Session:
    """What is kept between redraws. handles: of what is called then.  changes: counts what may have changed an overlay.
    drawn: what was shown last, by workflow and ``session_uid`` of the object."""

    handles: tuple = ()
    changes: int = 0
    drawn: dict[tuple[str, int], _Drawn] = field(default_factory=dict)


session = _Session()


@persistent
def _note_change(*_args) -> None:
    session.changes += 1


@persistent
def _forget(*_args) -> None:
    session.drawn.clear()
    overlay_problems.clear()


def _handlers():
    calls = bpy.app.handlers
    for name in ("depsgraph_update_post", "frame_change_post", "undo_post", "redo_post"):
        yield getattr(calls, name), _note_change
    yield calls.load_post, _forget


def register() -> None:
    """Begin to draw; nothing happens in background, nor the second time."""
    if bpy.app.background or session.handles:
        return
    for calls, handler in _handlers():
        calls.append(handler)
    add = bpy.types.SpaceView3D.draw_handler_add
    # Blender draws the scene first, then what lies over the region.
    session.handles = add(_draw, (), "WINDOW", "POST_VIEW"), add(_draw_over, (), "WINDOW", "POST_PIXEL")


def unregister() -> None:
    """Leave nothing in the viewports, and nothing on the GPU."""
    if not session.handles:
        return
    for handle in session.handles:
        bpy.types.SpaceView3D.draw_handler_remove(handle, "WINDOW")
    session.handles = ()
    for calls, handler in _handlers():
        if handler in calls:
            calls.remove(handler)
    _forget()
    _redraw()


def _redraw() -> None:
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


def _draw() -> None:
    _draw_all(_draw_one)


def _draw_over() -> None:
    _draw_all(_draw_screen)


def _draw_all(draw_one) -> None:
    context = bpy.context
    space = context.space_data
    if not space.overlay.show_overlays or context.mode not in _MODES:
        return
    shown = {}
    for ob in _chosen(context, space):
        for workflow in registry.registered():
            _attempt(context, workflow, ob, shown, draw_one)
    # Another viewport may show other objects.
    kept = {key: drawn for key, drawn in session.drawn.items() if drawn.state[0] == session.changes}
    session.drawn = kept | shown


def _chosen(context, space) -> list[bpy.types.Object]:
    """The active object and the selected ones, as far as this viewport shows them."""
    objects = dict.fromkeys([context.object, *context.selected_objects])
    return [ob for ob in objects if ob is not None and ob.visible_get(view_layer=context.view_layer, viewport=space)]


def _attempt(context, workflow, ob, shown, draw_one) -> None:
    """Draw a workflow's overlay of one object. An error is said once and ends that overlay, not those of the others."""
    if overlay_problems.has_failed(workflow.id, ob):
        return
    try:
        drawn = shown[workflow.id, ob.session_uid] = _current(context, workflow, ob)
        if drawn.overlay is not None:
            with _state_restored():
                draw_one(drawn)
    except Exception as error:  # whatever it is, raised again at every redraw it would flood the console
        traceback.print_exc()
        reason = f"The overlay is switched off: {type(error).__name__}: {error}"
        overlay_problems.note(workflow.id, ob, reason, for_good=True)


def _current(context, workflow, ob) -> _Drawn:
    """What was drawn last if nothing has changed since, else what is to be drawn now."""
    layer, bone = context.view_layer, context.active_pose_bone
    state = (session.changes, context.scene.session_uid, layer.name, context.mode, bone.name if bone else "")
    before = session.drawn.get((workflow.id, ob.session_uid))
    if before is not None and before.state == state:
        return before
    try:
        found, problem = workflow.overlay(context, ob), None
    except MotionLoomError as error:
        found, problem = None, str(error)
    overlay_problems.note(workflow.id, ob, problem)
    return _Drawn(state, found)


@contextmanager
def _state_restored() -> Iterator[None]:
    depth, mask, blend = gpu.state.depth_test_get(), gpu.state.depth_mask_get(), gpu.state.blend_get()
    width = gpu.state.line_width_get()
    gpu.state.depth_mask_set(False)
    gpu.state.blend_set("ALPHA")
    try:
        yield
    finally:
        gpu.state.depth_test_set(depth)
        gpu.state.depth_mask_set(mask)
        gpu.state.blend_set(blend)
        gpu.state.line_width_set(width)
        gpu.state.point_size_set(1.0)


def _draw_one(drawn: _Drawn) -> None:
    made = drawn.overlay
    if not drawn.batches:
        drawn.batches = _batches(made)
    for test, part in (("GREATER", "behind"), ("LESS_EQUAL", "before")):
        gpu.state.depth_test_set(test)
        for kind in ("triangles", "lines"):
            if f"{kind} {part}" in drawn.batches:
                shader, batch = drawn.batches[f"{kind} {part}"]
                shader.bind()
                if kind == "lines":
                    shader.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
                    shader.uniform_float("lineWidth", _LINE * _pixel())
                batch.draw(shader)
    if "points" in drawn.batches:
        _draw_points(*drawn.batches["rims"], *drawn.batches["points"])


def _draw_screen(drawn: _Drawn) -> None:
    made = drawn.overlay
    left, width = overlays.free_width(bpy.context.area, bpy.context.region)
    if width < _LEAST:
        return
    end = left + width
    width, height = overlays.screen_sides(width, bpy.context.region.height, made.is_square)
    gpu.state.depth_test_set("NONE")
    if drawn.screen_place != (left, width, height):
        drawn.screen_place, drawn.screen = (left, width, height), _screen_batches(made, left, width, height)
    for kind, shader, batch in drawn.screen:
        shader.bind()
        if kind == "LINES":
            shader.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
            shader.uniform_float("lineWidth", _LINE * _pixel())
        batch.draw(shader)
    for line in made.screen_texts:
        _draw_text(line, left + line.x * width, line.y * height, end)


def _screen_batches(made: overlays.Overlay, left: float, width: float, height: float) -> list[tuple]:
    """Primitive, shader and batch of what lies over a region, in pixels of the region as large as it is now."""
    out = []
    for kind, name, places, colours in (
        ("TRIS", "SMOOTH_COLOR", made.screen_triangles, made.screen_triangle_colours),
        ("LINES", "POLYLINE_SMOOTH_COLOR", made.screen_lines, made.screen_line_colours),
    ):
        if len(places):
            shader = gpu.shader.from_builtin(name)
            pixels = overlays.in_pixels(places, left, width, height)
            content = {"pos": pixels, "color": colours.reshape(-1, 4)}
            out.append((kind, shader, batch_for_shader(shader, kind, content)))
    return out


def _draw_text(line: overlays.TextLine, x: float, y: float, end: float) -> None:
    """Words one after the other, on dark ground: the viewport may be light. What would pass the end is left out."""
    scale = bpy.context.preferences.system.ui_scale
    blf.size(0, _LETTERS * scale)
    gap, height = _GAP * scale, blf.dimensions(0, "A")[1]
    places, past = [], x
    for text, colour in line.words:
        length = blf.dimensions(0, text)[0]
        if past + length > end:
            break
        places.append((past, text, colour))
        past += length + gap
    if places:
        _draw_ground(x - gap, y - 0.6 * gap, past, y + height + 0.6 * gap)
    for place, text, colour in places:
        blf.position(0, place, y, 0.0)
        blf.color(0, *colour)
        blf.draw(0, text)


def _draw_ground(left: float, bottom: float, right: float, top: float) -> None:
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    corners = [(left, bottom, 0.0), (right, bottom, 0.0), (left, top, 0.0), (right, top, 0.0)]
    shader.bind()
    shader.uniform_float("color", _GROUND)
    batch_for_shader(shader, "TRI_STRIP", {"pos": corners}).draw(shader)


def _draw_points(rim_shader, rims, shader, batch) -> None:
    with gpu.matrix.push_pop():
        gpu.matrix.load_matrix(_towards_eye() @ gpu.matrix.get_model_view_matrix())
        rim_shader.bind()
        rim_shader.uniform_float("color", _DARK)
        gpu.state.point_size_set((_POINT + _RIM) * _pixel())
        rims.draw(rim_shader)
        gpu.state.point_size_set(_POINT * _pixel())
        batch.draw(shader)


def _towards_eye() -> Matrix:
    """In view space; changes depths alone: a perspective view is shrunk about the eye, another moved towards it."""
    region = bpy.context.region_data
    if region.is_perspective:
        return Matrix.Diagonal((1.0 - _NEARER,) * 3).to_4x4()
    return Matrix.Translation((0.0, 0.0, _NEARER * region.view_distance))


def _pixel() -> float:
    return bpy.context.preferences.system.pixel_size


def _batches(made: overlays.Overlay) -> dict[str, tuple]:
    out = {}
    sorts = (
        ("triangles", "TRIS", "SMOOTH_COLOR", made.triangles, made.triangle_colours),
        ("lines", "LINES", "POLYLINE_SMOOTH_COLOR", made.lines, made.line_colours),
    )
    for kind, primitive, name, places, colours in sorts:
        if len(places):
            shader = gpu.shader.from_builtin(name)
            places, colours = places.reshape(-1, 3), colours.reshape(-1, 4)
            faint = colours.copy()
            faint[:, 3] *= _BEHIND
            for part, shades in (("before", colours), ("behind", faint)):
                out[f"{kind} {part}"] = shader, batch_for_shader(shader, primitive, {"pos": places, "color": shades})
    if len(made.points):
        shader, plain = _point_shader("FLAT_COLOR"), _point_shader("UNIFORM_COLOR")
        content = {"pos": made.points, "color": made.point_colours}
        out["points"] = shader, batch_for_shader(shader, "POINTS", content)
        out["rims"] = plain, batch_for_shader(plain, "POINTS", {"pos": made.points})
    return out


def _point_shader(name: str):
    """The shader that draws points in their size: on 4.5 and later others leave it to chance on Vulkan and Metal."""
    return gpu.shader.from_builtin(f"POINT_{name}" if bpy.app.version >= (4, 5, 0) else name)
