"""Files written whole or not at all: beside their place first, and put there once everything is on the disk.

A disk that fills up, a cancelled job or another one that writes to the same place leaves the old file as it was.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..solvers.core.errors import OutputError
from .interrupts import require_none

Identity = tuple[int, int, int, int]
_made: ContextVar[list[Path] | None] = ContextVar("made", default=None)
_LONGEST_NAME = 255  # bytes, on the file systems in use
_MOST_NUMBERS = 10_000  # of files of one name in a folder
_WAIT, _PAUSE = 5.0, 0.01  # seconds for another process to put its file in place, and between looks


def identity_of(path: str | os.PathLike) -> Identity | None:
    """Device, inode, size and time of the last change of a file, links followed; None where there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


@dataclass(frozen=True)
class Destination:
    """A place that a file can be written to.

    path: as it was named, absolute.  place: the file itself, links followed.  was: what lay there, None for nothing.
    way_out: what the user can do instead, a clause that ends each refusal.  written: what was put there from here.
    """

    path: Path
    place: Path
    was: Identity | None
    way_out: str
    written: list[Identity] = field(default_factory=list, compare=False)

    def noticed(self, was: Identity | None) -> Destination:
        """The same place, for what lay there at another time."""
        return replace(self, was=was)

    def require_same(self) -> None:
        """Raises OutputError where another file lies there by now."""
        if identity_of(self.place) != self.was:
            change = "appeared" if self.was is None else "was changed or removed by another program"
            raise self.refused(f"The file '{self.path}' {change} in the meantime, and is left alone")

    def require_room(self, byte_count: int) -> None:
        """Raises OutputError where the disk has less space than that; quotas only show when they are met."""
        with self._refusing():
            free = shutil.disk_usage(self.place.parent).free
        if free < byte_count:
            raise self.refused(f"'{self.path}' takes about {_size(byte_count)}, and the disk has {_size(free)} left")

    def refused(self, reason: str) -> OutputError:
        """The error to raise for a reason without a full stop."""
        return OutputError(f"{reason}; {self.way_out}.")

    @contextlib.contextmanager
    def part(self, byte_count: int = 0, keep_old: Callable[[Path], None] | None = None) -> Iterator[Path]:
        """An empty file beside the place, which the block fills and which takes the place when the block ends well.

        byte_count: size of the whole file, where it is known.  keep_old: called with the place just before the old file
        there is replaced.
        Raises OutputError where the file cannot be written or the place has changed; nothing is left behind then, but
        what replaced an old file just before something else was raised stays, whole.
        """
        self.require_room(byte_count)
        with self._refusing():
            handle, name = tempfile.mkstemp(prefix=".", suffix=f"{self.place.suffix}.part", dir=self.place.parent)
            os.close(handle)
        part, before = Path(name), len(self.written)
        try:
            with self._refusing():
                yield part
                self._put(part, byte_count, keep_old)
        except BaseException:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
            if self.was is None:
                _remove_any_of(self.written[before:], self.place)
            raise

    def _put(self, part: Path, byte_count: int, keep_old: Callable[[Path], None] | None) -> None:
        _flush(part)
        written = part.stat().st_size
        if byte_count and written != byte_count:
            raise self.refused(f"Only {_size(written)} of the {_size(byte_count)} of '{self.path}' were written")
        with _alone_at(self):
            self.require_same()
            require_none()
            is_there = self.was is not None
            os.chmod(part, stat.S_IMODE(self.place.stat().st_mode) if is_there else 0o666 & ~_umask())
            if is_there and keep_old is not None:
                keep_old(self.place)
            self.written.append(identity_of(part))
            os.replace(part, self.place)
        _flush_folder(self.place.parent)

    @contextlib.contextmanager
    def _refusing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise self.refused(f"'{self.path}' cannot be written: {error.strerror or error}") from error


