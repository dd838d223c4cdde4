"""A Python like Blender's own: bpy and NumPy, but no SciPy, and a profile of its own."""

import os
import site
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def built_zip(tmp_path_factory) -> Path:
    """The ZIP for Linux: the one MOTION_LOOM_ZIP names, else built now from the working tree."""
    if "MOTION_LOOM_ZIP" in os.environ:
        return Path(os.environ["MOTION_LOOM_ZIP"])
    if sys.platform != "linux":
        pytest.skip("the packaged test installs the ZIP for Linux")
    output = tmp_path_factory.mktemp("dist")
    command = [sys.executable, ROOT / "scripts" / "package.py", "--platform", "linux-x64", "--output", output]
    subprocess.run(command, check=True)
    return next(output.glob("*-linux_x64.zip"))


@pytest.fixture
def run_as_blender(tmp_path):
    """run_as_blender(script, *args) -> CompletedProcess, with the environment's packages except SciPy."""
    packages = tmp_path / "packages"
    packages.mkdir()
    for entry in Path(site.getsitepackages()[0]).iterdir():
        if not entry.name.startswith("scipy"):
            (packages / entry.name).symlink_to(entry)
    profile = tmp_path / "profile"
    profile.mkdir()
    environment = {**os.environ, "BLENDER_USER_RESOURCES": str(profile), "PYTHONPATH": str(packages)}

    def run(script: str, *args) -> subprocess.CompletedProcess:
        # Without -S the packages of the environment would come back, and SciPy with them.
        command = [sys.executable, "-S", "-c", script, *map(str, args)]
        return subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)

    return run
