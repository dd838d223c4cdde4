"""What Map works with, computed once and looked up by its inputs: target, clip, the map of the pairs, and its track."""

from __future__ import annotations

import base64

import numpy as np

from ...scene import binding_store
from ...scene.frames import frame_now
from ...scene.names import named
from ...scene.point_source import JOINTS, OBJECTS, VERTICES, PointSource, from_record
from ...solvers.core.errors import InputError, StaleBindingError
from ...solvers.core.interpolation import BetweenRows
from ...solvers.mapping.pair_suggestion import confidence
from ...solvers.mapping.pose_features import LAG
from ...solvers.mapping.source_motion import SourceModel, SourceStream, SourceTrack, source_track
from ...solvers.mapping.track import MapTrack, MotionMap, map_track
from ...solvers.mapping.travel_estimators import TravelChoices
from ...state import cache
from ..command_line.settings import require_numbers
from ..core.kept import kept, kept_by, unpacked
from ..mesh.faces import require_read_mesh
from .store import LearntTarget, SourceClip, unpack_clip, unpack_target

_TRACK = "map track"
_KINDS = {"ARMATURE": JOINTS, "MESH": VERTICES}
_ESTIMATORS = {
    "AUTO": "auto", "LEARNT": "translation", "FEET": "stance", "STRIDE": "stride", "SOURCE": "source", "NONE": "stays"
}  # fmt: skip


def target_of(ob) -> LearntTarget:
    """What was learnt of a target mesh object; StaleBindingError where there is nothing, or it cannot be used."""
    missing = f"'{ob.name}' is not learnt yet; press Learn Target."
    return unpacked(ob, "map target", ob.motion_loom_map.learnt, unpack_target, missing)


def require_learnt_mesh(ob) -> None:
    """Raises StaleBindingError where the mesh has other vertices or faces than when it was learnt, or another order."""
    target = target_of(ob)
    require_read_mesh(ob, target.vertices, target.faces, target.mark)


def clip_of(ob) -> SourceClip:
    """What was read of its source; StaleBindingError where there is nothing, or it cannot be used."""
    missing = f"The source of '{ob.name}' is not read yet; press Learn Target."
    return unpacked(ob, "map clip", ob.motion_loom_map.clip, unpack_clip, missing)


def source_of_clip(ob) -> PointSource:
    """The source that the clip was read of, as it is now: it may have been renamed.

    Raises StaleBindingError where it was deleted or another kind of source is chosen.
    """
    settings, record = ob.motion_loom_map, clip_of(ob).record
    chosen, owners = settings.source, record["owners"]
    if chosen is not None:
        if len(owners) != 1 or _KINDS.get(chosen.type, OBJECTS) != record["kind"]:
            raise _other_source(ob, chosen.name)
        return from_record(record, [chosen])
    if settings.source_collection is None:
        return from_record(record)
    if record["kind"] != OBJECTS:
        raise _other_source(ob, settings.source_collection.name)
    members = list(settings.source_collection.all_objects)
    found = [named(members, name) for name in owners]
    if _are_renamed(members, found):
        return from_record(record, members)  # renamed, they are identified by their order
    return from_record(record, found)


def _are_renamed(members: list, found: list) -> bool:
    """Whether objects are as many as before, and those that kept their names are in their places."""
    if len(members) != len(found) or None not in found:
        return False
    return all(member == owner for member, owner in zip(members, found, strict=True) if owner is not None)


def _other_source(ob, name: str) -> StaleBindingError:
    return StaleBindingError(
        f"'{ob.name}' was learnt with another source than '{name}'; press Learn Target, or choose the former source."
    )


def source_track_of(ob) -> SourceTrack:
    """The clip as features and ground motion, smoothed as chosen."""
    settings, clip = ob.motion_loom_map, clip_of(ob)
    inputs = *binding_store.mark(settings.clip), settings.smoothing
    return kept(ob, "map source", inputs, lambda: _smoothed(settings, clip))


def _smoothed(settings, clip: SourceClip) -> SourceTrack:
    require_numbers(settings, ["smoothing"])
    return source_track(clip.model, clip.positions, clip.times, settings.smoothing, clip.is_tracked)


def pair_rows(ob) -> tuple[np.ndarray, np.ndarray]:
    """Features (n, P) of the source and coefficients (n, D) of the target, of the pairs in use.

    Raises InputError naming one whose frames lie outside of what was read and learnt.
    """
    return _rows(ob, clip_of(ob), source_track_of(ob))


