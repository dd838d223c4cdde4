"""The report of the last result that a rig keeps, for the panel."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path

from ...scene.whole_file import Destination, destination
from ...solvers.adapt.findings import Findings
from ...solvers.core.errors import InputError, MotionLoomError, SceneError
from ..rig.action import plays_result
from ..rig.operators import why_no_rig
from .picture import picture, titled
from .remarks import Remark
from .words import figures_in_words


def keep_report(context, ob, workflow, report: dict, found: Findings | None, remarks: Sequence[Remark]) -> None:
    """Keep what was measured with the rig. report: of ``run.adapt_steps``.  found: None where nothing was measured."""
    kept = workflow.settings_of(ob).last_report
    kept.action = None
    if found is None:
        return
    kept.action = context.blend_data.actions[report["action"], None]
    kept.played = workflow.settings_of(ob).result == kept.action
    kept.mark = _mark(ob, workflow)
    kept.figures = "\n".join(figures_in_words(report["measures"]))
    kept.remarks = json.dumps([astuple(remark) for remark in remarks], ensure_ascii=False)
    kept.missing = "\n".join(report.get("controls", {}).get("over", ()))
    kept.picture = picture(found, _title(ob, kept))


def shown_report(ob, workflow):
    """The report that a rig keeps, or None where it is out of date: the result is gone or no longer played, or the rig
    was bound anew."""
    settings = workflow.settings_of(ob)
    kept = settings.last_report
    if kept.action is None or (kept.played and (settings.result != kept.action or not plays_result(ob, workflow))):
        return None
    try:
        return kept if kept.mark == _mark(ob, workflow) else None
    except MotionLoomError:
        return None  # the binding is gone


def _title(ob, kept) -> str:
    return f"{ob.name}: {kept.action.name}"


def remarks_of(kept) -> list[Remark]:
    """The remarks of a report that a rig keeps."""
    return [Remark(*parts) for parts in json.loads(kept.remarks or "[]")]


def _mark(ob, workflow) -> str:
    return repr(workflow.bound_mark(ob))


def why_no_picture(context, workflow) -> str | None:
    """Why there is no picture to save, or None."""
    reason = why_no_rig(context)
    if reason is None and shown_report(context.object, workflow) is None:
        return "Adapt and Bake first: there is no report of a result yet"
    return reason


def picture_file(path: str) -> Destination:
    """Where a picture is to be written; InputError for no name or another kind of file, OutputError for a place that
    cannot be written."""
    if not Path(path).name.strip():
        raise InputError("Name a file for the picture, with the ending .svg.")
    place = destination(path, "choose another place")
    if place.path.suffix.lower() != ".svg":
        raise InputError(f"The picture '{path}' has to be an SVG file; give its name the ending .svg.")
    return place


def save_picture(ob, workflow, place: Destination) -> str:
    """Write the picture of the report that a rig keeps; SceneError where it keeps none."""
    kept = shown_report(ob, workflow)
    if kept is None:
        raise SceneError(f"'{ob.name}' has no report of a result; adapt and bake it first.")
    # Rigs and actions are renamed and duplicated.
    data = titled(kept.picture, _title(ob, kept)).encode()
    with place.part(len(data)) as part:
        part.write_bytes(data)
    return f"Saved the picture to '{place.path}'"
