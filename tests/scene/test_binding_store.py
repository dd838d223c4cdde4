import struct
import zlib

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import binding_store
from bl_ext.devrepo.motion_loom.scene.discarding import discard
from bl_ext.devrepo.motion_loom.solvers.core.errors import InputError, StaleBindingError

from tests.objects import add_object, reopen
from tests.old_stores import as_mesh, mesh_of, raw_mesh, raw_words

HEADER = {"fingerprints": {'Böx "1".001 箱': "8:12:ab"}, "frames": [1, 250], "scale": 1.25, "none": None}


class _Holder(bpy.types.PropertyGroup):
    bound: bpy.props.PointerProperty(type=binding_store.DATABLOCK)


def _register():
    bpy.utils.register_class(_Holder)
    bpy.types.Object.ml_test_holder = bpy.props.PointerProperty(type=_Holder)


@pytest.fixture
def rig():
    """An object with a pointer property as the settings have one."""
    _register()
    yield add_object("Rig")
    del bpy.types.Object.ml_test_holder
    bpy.utils.unregister_class(_Holder)


def _arrays():
    rng = np.random.default_rng(2)
    return {
        "positions": rng.normal(size=(7, 5, 3)),
        "weights": rng.random((11, 4)).astype(np.float32),
        "triangle": rng.integers(0, 90, 4000).astype(np.int32),
        "frames": np.arange(-3, 900, dtype=np.int64),
        "kept": rng.random(33) > 0.5,
        "zeros": np.zeros((200, 30, 3)),
        "empty": np.empty((0, 3)),
        "scalar": np.array(3.5),
        "fortran": np.asfortranarray(rng.normal(size=(6, 4))),
        "backwards": np.arange(10.0)[::-1],
        "big endian": np.arange(5, dtype=">i4"),
        "not numbers": np.array([np.nan, -np.nan, np.inf, -np.inf, -0.0, 5e-324]),
    }


def _assert_same(arrays, loaded):
    assert list(loaded) == list(arrays)
    for name, array in arrays.items():
        assert loaded[name].dtype == array.dtype.newbyteorder("<"), name
        assert loaded[name].shape == array.shape, name
        assert loaded[name].tobytes() == array.astype(array.dtype.newbyteorder("<")).tobytes(), name
        assert loaded[name].flags.writeable, name


def _of_mesh(group):
    return raw_words(as_mesh(group))


def _group(words):
    group = bpy.data.node_groups.new(".raw", "GeometryNodeTree")
    group["data"] = np.asarray(words, np.int32)
    return group


def test_arrays_and_header_come_back_exactly():
    group = binding_store.save("Rig", _arrays(), HEADER)
    arrays, header = binding_store.load(group)
    _assert_same(_arrays(), arrays)
    assert header == HEADER
    assert group.name == ".motion_loom Rig"
    assert not group.users


def test_every_byte_pattern_survives_save_and_reopen(tmp_path, rig):
    """20 MB of random bytes."""
    rng = np.random.default_rng(0)
    noise = rng.integers(0, 2**32, 5 * 2**20, dtype=np.uint32)
    arrays = {"noise": noise, "bytes": rng.integers(0, 256, 1001, dtype=np.uint8)}
    rig.ml_test_holder.bound = binding_store.save("Rig", arrays, HEADER)
    reopen(tmp_path)
    group = bpy.data.objects["Rig"].ml_test_holder.bound
    _assert_same(arrays, binding_store.load(group)[0])
    assert len(group["data"]) * 4 < 1.01 * noise.nbytes


def test_it_is_gone_with_its_last_user_and_stays_while_it_has_one(tmp_path, rig):
    """Orphans are purged on save; a pointer property is a user."""
    rig.ml_test_holder.bound = binding_store.save("Rig", _arrays(), HEADER)
    reopen(tmp_path)
    bpy.ops.outliner.orphans_purge(do_recursive=True)
    rig = bpy.data.objects["Rig"]
    assert list(bpy.data.node_groups) == [rig.ml_test_holder.bound]
    rig.ml_test_holder.bound = None
    reopen(tmp_path)
    assert not bpy.data.node_groups


def test_appending_adds_no_object(tmp_path, rig):
    """A mesh that nothing shows came in as an object."""
    rig.ml_test_holder.bound = binding_store.save("Rig", _arrays(), HEADER)
    path = reopen(tmp_path)
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.append(filename="Rig", directory=f"{path}/Object/")
    assert [ob.name for ob in bpy.data.objects] == ["Rig"]
    _assert_same(_arrays(), binding_store.load(bpy.data.objects["Rig"].ml_test_holder.bound)[0])


def test_a_mesh_of_an_older_file_is_read_bit_by_bit(tmp_path, rig):
    words = np.random.default_rng(1).integers(0, 2**32, 30000, dtype=np.uint32)
    words[:4096] |= 0x7F800000  # infinities and quiet and signalling NaNs of both signs
    words[4096:8192] &= 0x807FFFFF  # subnormals
    arrays = _arrays() | {"words": words}
    rig.ml_test_holder.bound = mesh = as_mesh(binding_store.save("Rig", arrays, HEADER))
    mesh.validate()  # zeroes vertices that are not finite: clean-up scripts run it over all meshes
    reopen(tmp_path)
    mesh = bpy.data.objects["Rig"].ml_test_holder.bound
    loaded, header = binding_store.load(mesh)
    _assert_same(arrays, loaded)
    assert header == HEADER
    changed = as_mesh(binding_store.save("Rig", arrays | {"words": words + 1}, HEADER))
    assert binding_store.mark(mesh) == binding_store.mark(mesh)
    assert binding_store.mark(mesh)[1:] != binding_store.mark(changed)[1:]