def _rows(ob, clip: SourceClip, source: SourceTrack) -> tuple[np.ndarray, np.ndarray]:
    settings, target = ob.motion_loom_map, target_of(ob)
    used = [(number, pair) for number, pair in enumerate(settings.pairs, start=1) if pair.use]
    outside = why_outside(ob, used_only=True)
    if outside:
        raise InputError(f"{outside}; change or remove it, or switch it off.")
    rows = [_row_of(number, pair, clip, source) for number, pair in used]
    coefficients = target.coefficients_at(np.array([pair.target_frame for _, pair in used]))
    return np.array(rows).reshape(-1, clip.model.features.width), coefficients


def why_outside(ob, used_only: bool) -> str | None:
    """Names the first pair with a frame that was not read of the source or not learnt of the target, or None."""
    clip, target = clip_of(ob), target_of(ob)
    for number, pair in enumerate(ob.motion_loom_map.pairs, start=1):
        if used_only and not pair.use:
            continue
        if not pair.performed and not is_within(pair.source_frame, clip.frames):
            return f"Pair {number}: {outside_text(pair.source_frame, clip.frames, 'source')}"
        if not is_within(pair.target_frame, target.frames):
            return f"Pair {number}: {outside_text(pair.target_frame, target.frames, 'target')}"
    return None


def is_within(frame: float, frames: np.ndarray) -> bool:
    """Whether a frame is between the first and the last of some (F,)."""
    return bool(frames[0] <= frame <= frames[-1])


def outside_text(frame: float, frames: np.ndarray, of: str) -> str:
    """That a frame is not among those of the source or target."""
    return f"frame {frame:g} is outside the {of}'s range, {frames[0]:g} to {frames[-1]:g}"


def map_of(ob) -> MotionMap:
    """The map of the pairs as they are; InputError for fewer than two, and as ``pair_rows``."""
    inputs = *pairs_mark(ob), ob.motion_loom_map.edge
    return kept(ob, "map map", inputs, lambda: _learn(ob, *pair_rows(ob)))


def require_two_pairs(ob, count: int) -> None:
    """Raises InputError for a number of pairs in use that makes no map."""
    if count < 2:
        raise InputError(f"A map needs two pairs or more, '{ob.name}' has {count} in use; add pairs.")


def _learn(ob, rows: np.ndarray, coefficients: np.ndarray) -> MotionMap:
    require_two_pairs(ob, len(rows))
    settings = ob.motion_loom_map
    return MotionMap.learn(rows, coefficients, target_of(ob).space.box, settings.edge.lower(), met_of(settings))


def is_older(settings) -> bool:
    """Whether something is learnt, by a version that met no pairs."""
    return settings.learnt is not None and not settings.is_property_set("meet_pairs")


def met_of(settings) -> float:
    """How much of what noise leaves out of the pairs is given back; maps of older versions stay as they were."""
    require_numbers(settings, ["meet_pairs"])
    return 0.0 if is_older(settings) else settings.meet_pairs


def track_of(ob) -> MapTrack:
    """What the target does over the clip."""
    return keyed_track(ob)[1]


def track_over(ob, clip: SourceClip) -> MapTrack:
    """What the target does over another reading of its clip, which is not stored: the pairs are of that one too."""
    settings = ob.motion_loom_map
    source = _smoothed(settings, clip)
    mapping = _learn(ob, *_rows(ob, clip, source))
    target = target_of(ob)
    return map_track(mapping, target.travel, source, travel_choices(settings), target.feet_at)


def keyed_track(ob) -> tuple[str, MapTrack]:
    """A key of all that it depends on, and what the target does over the clip."""
    key = _track_key(ob)
    return key, kept_by(ob, _TRACK, key, lambda: _track(ob, travel_choices(ob.motion_loom_map)))


def _track_key(ob) -> str:
    choices = travel_choices(ob.motion_loom_map)
    return cache.fingerprint(*pairs_mark(ob), ob.motion_loom_map.edge, *vars(choices).values())


