"""The run-time cache: trusted only for the inputs it was fitted to, empty in another file."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.state import cache


@pytest.fixture(autouse=True)
def empty_cache():
    cache.clear()


def test_model_is_found_by_uid_workflow_and_fingerprint():
    model = np.arange(3.0)
    cache.put(7, "adapt", "a", model)
    assert cache.get(7, "adapt", "a") is model
    assert cache.get(7, "adapt", "b") is None
    assert cache.get(7, "other", "a") is None
    assert cache.get(8, "adapt", "a") is None


def test_evaluated_copies_are_refused():
    """Their session_uid is 0: every evaluated object would share one entry."""
    with pytest.raises(ValueError, match="original"):
        cache.put(0, "adapt", "a", 1)


def test_loading_a_file_clears():
    cache.put(7, "adapt", "a", 1)
    bpy.ops.wm.read_homefile(use_empty=True)
    assert cache.get(7, "adapt", "a") is None


def test_renaming_keeps_the_uid():
    ob = bpy.data.objects.new("Rig", None)
    cache.put(ob.session_uid, "adapt", "a", 1)
    ob.name = "Other"
    assert cache.get(ob.session_uid, "adapt", "a") == 1


@pytest.mark.parametrize(
    "other",
    [
        ("Rig", np.arange(6.0) + 1e-12, 24),
        ("Rig", np.arange(6.0).reshape(2, 3), 24),
        ("Rig", np.arange(6), 24),
        ("Rig2", np.arange(6.0), 24),
        ("Rig", np.arange(6.0), "24"),
        ("Rig", np.arange(6.0), None),
    ],
)
def test_fingerprint_tells_values_shapes_and_types_apart(other):
    assert cache.fingerprint("Rig", np.arange(6.0), 24) == cache.fingerprint("Rig", np.arange(6.0), 24)
    assert cache.fingerprint("Rig", np.arange(6.0), 24) != cache.fingerprint(*other)


def test_fingerprint_does_not_run_parts_together():
    assert cache.fingerprint("ab", "c") != cache.fingerprint("a", "bc")
