"""How often meshes were edited, so that what is slow to read of them, like weights, is read again only where it may
have changed.

Another frame counts as an edit where it evaluates a mesh without its shape keys: those that are animated evaluate it
every time, and frames change no weights.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import bpy


@dataclass
class _MeshEdits:
    """counts: of edits, by ``session_uid`` of the meshes asked about.  undone: how often all may have changed."""

    counts: dict[int, int] = field(default_factory=dict)
    undone: int = 0


_edits = _MeshEdits()


def mark(mesh: bpy.types.Mesh) -> tuple[int, int, int]:
    """The same numbers for as long as nobody has edited the mesh, as far as Blender has evaluated it since."""
    return mesh.session_uid, _edits.counts.setdefault(mesh.session_uid, 0), _edits.undone


def note(depsgraph: bpy.types.Depsgraph, is_playback: bool) -> None:
    """Count what was evaluated; to be called by handlers of edits and of frames."""
    if not _edits.counts:
        return
    for update in depsgraph.updates:
        if update.is_updated_geometry and isinstance(update.id, bpy.types.Mesh):
            mesh = update.id.original
            if mesh.session_uid in _edits.counts and not (is_playback and mesh.shape_keys is not None):
                _edits.counts[mesh.session_uid] += 1


def note_undo() -> None:
    """Undo, or another file: any mesh may be another one."""
    _edits.counts.clear()
    _edits.undone += 1
