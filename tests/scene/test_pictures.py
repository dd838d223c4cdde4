"""Pictures of numbers: kept in the file with a preview that shows thin lines whole."""

import bpy
import numpy as np
from bl_ext.devrepo.motion_loom.scene.pictures import icon_of, write_picture

from tests.objects import reopen


def noise(height, width, seed=0):
    return np.random.default_rng(seed).uniform(0, 1, (height, width, 4)).astype(np.float32)


def read(image):
    """(H, W, 4)"""
    found = np.empty(4 * image.size[0] * image.size[1], np.float32)
    image.pixels.foreach_get(found)
    return found.reshape(image.size[1], image.size[0], 4)


def preview(image):
    """(H, W, 4)"""
    found = image.preview_ensure()
    return np.array(found.image_pixels_float[:]).reshape(found.image_size[1], found.image_size[0], 4)


def test_a_picture_keeps_its_pixels_and_its_preview_in_the_file(tmp_path):
    """Small pictures are their own previews, translucent ones too."""
    pixels = noise(5, 7)
    assert np.abs(preview(write_picture("Small", pixels)) - pixels).max() < 1 / 255
    pixels[..., 3] = 1.0
    image = write_picture("Cost", pixels)
    assert tuple(image.size) == (7, 5) and image.packed_file is not None
    image.use_fake_user = True
    reopen(tmp_path)
    image = bpy.data.images["Cost"]
    assert np.abs(read(image) - pixels).max() < 1 / 255
    assert np.abs(preview(image) - pixels).max() < 1 / 255
    assert isinstance(icon_of(image), int)


def test_the_same_image_takes_another_picture_of_another_size():
    first = write_picture("Cost", np.zeros((4, 4, 4), np.float32))
    second = write_picture("Cost", np.ones((6, 3, 4), np.float32), first)
    assert second == first and tuple(second.size) == (3, 6)
    assert (read(second) == 1.0).all()


def test_a_preview_is_the_mean_of_the_pixels_it_stands_for():
    pixels = noise(512, 256, seed=1)
    image = write_picture("Cost", pixels)
    wanted = pixels.reshape(256, 2, 128, 2, 4).mean(axis=(1, 3))
    assert np.abs(preview(image) - wanted).max() < 1 / 255
    pixels = np.zeros((300, 480, 4), np.float32)
    pixels[150] = 1.0  # a thin line
    assert write_picture("Cost", pixels, image) == image
    assert preview(image).shape == (160, 256, 4)
    assert np.abs(preview(image).sum(axis=0) - 160 / 300).max() < 0.02
