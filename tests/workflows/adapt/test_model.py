"""What is bound is unpacked once, and never believed after it has changed."""

import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import binding_store
from bl_ext.devrepo.motion_loom.solvers.core.errors import StaleBindingError
from bl_ext.devrepo.motion_loom.workflows.environment.model import stored_of

from tests import adapt_scenes as scenes


@pytest.fixture
def rig(bound):
    return bound


def test_what_is_bound_is_unpacked_once(rig, monkeypatch):
    stored = stored_of(rig, scenes.workflow())
    assert stored.binding.objects == ("Floor", "Step")
    monkeypatch.setattr(binding_store, "load", None)
    assert stored_of(rig, scenes.workflow()) is stored


def test_a_new_binding_is_read(rig):
    stored = stored_of(rig, scenes.workflow())
    scenes.bind_rig(rig, start=3, end=9)
    again = stored_of(rig, scenes.workflow())
    assert again is not stored
    np.testing.assert_array_equal(again.binding.track.frames, np.arange(3, 10))


def test_a_rig_without_binding_says_so():
    with pytest.raises(StaleBindingError, match="no stored binding"):
        stored_of(scenes.add_walker(), scenes.workflow())


def test_bytes_that_changed_in_place_are_read_again(rig):
    """As after an undo: the same datablock, another content."""
    other = scenes.add_walker("Other")
    scenes.bind_rig(other, start=2, end=22)
    stored = stored_of(rig, scenes.workflow())
    rig.motion_loom_adapt.binding["data"] = np.array(other.motion_loom_adapt.binding["data"])
    again = stored_of(rig, scenes.workflow())
    assert again is not stored
    np.testing.assert_array_equal(again.binding.track.frames, np.arange(2, 23))


def test_an_emptied_binding_says_so(rig):
    stored_of(rig, scenes.workflow())
    rig.motion_loom_adapt.binding.pop("data")
    with pytest.raises(StaleBindingError, match="damaged"):
        stored_of(rig, scenes.workflow())
