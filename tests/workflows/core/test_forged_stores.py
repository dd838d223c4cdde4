"""What a file holds under a valid checksum without having been stored by the extension: told in words, never used."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import binding_store
from bl_ext.devrepo.motion_loom.solvers.core.errors import StaleBindingError
from bl_ext.devrepo.motion_loom.state import cache
from bl_ext.devrepo.motion_loom.workflows.environment.model import stored_of
from bl_ext.devrepo.motion_loom.workflows.map import model as map_model
from bl_ext.devrepo.motion_loom.workflows.transfer import model as transfer_model

from tests import adapt_play, adapt_scenes, map_play, transfer_play
from tests.commands import refused
from tests.old_stores import as_mesh

pytestmark = pytest.mark.versions


def bound_of(ob):
    return stored_of(ob, adapt_scenes.workflow())


# What is stored where, who reads it, and arrays and entries of the header in it.
STORES = {
    # fmt: off
    "adapt": ("Rig", "motion_loom_adapt", "binding", bound_of, ("parents", "triangle", "side"), "fps"),
    "map": ("Worm", "motion_loom_map", "learnt", map_model.target_of, ("space triangles", "frames"), "vertices"),
    "map source": ("Worm", "motion_loom_map", "clip", map_model.clip_of, ("positions", "frames"), "fps"),
    "transfer": ("Bob", "motion_loom_transfer", "subjects", transfer_model.subjects_of, ("source/triangles",
                 "source clip 0/rotations"), "fps"),
    "transfer clip": ("Bob", "motion_loom_transfer", "clip", transfer_model.clip_of, ("seen/samples",), "fps"),
    # fmt: on
}
FORGERIES = {
    "shape": lambda array: array[:-1],
    "dimensions": lambda array: array[..., None],
    "indices": lambda array: np.where(np.arange(array.size).reshape(array.shape) == 0, array + 10**7, array),
    "dtype": lambda array: array.astype("<u1") if array.dtype.kind == "f" else array.astype("<f8") + 0.5,
}
HEADERS = (None, "much", -1.0, [], {"a": 1})


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A file of each kind, with what is stored in it."""
    bpy.ops.wm.read_homefile(use_empty=True)
    folder, files = tmp_path_factory.mktemp("stores"), {}
    for name, build in (("adapt", add_bound), ("map", map_play.add_ready), ("transfer", transfer_play.add_live)):
        bpy.ops.wm.read_homefile(use_empty=True)
        build()
        files[name] = folder / f"{name}.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(files[name]))
    return files


def add_bound():
    adapt_play.bind(adapt_scenes.add_scene())


def forge(name, change):
    """Store what change makes of the arrays and the header; the object, and the reader that has to refuse them."""
    owner, settings, store, read, *_ = STORES[name]
    ob = bpy.data.objects[owner]
    arrays, header = binding_store.load(getattr(getattr(ob, settings), store))
    change(arrays, header)
    setattr(getattr(ob, settings), store, binding_store.save("forged", arrays, header))
    cache.clear()
    return ob, read


@pytest.mark.parametrize("name", STORES)
def test_forged_stores_are_told_in_words(name, saved):
    bpy.ops.wm.open_mainfile(filepath=str(saved[name.split()[0]]))
    owner, settings, store, read, names, entry = STORES[name]
    ob = bpy.data.objects[owner]
    sound = binding_store.load(getattr(getattr(ob, settings), store))
    assert read(ob) is not None

    def refused(change):
        def of_sound(arrays, header):
            arrays.clear()
            arrays.update({key: value.copy() for key, value in sound[0].items()})
            header.clear()
            header.update(sound[1])
            change(arrays, header)

        with pytest.raises(StaleBindingError):
            read(forge(name, of_sound)[0])

    for array in names:
        for of, forgery in FORGERIES.items():
            if of == "indices" and sound[0][array].dtype.kind == "f":
                continue
            if of == "shape" and array.endswith("triangles"):
                continue  # a face less is another mesh
            refused(lambda arrays, _, array=array, forgery=forgery: arrays.update({array: forgery(arrays[array])}))
        refused(lambda arrays, _header, array=array: arrays.pop(array))
    for value in HEADERS:
        refused(lambda _arrays, header, value=value: header.update({entry: value}))
    refused(lambda _arrays, header: header.pop(entry))


@pytest.mark.parametrize("name", STORES)
def test_what_an_older_file_keeps_in_a_mesh_is_read(name, saved, tmp_path):
    bpy.ops.wm.open_mainfile(filepath=str(saved[name.split()[0]]))
    owner, settings, store, read, *_ = STORES[name]
    group = getattr(getattr(bpy.data.objects[owner], settings), store)
    setattr(getattr(bpy.data.objects[owner], settings), store, as_mesh(group))
    bpy.data.node_groups.remove(group)
    adapt_play.reopen(tmp_path / "older.blend", owner)
    assert isinstance(getattr(getattr(bpy.data.objects[owner], settings), store), bpy.types.Mesh)
    assert read(bpy.data.objects[owner]) is not None


def test_a_forged_binding_ends_the_command_in_a_line(saved, capsys):
    bpy.ops.wm.open_mainfile(filepath=str(saved["adapt"]))
    forge("adapt", lambda arrays, _header: arrays.update(triangle=arrays["triangle"] + 10**6))
    reason = refused(capsys, "adapt", "--rig", "Rig")
    assert "The bound data stored in the file are damaged ('triangle' points beyond what there is); bind" in reason
