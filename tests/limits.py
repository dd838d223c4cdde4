"""What a full disk and missing permissions do, for tests: real limits of this process, whoever runs it."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

_NOBODY = 65534


@contextlib.contextmanager
def largest_file(byte_count: int) -> Iterator[None]:
    """A block in which no file can grow beyond a size: writing on fails as it does on a full disk."""
    resource = pytest.importorskip("resource", reason="needs limits of a process")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (byte_count, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextlib.contextmanager
def open_folder() -> Iterator[Path]:
    """A temporary folder that every user reaches and may write into."""
    folder = Path(tempfile.mkdtemp())
    try:
        folder.chmod(0o777)
        yield folder
    finally:
        for found, _, _ in os.walk(folder):
            os.chmod(found, 0o700)
        shutil.rmtree(folder)


@contextlib.contextmanager
def closed_files(name: str) -> Iterator[dict[Path, str]]:
    """A file that nobody may read, and one in a folder that nobody may enter, each with what is to be said of it."""
    with open_folder() as folder:
        files = {folder / f"closed_{name}": "Permission denied", folder / "hidden" / name: "be reached"}
        for path in files:
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(b"")
            path.chmod(0o000)
        (folder / "hidden").chmod(0o000)
        yield files


@contextlib.contextmanager
def stopped_by_permissions() -> Iterator[None]:
    """A block that permissions apply to, for the administrator as well."""
    if not hasattr(os, "geteuid"):
        pytest.skip("needs permissions of POSIX")
    if os.geteuid():
        yield
        return
    os.seteuid(_NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
