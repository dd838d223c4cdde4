"""Build the installable ZIPs, one a platform, each with SciPy's own unmodified wheels for Blender's Pythons.

    python scripts/package.py [--platform linux-x64 ...] [--output dist]

The tracked files of the extension are copied to a staging folder, the wheels put beside them and listed in
the staged manifest, and Blender's own tool builds and validates each ZIP. The checkout's manifest lists none:
enabling it would silently go without them.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / "build" / "wheels"
# Of what git tracks, this serves those who develop the extension, not those who use it.
NOT_SHIPPED = {
    ".ci", ".gitignore", "CONTRIBUTING.md", "Makefile", "benchmarks", "docs", "examples", "pyproject.toml", "scripts",
    "tests",
}  # fmt: skip

# SciPy 1.15.3 is the last to accept the NumPy 1.24 of Blender 4.2 (Python 3.11); Python 3.13 takes a newer.
# platform -> (SciPy, Python, wheel tag that pip is asked for, SHA-256 of the wheel)
WHEELS = {
    "linux-x64": (
        ("1.15.3", "311", "manylinux2014_x86_64",
         "39cb9c62e471b1bb3750066ecc3a3f3052b37751c7c3dfd0fd7e48900ed52982"),
        ("1.17.1", "313", "manylinux_2_27_x86_64",
         "581b2264fc0aa555f3f435a5944da7504ea3a065d7029ad60e7c3d1ae09c5464"),
    ),
    "windows-x64": (
        ("1.15.3", "311", "win_amd64", "ae48a786a28412d744c62fd7816a4118ef97e5be0bee968ce8f0a2fba7acf3bb"),
        ("1.17.1", "313", "win_amd64", "37425bc9175607b0268f493d79a292c39f9d001a357bebb6b88fdfaff13f6448"),
    ),
    "macos-arm64": (
        ("1.15.3", "311", "macosx_12_0_arm64",
         "34716e281f181a02341ddeaad584205bd2fd3c242063bd3423d61ac259ca7eba"),
        ("1.17.1", "313", "macosx_12_0_arm64",
         "6fac755ca3d2c3edcb22f479fceaa241704111414831ddd3bc6056e18516892f"),
    ),
    "macos-x64": (
        ("1.15.3", "311", "macosx_10_13_x86_64",
         "993439ce220d25e3696d1b23b233dd010169b62f6456488567e830654ee37a6b"),
        ("1.17.1", "313", "macosx_10_14_x86_64",
         "5e3c5c011904115f88a39308379c17f91546f77c1667cea98739fe0fccea804c"),
    ),
}  # fmt: skip


class PackagingError(Exception):
    """Packaging cannot go on; its text says why."""


def build(platforms: list[str], output: Path, staging: Path) -> list[Path]:
    """Build and validate one ZIP a platform, which take their places in ``output`` once all are valid; their paths."""
    tool = extension_tool()
    if staging.exists():
        shutil.rmtree(staging)
    stage_sources(staging)
    wheels = [wheel for platform in platforms for wheel in stage_wheels(platform, staging)]
    write_manifest(staging, platforms, wheels)
    output.mkdir(parents=True, exist_ok=True)
    name = "{id}-{version}".format(**tomllib.loads((ROOT / "blender_manifest.toml").read_text("utf-8")))
    names = [f"{name}-{platform.replace('-', '_')}.zip" for platform in platforms]
    with tempfile.TemporaryDirectory(prefix=".", dir=output) as folder:
        run(tool, "build", "--split-platforms", "--source-dir", staging, "--output-dir", folder)
        for name in names:
            run(tool, "validate", Path(folder, name))
        return [Path(folder, name).replace(output / name) for name in names]


def extension_tool() -> Path:
    """Blender's command line for extensions, found in the bpy module without loading it."""
    spec = importlib.util.find_spec("bpy")
    folders = spec.submodule_search_locations if spec else ()
    for folder in folders:
        for tool in Path(folder).glob("*/scripts/addons_core/bl_pkg/cli/blender_ext.py"):
            return tool
    raise PackagingError("The bpy module is needed to build: run `make package`, which sets it up.")


def stage_sources(staging: Path) -> None:
    """Copy the tracked files that are shipped, as they are in the working tree."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listing.returncode:
        raise PackagingError(f"Packaging takes the files that git tracks: {listing.stderr.strip()}")
    for name in filter(None, listing.stdout.split("\0")):
        if Path(name).parts[0] not in NOT_SHIPPED:
            (staging / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, staging / name)


def stage_wheels(platform: str, staging: Path) -> list[Path]:
    """Put the wheels of one platform into the staging folder; returns their paths there."""
    folder = staging / "wheels"
    folder.mkdir(exist_ok=True)
    return [Path(shutil.copy2(fetch(*wheel), folder)) for wheel in WHEELS[platform]]


def fetch(scipy: str, python: str, tag: str, sha256: str) -> Path:
    """The wheel with that digest, from the cache or downloaded into it."""
    found = cached(scipy, python, sha256)
    if found is None:
        CACHE.mkdir(parents=True, exist_ok=True)
        run("-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--only-binary=:all:",
            "--no-deps", "--platform", tag, "--python-version", python, "--dest", CACHE,
            f"scipy=={scipy}")  # fmt: skip
        found = cached(scipy, python, sha256)
    if found is None:
        raise PackagingError(f"The SciPy {scipy} wheel for {tag} is not the one that was checked ({sha256}).")
    return found


def cached(scipy: str, python: str, sha256: str) -> Path | None:
    """The wheel in the cache that has this digest."""
    for path in CACHE.glob(f"scipy-{scipy}-cp{python}-*.whl"):
        if hashlib.sha256(path.read_bytes()).hexdigest() == sha256:
            return path
    return None


def write_manifest(staging: Path, platforms: list[str], wheels: list[Path]) -> None:
    """List platforms and wheels in the staged manifest, before its first table as TOML wants it."""
    path = staging / "blender_manifest.toml"
    head, table, tables = path.read_text("utf-8").partition("\n[")
    listed = [f"platforms = {platforms!r}", f"wheels = {[f'./wheels/{wheel.name}' for wheel in wheels]!r}"]
    path.write_text("\n".join([head, *listed, ""]) + table + tables, "utf-8")


def run(*words) -> None:
    """Run Python with these words; its output is the error when it fails."""
    done = subprocess.run([sys.executable, *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        raise PackagingError(f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Build the installable ZIPs of Motion Loom.")
    parser.add_argument("--platform", action="append", choices=WHEELS, help="only this one (may be repeated)")
    parser.add_argument("--output", type=Path, default=ROOT / "dist", help="folder of the ZIPs (dist)")
    args = parser.parse_args()
    try:
        for path in build(args.platform or list(WHEELS), args.output.resolve(), ROOT / "build" / "staging"):
            print(f"{path}  {path.stat().st_size / 1e6:.1f} MB, valid")
    except (PackagingError, OSError) as error:
        print(f"package: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
