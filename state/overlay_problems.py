"""Why overlays of workflows are not shown. Texts by object, never a Blender reference; nothing of it is saved."""

from __future__ import annotations

# (workflow, session_uid of the object) -> why nothing is shown; the second kind stays until another file is open.
_problems: dict[tuple[str, int], str] = {}
_failed: dict[tuple[str, int], str] = {}


def problem_of(workflow_id: str, ob) -> str | None:
    """Why a workflow's overlay of an object is not shown, for its panel."""
    key = workflow_id, ob.session_uid
    return _failed.get(key) or _problems.get(key)


def has_failed(workflow_id: str, ob) -> bool:
    """Whether drawing it has raised an error that nobody foresaw: it is not tried again in this file."""
    return (workflow_id, ob.session_uid) in _failed


def note(workflow_id: str, ob, reason: str | None, for_good: bool = False) -> None:
    """Remember why an overlay is not shown, or that nothing hinders it (None). for_good: see ``has_failed``."""
    key = workflow_id, ob.session_uid
    if reason is None:
        _problems.pop(key, None)
    else:
        (_failed if for_good else _problems)[key] = reason


def clear() -> None:
    """Forget all: another file is open, or nothing is drawn any more."""
    _problems.clear()
    _failed.clear()
