"""How often meshes were edited, so that what is slow to read of them, like weights, is read again only where it may
have changed.

Another frame counts as an edit where it evaluates a mesh without its shape keys: those that are animated evaluate it
every time, and frames change no weights.
"""

from __future__ import annotations

import bpy

_edits: dict[int, int] = {}  # by session_uid of the meshes asked about
_undone = [0]


def mark(mesh: bpy.types.Mesh) -> tuple[int, int, int]:
    """The same numbers for as long as nobody has edited the mesh, as far as Blender has evaluated it since."""
    return mesh.session_uid, _edits.setdefault(mesh.session_uid, 0), _undone[0]


def note(depsgraph: bpy.types.Depsgraph, is_playback: bool) -> None:
    """Count what was evaluated; to be called by handlers of edits and of frames."""
    if not _edits:
        return
    for update in depsgraph.updates:
        if update.is_updated_geometry and isinstance(update.id, bpy.types.Mesh):
            mesh = update.id.original
            if mesh.session_uid in _edits and not (is_playback and mesh.shape_keys is not None):
                _edits[mesh.session_uid] += 1


def note_undo() -> None:
    """Undo, or another file: any mesh may be another one."""
    _edits.clear()
    _undone[0] += 1