def test_a_pointer_property_keeps_it_in_the_file_even_without_the_extension(tmp_path, rig):
    rig.ml_test_holder.bound = binding_store.save(rig.name, _arrays(), HEADER)
    rig.name = "Renamed"
    bpy.utils.unregister_class(_Holder)
    reopen(tmp_path)
    reopen(tmp_path)
    _register()
    _assert_same(_arrays(), binding_store.load(bpy.data.objects["Renamed"].ml_test_holder.bound)[0])


def test_a_new_binding_leaves_the_one_a_duplicated_rig_shares(rig):
    rig.ml_test_holder.bound = first = binding_store.save(rig.name, {"a": np.arange(3)}, {})
    copy = rig.copy()
    rig.ml_test_holder.bound = binding_store.save(rig.name, {"a": np.arange(4)}, {})
    discard(first)
    assert len(binding_store.load(copy.ml_test_holder.bound)[0]["a"]) == 3
    assert len(binding_store.load(rig.ml_test_holder.bound)[0]["a"]) == 4
    copy.ml_test_holder.bound = None
    discard(first)
    assert [group.name for group in bpy.data.node_groups] == [rig.ml_test_holder.bound.name]
    discard(None)


def test_long_names_and_names_in_use_are_fine():
    name = "Ж\"'.001 箱" * 40
    first, second = (binding_store.save(name, {"a": np.array([i])}, {}) for i in (1, 2))
    assert first.name != second.name
    assert binding_store.load(first)[0]["a"] == 1
    assert binding_store.load(second)[0]["a"] == 2


ODD = np.array(["a"]), np.array([object()]), np.array([1j]), np.zeros(2, "g")


@pytest.mark.parametrize(
    "arrays, header, words",
    [({"odd": array}, {}, "'odd'") for array in ODD]
    + [({}, {"a": value}, "header") for value in (np.zeros(3), float("nan"))],
)
def test_only_plain_numbers_and_what_json_holds_are_stored(arrays, header, words):
    with pytest.raises(InputError, match=words):
        binding_store.save("Rig", arrays, header)
    assert not len(bpy.data.node_groups)


def _refused(block, words="bind again"):
    with pytest.raises(StaleBindingError, match=words):
        binding_store.load(block)


@pytest.mark.parametrize("words_of, made", [(lambda group: np.array(group["data"]), _group), (_of_mesh, raw_mesh)])
def test_what_is_no_whole_binding_asks_to_bind_again(words_of, made):
    """Numbers of something else, a part of a binding, a flipped bit."""
    _refused(made(np.arange(300, dtype=np.uint32)))
    words = words_of(binding_store.save("Rig", _arrays(), HEADER))
    for length in (3, 6, 12, len(words) // 6 * 3, len(words) - 3):
        _refused(made(words[:length]))
    for place in np.random.default_rng(5).integers(0, len(words) - 8, 60):
        damaged = words.copy()
        damaged[place] ^= 1 << int(place % 16)
        _refused(made(damaged))


def test_what_holds_nothing_or_something_else_asks_to_bind_again():
    _refused(None, "Bind")
    _refused(bpy.data.meshes.new("empty"))
    _refused(bpy.data.objects.new("object", None))
    for value in (None, 3, "text", [1.5] * 40, ["texts"] * 40):
        group = bpy.data.node_groups.new(".other", "GeometryNodeTree")
        if value is not None:
            group["data"] = value
        _refused(group)
        assert binding_store.mark(group)[1:] == (0,)


def test_a_newer_version_asks_to_update_or_bind_again(monkeypatch):
    monkeypatch.setattr(binding_store, "_VERSION", 7)
    group = binding_store.save("Rig", _arrays(), HEADER)
    monkeypatch.undo()
    _refused(group, "newer Motion Loom.*format 7.*bind again")


def test_a_forged_block_unfolds_no_further_than_its_array():
    """A valid checksum over a small block that would unfold to 100 MB."""
    bomb = zlib.compress(bytes(10**8))
    stream = bytearray(binding_store._pack({"a": np.zeros(4096)}, {}))
    prefix = struct.Struct("<8sIIQ")
    magic, version, header_length, _ = prefix.unpack_from(stream)
    start = prefix.size + 4
    text = bytes(stream[start : start + header_length])
    size = len(stream) - start - header_length
    text = text.replace(f'"size": {size}'.encode(), f'"size": {len(bomb)}'.encode())
    body = text + bomb
    start_of_forged = prefix.pack(magic, version, len(text), start + len(body))
    checksum = zlib.crc32(body, zlib.crc32(start_of_forged))
    forged = start_of_forged + struct.pack("<I", checksum) + body
    words = np.frombuffer(forged + bytes(-len(forged) % 4), np.int32)
    for block in _group(words), mesh_of(words.view(np.uint32)):
        arrays, _ = binding_store.load(block)
        assert arrays["a"].nbytes == 4096 * 8