def _track(ob, choices: TravelChoices) -> MapTrack:
    target, inputs = target_of(ob), (*pairs_mark(ob), ob.motion_loom_map.edge)

    def feet_at(coefficients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        # How far it goes is changed by itself more often than the poses are.
        return kept(ob, "map feet", inputs, lambda: target.feet_at(coefficients))

    return map_track(map_of(ob), target.travel, source_track_of(ob), choices, feet_at)


def travel_choices(settings) -> TravelChoices:
    """Of the settings; InputError for one that is no number."""
    require_numbers(settings, ["travel_scale", "turn_ratio", "stride"])
    return TravelChoices(
        _ESTIMATORS[settings.travel], settings.travel_scale, settings.stride, settings.turn_ratio
    )


def travel_note(ob) -> str:
    """In words, what the target's travel stands on; raises as ``target_of``, and for what its motion does not give."""
    return target_of(ob).travel.note_of(travel_choices(ob.motion_loom_map))


def steps_notes(ob) -> tuple[str, ...]:
    """What is worth knowing of its steps over the clip, in words, once it was mapped; raises as ``travel_note``."""
    track = cache.get(ob.session_uid, _TRACK, _track_key(ob))
    return () if track is None else track.notes


def pairs_mark(ob) -> tuple:
    """All that a map depends on but the edge of its box, for comparing."""
    settings = ob.motion_loom_map
    if settings.learnt is None or settings.clip is None:
        raise StaleBindingError(f"'{ob.name}' is not learnt yet; press Learn Target.")
    marks = *binding_store.mark(settings.learnt), *binding_store.mark(settings.clip)
    pairs = [(pair.source_frame, pair.target_frame, pair.performed) for pair in settings.pairs if pair.use]
    return *marks, settings.smoothing, met_of(settings), *(value for pair in pairs for value in pair)


def confidence_now(context, ob) -> float | None:
    """0 to 1: how sure the pairs make the map at the clip's pose of the present frame.

    None where there are none in use, or one of them cannot be.
    """
    settings = ob.motion_loom_map
    if settings.learnt is None or settings.clip is None or not any(pair.use for pair in settings.pairs):
        return None
    if why_outside(ob, used_only=True):
        return None
    rows, _ = pair_rows(ob)
    return float(confidence(MotionMap.variance_of(rows, row_at(ob, frame_now(context.scene))[None]))[0])


def confidence_of(ob) -> np.ndarray:
    """(F,) 0 to 1 at every frame of the clip."""
    return confidence(MotionMap.variance_of(pair_rows(ob)[0], source_track_of(ob).features))


def row_at(ob, frame: float) -> np.ndarray:
    """Features (P,) of the clip at a scene frame, held before its first and after its last one."""
    return _between(clip_of(ob), source_track_of(ob).features, frame)


def _between(clip: SourceClip, values: np.ndarray, frame: float) -> np.ndarray:
    """Of values (F, ...), one a frame of the clip, those at a scene frame, held outside of the clip."""
    return BetweenRows.at(np.array([frame]), clip.frames).of(values)[0]


def paired_poses(ob, pair) -> np.ndarray:
    """World positions (2, J, 3) of a pair's source, a tenth of a second ago and now, as the map takes them.

    Of a frame of the clip they are without gaps and glitches, smoothed; what the map leaves out is NaN.
    """
    if pair.performed:
        return performed_poses(pair.performed)
    clip, track = clip_of(ob), source_track_of(ob)
    known = track.features, track.translation, track.yaw
    return clip.model.poses_of(*(_between(clip, values, pair.source_frame) for values in known))


def pose_at(ob, frame: float) -> np.ndarray:
    """World positions (2, J, 3) of the clip a tenth of a second before a scene frame, and at it."""
    clip = clip_of(ob)
    return np.stack([_positions_at(clip, frame - LAG * clip.fps), _positions_at(clip, frame)])


def _positions_at(clip: SourceClip, frame: float) -> np.ndarray:
    """(J, 3) at a scene frame, held outside of the clip; InputError for what is not a number."""
    if np.isnan(frame):
        raise InputError("A frame of the source is not a number; choose one among those that were read.")
    return _between(clip, clip.positions, frame)


def performed_text(before: np.ndarray, now: np.ndarray) -> str:
    """World positions (J, 3) a tenth of a second ago and now, as text for a pair."""
    return base64.b85encode(np.stack((before, now)).astype("<f4").tobytes()).decode()


def performed_poses(text: str) -> np.ndarray:
    """(2, J, 3) of ``performed_text``; StaleBindingError for another text."""
    try:
        return np.frombuffer(base64.b85decode(text), "<f4").reshape(2, -1, 3).astype(float)
    except ValueError as error:
        raise StaleBindingError("The pose of a performed pair is damaged; remove that pair.") from error


def row_of_poses(model: SourceModel, poses: np.ndarray) -> np.ndarray:
    """Features (P,) of positions (2, J, 3) a tenth of a second ago and now; a missing point counts as at its mean."""
    stream = SourceStream(model)
    return [stream.step(pose, time).features[0] for pose, time in zip(poses, (0.0, LAG), strict=True)][1]


def _row_of(number: int, pair, clip: SourceClip, source: SourceTrack) -> np.ndarray:
    if not pair.performed:
        return _between(clip, source.features, pair.source_frame)
    poses, model = performed_poses(pair.performed), clip.model
    if poses.shape[1] != len(model.names):
        raise StaleBindingError(
            f"Pair {number} was performed with {poses.shape[1]} points, the source has {len(model.names)} now; "
            f"learn again with those {poses.shape[1]}, or remove that pair."
        )
    return row_of_poses(model, poses)
