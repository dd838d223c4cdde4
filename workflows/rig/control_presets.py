"""Presets of which controls get results: named files in the folder of Blender's presets, or files anywhere.

A preset knows controls by name alone, so that it serves every rig whose controls have these names.
"""

from __future__ import annotations

import os
from pathlib import Path

from ...scene.user_folders import presets_of
from ...solvers.core.errors import InputError, OutputError
from ..command_line.words import counted
from ..core.json_file import as_written, json_destination, read_json, write_json
from .control_variables import TRUNKS, WRITE_TO

_FORMAT, _VERSION = "motion_loom_controls", 1
_FOLDER = "controls"
_SUFFIX = ".json"
_NO_LETTERS = '/\\:*?"<>|'  # of file names, on the systems in use
_MOST_NAMED = 5


def preset_folder() -> Path:
    """Where named presets lie; it need not be there yet."""
    return presets_of(_FOLDER)


def preset_names() -> list[str]:
    """The names of the presets that there are, in order."""
    try:
        return sorted((path.stem for path in preset_folder().glob(f"*{_SUFFIX}")), key=str.casefold)
    except OSError:
        return []


def preset_path(name: str, make_folder: bool = False) -> Path:
    """The file of a named preset; InputError for a name that no file can have, OutputError for a folder that cannot be
    made."""
    if not name.strip() or name.startswith(".") or any(each in _NO_LETTERS or ord(each) < 32 for each in name):
        raise InputError(f"'{name}' cannot be the name of a preset; use letters, numbers and spaces.")
    folder = preset_folder()
    if make_folder:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"The folder '{folder}' of presets cannot be made: {error.strerror}.") from error
    return folder / f"{name.strip()}{_SUFFIX}"


def named_preset(text: str, make_folder: bool = False) -> Path:
    """The file of a preset that is named by a path, or by its name among Blender's presets.

    Raises InputError where there is none of that name, unless it is about to be written.
    """
    if text.endswith(_SUFFIX) or "/" in text or os.sep in text:
        return Path(text)
    path = preset_path(text, make_folder)
    if not make_folder and not path.is_file():
        known = ", ".join(preset_names()) or "none yet"
        raise InputError(f"There is no preset '{text}' of controls; there are: {known}.")
    return path


def save_preset(settings, path: Path) -> str:
    """Write which controls of a bound rig are chosen, over an old preset of the name; returns what was done.

    Raises InputError for a rig without controls, OutputError where the file cannot be written.
    """
    if not len(settings.controls):
        raise InputError(f"'{settings.id_data.name}' has no list of controls to save; bind it first.")
    place = json_destination(str(path), "controls")
    content = {
        "format": _FORMAT, "version": _VERSION, "write_to": settings.write_to, "trunk": settings.trunk,
        "controls": {item.name: item.use for item in settings.controls},
    }  # fmt: skip
    write_json(place, content)
    return f"Saved the choice of {counted(len(settings.controls), 'control')} to '{place.path}'"


def read_preset(path: str) -> dict:
    """What a file of a preset holds; InputError naming what is wrong with it."""
    content = read_json(path, (_FORMAT, _VERSION), "a preset of controls", "Save Control Preset")
    for name, known in (("write_to", WRITE_TO), ("trunk", tuple(TRUNKS))):
        if content.get(name) not in known:
            told = as_written(content[name]) if name in content else "missing"
            raise InputError(f"'{path}' is damaged: {name} is {told}; it can be {', '.join(known)}.")
    uses = content.get("controls")
    if not isinstance(uses, dict) or not uses:
        raise InputError(f"'{path}' is damaged: it names no controls.")
    wrong = next((name for name, use in uses.items() if not isinstance(use, bool)), None)
    if wrong is not None:
        raise InputError(f"'{path}' is damaged: '{wrong}' is {as_written(uses[wrong])}, neither true nor false.")
    return {"write_to": content["write_to"], "trunk": content["trunk"], "controls": uses}


def use_preset(settings, path: str, content: dict) -> str:
    """Choose the controls of a bound rig as a preset that was read has them; returns what was done.

    Controls that the rig has not got are named, and so are those of which the preset says nothing: these stay as they
    are.  Raises InputError where the rig has none of them, or none that the preset writes to; nothing is changed then.
    """
    uses, own = content["controls"], {item.name for item in settings.controls}
    if not own:
        raise InputError(f"'{settings.id_data.name}' has no list of controls; bind it before a preset is loaded.")
    if own.isdisjoint(name for name, use in uses.items() if use):
        raise InputError(
            f"'{settings.id_data.name}' has none of the controls that '{path}' writes to, as "
            f"'{next((name for name, use in uses.items() if use), next(iter(uses)))}'; choose another preset."
        )
    for item in settings.controls:
        item.use = uses.get(item.name, item.use)
    settings.write_to, settings.trunk = content["write_to"], content["trunk"]
    known = [name for name in uses if name in own]
    parts = [f"Loaded the choice of {counted(len(known), 'control')} from '{path}'"]
    parts += _named("the rig has no", [name for name in uses if name not in own])
    parts += _named("the preset says nothing of", [item.name for item in settings.controls if item.name not in uses])
    return "; ".join(parts)


def remove_preset(name: str) -> str:
    """Delete a named preset; returns what was done.  Raises OutputError where that cannot be done."""
    path = preset_path(name)
    try:
        path.unlink()
    except OSError as error:
        raise OutputError(f"The preset '{path}' cannot be removed: {error.strerror}.") from error
    return f"Removed the preset '{name}'"


def _named(what: str, names: list[str]) -> list[str]:
    """A clause that names some of several, or none."""
    if not names:
        return []
    shown = ", ".join(f"'{name}'" for name in names[:_MOST_NAMED])
    more = len(names) - _MOST_NAMED
    return [f"{what} {shown}{f' and {more} more' if more > 0 else ''}"]
