"""The file as it was before a block: what the block made is removed and what it changed put back, whatever is raised.

Such a block runs in one go, so that nothing else makes datablocks meanwhile. What it discards is removed at its end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import bpy

from . import actions
from .discarding import put_off
from .playback import handle_of, slot_of
from .sampling import Channels
from .session import exists

_MADE = ("objects", "meshes", "node_groups", "armatures", "shape_keys", "actions", "images", "collections")
_SETTINGS = "motion_loom_"
_VISIBILITY = ("hide_viewport", "hide_render")


@contextmanager
def restored_after_error(*owners: bpy.types.Object, rewritten: Sequence[bpy.types.Action] = ()) -> Iterator[None]:
    """A block that makes datablocks and changes objects.

    owners: objects whose animation, pose, visibility and settings of the extension are put back.
    rewritten: actions whose curves are put back too, a copy of which is made for it.
    """
    there = {kind: _uids(kind) for kind in _MADE}
    kept = {action: action.use_fake_user for action in bpy.data.actions}
    states = [_State(owner) for owner in owners]
    copies = {action: action.copy() for action in rewritten if action is not None}
    try:
        with put_off():
            yield
    except BaseException:
        for action, copy in copies.items():
            _take_curves(action, copy)
        for state in states:
            state.put_back()
        for action, is_kept in kept.items():
            if exists(action):
                action.use_fake_user = is_kept
        bpy.data.batch_remove([each for kind in _MADE for each in _made_since(kind, there[kind])])
        raise
    bpy.data.batch_remove(copies.values())


class _State:
    """What an object plays, its pose, whether it is seen, and its settings."""

    def __init__(self, owner: bpy.types.Object):
        self.owner = owner
        self.channels = Channels.now(owner)
        self.settings = {name: _values(getattr(owner, name)) for name in _settings_of(owner)}
        self.visibility = {name: getattr(owner, name) for name in _VISIBILITY}
        data = owner.animation_data
        self.has_animation = data is not None
        self.action = data and data.action
        self.handle = handle_of(data.action_slot) if data is not None and actions.HAS_SLOTS else 0
        self.tracks = {track.as_pointer() for track in data.nla_tracks} if data is not None else set()

    def put_back(self) -> None:
        for name, values in self.settings.items():
            _put(getattr(self.owner, name), values)
        for name, value in self.visibility.items():
            if getattr(self.owner, name) != value:
                setattr(self.owner, name, value)
        self._play_again()
        self.channels.put_back(self.owner)
        self.owner.update_tag(refresh={"OBJECT", "DATA", "TIME"})

    def _play_again(self) -> None:
        data = self.owner.animation_data
        if data is None:
            return
        if not self.has_animation:
            self.owner.animation_data_clear()
            return
        for track in [track for track in data.nla_tracks if track.as_pointer() not in self.tracks]:
            data.nla_tracks.remove(track)
        if self.action is not None and not exists(self.action):
            return
        if data.action != self.action:
            data.action = self.action
        if actions.HAS_SLOTS and self.action is not None and handle_of(data.action_slot) != self.handle:
            data.action_slot = slot_of(self.action, self.handle) if self.handle else None


def _uids(kind: str) -> set[int]:
    return {each.session_uid for each in getattr(bpy.data, kind)}


def _made_since(kind: str, there: set[int]) -> list[bpy.types.ID]:
    return [each for each in getattr(bpy.data, kind) if each.session_uid not in there]


def _take_curves(action: bpy.types.Action, copy: bpy.types.Action) -> None:
    """Give an action the curves and settings of a copy of it."""
    for slot in copy.slots if actions.HAS_SLOTS else (None,):
        own = slot and slot_of(action, slot.handle)
        holder = actions.curve_list(action, own, create=True)
        wanted = {(curve.data_path, curve.array_index): curve for curve in actions.all_curves(copy, slot)}
        for curve in [each for each in holder.fcurves if (each.data_path, each.array_index) not in wanted]:
            holder.fcurves.remove(curve)
        for curve in wanted.values():
            actions.copy_curve(holder, curve)
    for name in _settings_of(action):
        _put(getattr(action, name), _values(getattr(copy, name)))


def _settings_of(owner: bpy.types.ID) -> list[str]:
    return [prop.identifier for prop in owner.bl_rna.properties if prop.identifier.startswith(_SETTINGS)]


def _values(group: bpy.types.PropertyGroup) -> dict[str, Any]:
    """All that a group of settings holds, groups and lists in it included, by name."""
    found = {}
    for prop in group.bl_rna.properties:
        if prop.identifier == "rna_type":
            continue
        value = getattr(group, prop.identifier)
        if prop.type == "COLLECTION":
            found[prop.identifier] = [_values(item) for item in value]
        elif isinstance(value, bpy.types.PropertyGroup):
            found[prop.identifier] = _values(value)
        elif not prop.is_readonly:
            found[prop.identifier] = value
    return found


def _put(group: bpy.types.PropertyGroup, values: dict[str, Any]) -> None:
    """Give a group of settings what ``_values`` found."""
    for name, value in values.items():
        now = getattr(group, name)
        if isinstance(value, dict):
            _put(now, value)
        elif isinstance(value, list):
            _put_list(now, value)
        elif isinstance(value, bpy.types.ID) and not exists(value):
            continue
        elif now != value:
            setattr(group, name, value)


def _put_list(items, values: list[dict[str, Any]]) -> None:
    if len(items) != len(values):
        items.clear()
        for _ in values:
            items.add()
    for item, wanted in zip(items, values, strict=True):
        _put(item, wanted)
