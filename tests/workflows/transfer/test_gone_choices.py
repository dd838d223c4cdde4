"""Files of earlier versions with choices that are gone: they open, say what takes the place, and learn with that."""

import numpy as np
import pytest
from bl_ext.devrepo.motion_loom import jobs
from bl_ext.devrepo.motion_loom.scene import binding_store
from bl_ext.devrepo.motion_loom.solvers.core.errors import StaleBindingError
from bl_ext.devrepo.motion_loom.state import cache
from bl_ext.devrepo.motion_loom.workflows.transfer.model import is_trained, learnt_of
from bl_ext.devrepo.motion_loom.workflows.transfer.settings import choice, gone_choice

from tests import transfer_play as play
from tests.mesh_steps import activate, reopened

SAID = {
    "kernel": "Kernel 'Linear' is gone: 'Neural Network' takes its place",
    "densify": "Between Pairs 'Linear Map' is gone: 'By Pose' takes its place",
}


def opened(tmp_path, *names):
    """A trained scene of which a file was saved with such choices, open again."""
    _, bob, _ = play.add_trained()
    settings = bob.motion_loom_transfer
    play.choose_gone(settings, *names)
    settings.learnt_of = "of those choices"
    if "kernel" in names:
        arrays, header = binding_store.load(settings.learnt)
        texts = header["texts"]
        texts |= {name: "linear" for name in texts if name.endswith(" kernel")}
        settings.learnt = binding_store.save("Bob", arrays, header)
    bob = reopened(bob, tmp_path)
    cache.clear()
    return bob


@pytest.mark.parametrize("name", SAID)
def test_it_opens_and_training_says_what_takes_its_place(name, tmp_path, capfd):
    bob = opened(tmp_path, name)
    settings = bob.motion_loom_transfer
    assert choice(settings, name) == settings.bl_rna.properties[name].enum_items[0].identifier
    assert gone_choice(settings, name) == SAID[name]
    assert not is_trained(bob)
    play.press(bob, "train")
    assert SAID[name] in capfd.readouterr().out
    assert getattr(settings, name) == choice(settings, name) and gone_choice(settings, name) is None
    assert is_trained(bob) and np.isfinite(learnt_of(bob).regressions[0].input_mean).all()


def test_what_was_learnt_with_a_kernel_that_is_gone_says_what_to_do(tmp_path, capfd):
    bob = opened(tmp_path, "kernel")
    with pytest.raises(StaleBindingError, match="the kernel 'linear', which is gone; press Train"):
        learnt_of(bob)
    activate(bob)
    assert jobs.main(["transfer", "--target", "Bob", "--bake", "pca-keys"]) == 0, capfd.readouterr().err
    assert is_trained(bob)
