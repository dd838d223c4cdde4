"""The open scene as a .blend, saved whole or not at all."""

from __future__ import annotations

import os
import shutil
import struct
from pathlib import Path

import bpy
import numpy as np

from ..solvers.core.errors import OutputError, SceneError
from .whole_file import Destination

_BLOCK_HEADS = (24, 32)  # bytes, up to 4.5 and since 5.0
_END = b"ENDB"
_ZSTD = b"\x28\xb5\x2f\xfd"
# The table of a seekable Zstandard file, which is its last frame: Zstandard's seekable format, version 0.1.0.
_TABLE_HEAD, _TABLE_FOOT = struct.Struct("<II"), struct.Struct("<IBI")
_TABLE_MAGIC, _FOOT_MAGIC = 0x184D2A5E, 0x8F92EAB1
_CHECKSUMS = 0x80  # of the descriptor: entries have one more number


def open_file(path: str) -> None:
    """Open a .blend without its windows; raises SceneError where that cannot be done."""
    try:
        bpy.ops.wm.open_mainfile(filepath=os.path.abspath(path), load_ui=False)
    except RuntimeError as error:
        raise SceneError(f"'{path}' cannot be opened: {str(error).strip()}") from error


def opened_path() -> str:
    """Where the open scene lies; empty while it has no file."""
    return bpy.data.filepath


def from_scene(path: str) -> str:
    """A path as users write it, in which `//` is the folder of the open scene; OutputError where that has no file."""
    if path.startswith("//") and not opened_path():
        raise OutputError(f"The scene has no file yet, and '{path}' lies beside it; save it or give the whole path.")
    return bpy.path.abspath(path)


def save(place: Destination) -> None:
    """Write the open scene to a file, compressed if the opened one is; which file is open stays as it was.

    As many earlier states as the preferences say are kept beside it (.blend1), as Blender's own save does.
    Raises OutputError where it cannot be written whole, has changed since the place was looked at, or is a library of
    the scene; the old file is there as before.
    """
    require_no_library(place)
    with place.part(keep_old=_keep_version) as part:
        part.unlink()  # Blender would keep the empty file as an earlier state
        opened = bpy.data.filepath
        # The part may lie in another folder than a link to the file, from which relative paths lead on.
        moves = not opened or Path(opened).parent != place.path.parent
        try:
            bpy.ops.wm.save_as_mainfile(
                filepath=str(part), check_existing=False, copy=True, compress=_is_compressed(opened),
                relative_remap=moves,
            )  # fmt: skip
        except RuntimeError as error:
            reason = str(error).replace(str(part), str(place.path)).removeprefix("Error:").strip()
            limits = "perhaps the disk is full"  # of which Blender tells another error
            raise place.refused(f"'{place.path}' cannot be saved, {limits} (Blender says: {reason})") from error
        # Blender says that it has finished even where the disk took only a part.
        if not is_whole(part):
            raise place.refused(f"'{place.path}' cannot be saved: the disk did not take all of it")


def require_no_library(place: Destination) -> None:
    """Raises OutputError for a file that the scene links from."""
    for library in bpy.data.libraries:
        if os.path.realpath(bpy.path.abspath(library.filepath)) == str(place.place):
            raise place.refused(f"'{place.path}' is linked into the scene and cannot be replaced by it")


def is_whole(path: Path) -> bool:
    """Whether a .blend has its end: a block that says so, or the table of a compressed file that fits its length."""
    with path.open("rb") as file:
        length = file.seek(0, os.SEEK_END)
        file.seek(0)
        if file.read(len(_ZSTD)) == _ZSTD:
            return _table_fits(file, length)
        file.seek(max(0, length - max(_BLOCK_HEADS)))
        tail = file.read()
    return any(tail[-size:].startswith(_END) for size in _BLOCK_HEADS if len(tail) >= size)


def _is_compressed(path: str) -> bool:
    """Whether a .blend is; a new one as the preferences say. The program itself remembers what it saved last."""
    try:
        with open(path, "rb") as file:
            return file.read(len(_ZSTD)) == _ZSTD
    except OSError:
        return bpy.context.preferences.filepaths.use_file_compression


def _table_fits(file, length: int) -> bool:
    """Whether the frames that the table lists are as long, with the table itself, as the file."""
    if length < _TABLE_HEAD.size + _TABLE_FOOT.size:
        return False
    file.seek(length - _TABLE_FOOT.size)
    count, descriptor, magic = _TABLE_FOOT.unpack(file.read())
    columns = 3 if descriptor & _CHECKSUMS else 2
    size = 4 * columns * count + _TABLE_FOOT.size
    start = length - _TABLE_HEAD.size - size
    if magic != _FOOT_MAGIC or start < 0:
        return False
    file.seek(start)
    if _TABLE_HEAD.unpack(file.read(_TABLE_HEAD.size)) != (_TABLE_MAGIC, size):
        return False
    entries = np.frombuffer(file.read(4 * columns * count), "<u4").reshape(count, columns)
    return int(entries[:, 0].sum(dtype=np.uint64)) == start


def _keep_version(place: Path) -> None:
    """Number the earlier states of a file one further, the present one being the first; the file itself stays."""
    count = bpy.context.preferences.filepaths.save_version
    versions = [place.with_name(f"{place.name}{number}") for number in range(1, count + 1)]
    if not versions:
        return
    spare = place.with_name(f".{os.getpid()}{place.suffix}.part")
    spare.unlink(missing_ok=True)
    try:
        try:
            os.link(place, spare)
        except OSError:  # this disk knows no second names
            shutil.copy2(place, spare)
        for newer, older in reversed(list(zip(versions, versions[1:], strict=False))):
            if newer.is_file():
                os.replace(newer, older)
        os.replace(spare, versions[0])
    finally:
        spare.unlink(missing_ok=True)  # also where both were names of one file already