def destination(path: str | os.PathLike, way_out: str) -> Destination:
    """The place of that name; raises OutputError naming it where no file can be written there."""
    path = Path(os.path.abspath(path))
    found = Destination(path, Path(os.path.realpath(path)), identity_of(path), way_out)
    folder = found.place.parent
    with found._refusing():
        mode = _mode(found.place)
    if mode is None and not os.path.isdir(folder):
        link = f"'{path}' is a link to '{found.place}'. " if os.path.islink(path) else ""
        blocked = os.path.lexists(folder)
        raise found.refused(f"{link}The folder '{folder}' {'is not a folder' if blocked else 'does not exist'}")
    if mode is not None and stat.S_ISDIR(mode):
        raise found.refused(f"'{path}' is a folder, not a file")
    if mode is not None and not stat.S_ISREG(mode):
        raise found.refused(f"'{path}' is a device, not a file")
    if mode is not None and not may(os.W_OK, found.place):
        raise found.refused(f"'{path}' is write-protected")
    try:
        # Permissions alone do not tell: the disk may be mounted read-only.
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise found.refused(f"Cannot write into '{folder}': {error.strerror or error}") from error
    return found


@contextlib.contextmanager
def removed_on_failure() -> Iterator[None]:
    """A block at whose failure what it has made by then goes: a cache that no saved scene plays."""
    made: list[Path] = []
    around = _made.get()
    before = _made.set(made)
    try:
        yield
        if around is not None:
            around.extend(made)
    except BaseException:
        for path in reversed(made):
            with contextlib.suppress(OSError):  # a folder that others write to by now
                path.rmdir() if path.is_dir() else path.unlink()
        raise
    finally:
        _made.reset(before)


def note_made(*paths: Path) -> None:
    """Tell the block around, if there is one, of new files or folders, the outer ones first."""
    made = _made.get()
    if made is not None:
        made.extend(paths)


@contextlib.contextmanager
def reserved(folder: Path, stem: str, suffix: str, way_out: str) -> Iterator[Destination]:
    """A new name in a folder, numbered where it is taken, that no other process can take; for the block to write.

    A stem that is too long is cut. Raises OutputError where nothing can be written there; the name is free again where
    the block fails.
    """
    found = _reserve(folder, stem, suffix, way_out)
    try:
        yield found
        note_made(found.place)
    except BaseException:
        _remove_any_of([found.was, *found.written], found.place)
        raise


def _remove_any_of(ours: list[Identity], path: Path) -> None:
    """Remove a file if it is one of ours; what another program has put there stays."""
    if identity_of(path) in ours:
        with contextlib.suppress(OSError):
            path.unlink()


def _reserve(folder: Path, stem: str, suffix: str, way_out: str) -> Destination:
    for number in range(_MOST_NUMBERS):
        end = f"_{number:03d}{suffix}" if number else suffix
        room = _LONGEST_NAME - len(os.fsencode(end))
        path = folder / (os.fsencode(stem)[:room].decode(errors="ignore") + end)
        found = Destination(path, path, None, way_out)
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        except FileExistsError:
            continue
        except OSError as error:
            raise found.refused(f"'{path}' cannot be written: {error.strerror or error}") from error
        return found.noticed(identity_of(path))
    raise OutputError(f"'{folder}' has {_MOST_NUMBERS} files named '{stem}{suffix}'; {way_out}.")


@contextlib.contextmanager
def _alone_at(found: Destination) -> Iterator[None]:
    """A block in which no other process puts a file in the same place: between looking and replacing one might."""
    name = hashlib.sha256(os.fsencode(found.place.name)).hexdigest()[:16]
    mark = found.place.with_name(f".{name}.lock")
    until = time.monotonic() + _WAIT
    while True:
        try:
            os.close(os.open(mark, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            break
        except FileExistsError:
            if time.monotonic() > until:
                reason = f"Another program is writing '{found.path}'; if none is, delete '{mark}', or else"
                raise OutputError(f"{reason} {found.way_out}.") from None
            time.sleep(_PAUSE)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            mark.unlink()


def _flush(path: Path) -> None:
    """Have everything on the disk, which may refuse it only now."""
    handle = os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0))
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _flush_folder(folder: Path) -> None:
    """Have the new name on the disk. Some systems cannot; the file itself is whole either way."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _mode(path: Path) -> int | None:
    """Kind and permissions of what lies there, None for nothing; raises OSError where that cannot be seen."""
    try:
        return path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None


def may(mode: int, path: str | os.PathLike) -> bool:
    """Whether permissions allow os.R_OK or os.W_OK of a file."""
    return os.access(path, mode, effective_ids=os.access in os.supports_effective_ids)


def _umask() -> int:
    """The mode bits that new files go without."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _size(count: float) -> str:
    return f"{count / 1e6:.1f} MB"
