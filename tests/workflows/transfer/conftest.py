"""Ann and Bob, as most tests of Transfer find them."""

import bpy
import pytest

from tests import transfer_play


@pytest.fixture
def bob():
    """The target, live."""
    return transfer_play.TRANSFER.add_live()


@pytest.fixture
def ann(bob):
    """The source subject of a live Bob."""
    return bpy.data.objects["Ann"]


@pytest.fixture
def new(bob):
    """The new clip of a live Bob."""
    return bpy.data.objects["Ann Again"]


@pytest.fixture
def settings(bob):
    return bob.motion_loom_transfer
