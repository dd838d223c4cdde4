"""Pictures of numbers: kept in the file with a preview that shows thin lines whole."""

import bpy
import numpy as np
from bl_ext.devrepo.motion_loom.scene.pictures import icon_of, write_picture


def test_a_picture_keeps_its_pixels_in_the_file(tmp_path):
    pixels = np.random.default_rng(0).uniform(0, 1, (5, 7, 4)).astype(np.float32)
    pixels[..., 3] = 1.0
    image = write_picture("Cost", pixels)
    assert tuple(image.size) == (7, 5) and image.packed_file is not None
    image.use_fake_user = True
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "picture.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "picture.blend"))
    found = np.empty(140, np.float32)
    bpy.data.images["Cost"].pixels.foreach_get(found)
    assert np.abs(found.reshape(5, 7, 4) - pixels).max() < 1 / 255


def test_the_same_image_takes_another_picture_of_another_size():
    first = write_picture("Cost", np.zeros((4, 4, 4), np.float32))
    second = write_picture("Cost", np.ones((6, 3, 4), np.float32), first)
    assert second == first and tuple(second.size) == (3, 6)
    found = np.empty(72, np.float32)
    second.pixels.foreach_get(found)
    assert (found == 1.0).all()


def preview(image):
    """(H, W, 4)"""
    found = image.preview_ensure()
    return np.array(found.image_pixels_float[:]).reshape(found.image_size[1], found.image_size[0], 4)


def test_a_preview_is_the_mean_of_the_pixels_it_stands_for():
    pixels = np.random.default_rng(1).uniform(0, 1, (512, 256, 4)).astype(np.float32)
    image = write_picture("Cost", pixels)
    wanted = pixels.reshape(256, 2, 128, 2, 4).mean(axis=(1, 3))
    assert np.abs(preview(image) - wanted).max() < 1 / 255
    pixels = np.zeros((300, 480, 4), np.float32)
    pixels[150] = 1.0  # a thin line
    assert write_picture("Cost", pixels, image) == image
    assert preview(image).shape == (160, 256, 4)
    assert np.abs(preview(image).sum(axis=0) - 160 / 300).max() < 0.02


def test_a_preview_stays_in_the_file_and_small_pictures_are_their_own(tmp_path):
    pixels = np.random.default_rng(2).uniform(0, 1, (5, 7, 4)).astype(np.float32)
    image = write_picture("Cost", pixels)
    image.use_fake_user = True
    assert np.abs(preview(image) - pixels).max() < 1 / 255
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "picture.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "picture.blend"))
    image = bpy.data.images["Cost"]
    assert np.abs(preview(image) - pixels).max() < 1 / 255
    assert isinstance(icon_of(image), int)
