"""Pairs in a JSON file: the source's poses themselves, so that they serve another source of the same points."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path

import numpy as np

from ..solvers.errors import InputError, OutputError
from ..solvers.pose_features import LAG
from .map_model import clip_of, outside_text, paired_poses, performed_text, target_of, why_outside
from .map_target import target_in

FORMAT, VERSION = "motion_loom_pairs", 1


def save_pairs(context, path: str) -> str:
    """``save_pairs_of`` the active target."""
    return save_pairs_of(target_in(context), path)


def load_pairs(context, path: str) -> str:
    """``load_pairs_of`` the active target."""
    return load_pairs_of(target_in(context), path)


def save_pairs_of(ob, path: str) -> str:
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
    if not Path(path).name:
        raise InputError("Name a file for the pairs.")
    file = Path(path) if Path(path).suffix else Path(path).with_suffix(".json")
    _write(file, content)
    return f"Saved {len(settings.pairs)} pairs to '{file}'"


def load_pairs_of(ob, path: str) -> str:
    """Replace a target's pairs by those of a file, whose points the source must have by name.

    Raises InputError naming what is wrong with the file; nothing is changed then.
    """
    settings, names = ob.motion_loom_map, clip_of(ob).model.names
    content = _read(path)
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
        poses[:, order] = np.array(record["poses"], float).reshape(2, len(order), 3)
        loaded.append((record["source_frame"], frame, record["use"], performed_text(*poses)))
    settings.pairs.clear()
    for source_frame, target_frame, use, performed in loaded:
        pair = settings.pairs.add()
        pair.source_frame, pair.target_frame, pair.use, pair.performed = source_frame, target_frame, use, performed
    settings.active_pair = len(loaded) - 1
    return f"Loaded {len(loaded)} pairs from '{path}'"


def _record(ob, pair) -> dict:
    poses = paired_poses(ob, pair)
    known = [[None if math.isnan(value) else round(value, 7) for value in pose] for pose in poses.reshape(-1, 3)]
    return {
        "source_frame": pair.source_frame, "target_frame": pair.target_frame, "use": pair.use,
        "poses": [known[: len(known) // 2], known[len(known) // 2 :]],
    }  # fmt: skip


def _write(path: Path, content: dict) -> None:
    """Whole or not at all."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        try:
            with part.open("x", encoding="utf-8") as file:
                json.dump(content, file, ensure_ascii=False, allow_nan=False, indent=1)
            os.replace(part, path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise OutputError(f"Cannot write '{path}': {error.strerror}; choose another place.") from error


def _read(path: str) -> dict:
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"Cannot read '{path}': {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"'{path}' is no file of pairs: {error}.") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError(f"'{path}' is no file of pairs; choose one that Save Pairs has written.")
    if content.get("version") != VERSION:
        raise InputError(f"'{path}' was written by another version of Motion Loom, which this one cannot read.")
    try:
        points, pairs = content["points"], content["pairs"]
        if not isinstance(points, list) or not all(isinstance(name, str) for name in points):
            raise ValueError("the points have no names")
        if len(set(points)) < len(points):
            raise ValueError("two points have one name")
        if not isinstance(pairs, list) or not pairs:
            raise ValueError("there are no pairs")
        return {"points": points, "pairs": [_checked(record, len(points)) for record in pairs]}
    except KeyError as error:
        raise InputError(f"'{path}' is damaged: {error} is missing.") from error
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"'{path}' is damaged: {error}.") from error


def _checked(record: dict, count: int) -> dict:
    poses = np.array(record["poses"], float)  # None becomes NaN
    if poses.shape != (2, count, 3) or np.isinf(poses).any():
        raise ValueError(f"a pose has shape {poses.shape}, expected {(2, count, 3)}")
    source, target = float(record["source_frame"]), float(record["target_frame"])
    if not (math.isfinite(source) and math.isfinite(target)):
        raise ValueError("a frame is not a number")
    if not isinstance(record["use"], bool):
        raise ValueError("whether to use a pair is neither true nor false")
    return {"source_frame": source, "target_frame": target, "use": record["use"], "poses": poses}
