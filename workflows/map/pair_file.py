"""Pairs in a JSON file: the source's poses themselves, so that they serve another source of the same points."""

from __future__ import annotations

import math

import numpy as np

from ...scene.whole_file import Destination
from ...solvers.core.errors import InputError
from ...solvers.mapping.pose_features import LAG
from ..command_line.words import counted
from ..core.json_file import as_written, json_destination, read_json, write_json
from ..core.list_entries import resized
from .model import clip_of, outside_text, paired_poses, performed_text, target_of, why_outside

FORMAT, VERSION = "motion_loom_pairs", 1
_LAST_FRAME = 1_048_574  # that a scene can have, and less its first
_FARTHEST = 1e6  # metres


def pair_file(path: str) -> Destination:
    """Where pairs are to be written; InputError for no name, OutputError for a place that cannot be written."""
    return json_destination(path, "pairs")


def save_pairs_of(ob, place: Destination) -> str:
    """Write a target's pairs; OutputError where that cannot be done, InputError where there are none."""
    settings, clip = ob.motion_loom_map, clip_of(ob)
    if not len(settings.pairs):
        raise InputError(f"'{ob.name}' has no pairs to save; add some.")
    outside = why_outside(ob, used_only=False)
    if outside:
        raise InputError(f"{outside}; change or remove it before the pairs are saved.")
    content = {
        "format": FORMAT, "version": VERSION, "points": list(clip.model.names), "lag_seconds": LAG,
        "pairs": [_record(ob, pair) for pair in settings.pairs],
    }  # fmt: skip
    write_json(place, content)
    return f"Saved {counted(len(settings.pairs), 'pair')} to '{place.path}'"


def use_pairs(ob, path: str, content: dict) -> str:
    """Replace a target's pairs by those that were read from a file, whose points the source must have by name.

    Raises InputError naming what does not fit; nothing is changed then.
    """
    settings, names = ob.motion_loom_map, clip_of(ob).model.names
    lost = [name for name in content["points"] if name not in names]
    if lost:
        raise InputError(f"The source has no point '{lost[0]}', which the pairs of '{path}' were made with.")
    more = [name for name in names if name not in content["points"]]
    if more:
        raise InputError(
            f"The pairs of '{path}' know nothing of '{more[0]}', a point of the source; choose other pairs."
        )
    order = [names.index(name) for name in content["points"]]
    target = target_of(ob)
    loaded = []
    for number, record in enumerate(content["pairs"], start=1):
        frame = record["target_frame"]
        if not target.frames[0] <= frame <= target.frames[-1]:
            outside = outside_text(frame, target.frames, "target")
            raise InputError(f"Pair {number} of '{path}': {outside}; learn the range that the pairs were made with.")
        poses = np.full((2, len(names), 3), np.nan)
        poses[:, order] = record["poses"]
        loaded.append((record["source_frame"], frame, record["use"], performed_text(*poses)))
    pairs = resized(settings, "pairs", len(loaded), "pairs")
    for pair, (source_frame, target_frame, use, performed) in zip(pairs, loaded, strict=True):
        pair.source_frame, pair.target_frame, pair.use, pair.performed = source_frame, target_frame, use, performed
    settings.active_pair = len(loaded) - 1
    return f"Loaded {counted(len(loaded), 'pair')} from '{path}'"


def _record(ob, pair) -> dict:
    poses = paired_poses(ob, pair)
    known = [[None if math.isnan(value) else round(value, 7) for value in pose] for pose in poses.reshape(-1, 3)]
    return {
        "source_frame": pair.source_frame, "target_frame": pair.target_frame, "use": pair.use,
        "poses": [known[: len(known) // 2], known[len(known) // 2 :]],
    }  # fmt: skip


def read_pairs(path: str) -> dict:
    """What a file of pairs holds; InputError naming what is wrong with it."""
    content = read_json(path, (FORMAT, VERSION), "a file of pairs", "Save Pairs")
    try:
        points, pairs, lag = content["points"], content["pairs"], content["lag_seconds"]
        if not isinstance(points, list) or not points or not all(isinstance(name, str) for name in points):
            raise ValueError("the points have no names")
        if len(set(points)) < len(points):
            raise ValueError("two points have one name")
        if not _is_place(lag) or not math.isclose(lag, LAG):
            raise ValueError(f"lag_seconds is {as_written(lag)}, and has to be {LAG:g}")
        if not isinstance(pairs, list) or not pairs:
            raise ValueError("there are no pairs")
        return {"points": points, "pairs": [_checked(number, pair, points) for number, pair in enumerate(pairs, 1)]}
    except KeyError as error:
        raise InputError(f"'{path}' is damaged: {error} is missing.") from error
    except ValueError as error:
        raise InputError(f"'{path}' is damaged: {error}.") from error


def _checked(number: int, record, points: list[str]) -> dict:
    """What is needed of a pair; ValueError naming the pair and what is wrong with it."""
    if not isinstance(record, dict):
        raise ValueError(f"pair {number} is {as_written(record)} instead of an object")
    lost = [key for key in ("source_frame", "target_frame", "use", "poses") if key not in record]
    if lost:
        raise ValueError(f"'{lost[0]}' of pair {number} is missing")
    for key in ("source_frame", "target_frame"):
        if not _is_number(record[key]) or not abs(record[key]) <= _LAST_FRAME:
            raise ValueError(f"{key} of pair {number} is {as_written(record[key])}, which is not a frame")
    if not isinstance(record["use"], bool):
        raise ValueError(f"'use' of pair {number} is {as_written(record['use'])}, neither true nor false")
    frames = {key: float(record[key]) for key in ("source_frame", "target_frame")}
    return frames | {"use": record["use"], "poses": _checked_poses(number, record["poses"], points)}


def _checked_poses(number: int, poses, points: list[str]) -> np.ndarray:
    """(2, J, 3), NaN for null; ValueError naming the point that is wrong."""
    if not _is_list(poses, 2) or not all(_is_list(pose, len(points)) for pose in poses):
        raise ValueError(f"the poses of pair {number} are not two lists of {len(points)} points")
    for pose in poses:
        for name, point in zip(points, pose, strict=True):
            if not _is_list(point, 3) or not all(value is None or _is_place(value) for value in point):
                raise ValueError(
                    f"point '{name}' of pair {number} is {as_written(point)} instead of three numbers, metres, each "
                    f"null or at most {_FARTHEST:,.0f}"
                )
        if all(None in point for point in pose):
            raise ValueError(f"a pose of pair {number} holds no point, all are null")
    return np.array(poses, float)  # None becomes NaN


def _is_list(value, length: int) -> bool:
    return isinstance(value, list) and len(value) == length


def _is_number(value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_place(value) -> bool:
    return _is_number(value) and abs(value) <= _FARTHEST
