"""Renders without a window while Map is live show the moved mesh: the pixels are those of the bake."""

from pathlib import Path

import bpy
import numpy as np
import pytest

from tests import map_play as play

PIXELS = 32


def set_stage(folder, engine="CYCLES"):
    scene = bpy.context.scene
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(camera)
    camera.location, camera.rotation_euler = (4.0, -0.7, 0.6), (1.45, 0.0, 1.5708)
    scene.camera = camera
    lamp = bpy.data.objects.new("Sun", bpy.data.lights.new("Sun", "SUN"))
    lamp.rotation_euler = (0.6, 0.3, 0.0)
    scene.collection.objects.link(lamp)
    scene.render.engine = engine
    scene.cycles.samples, scene.cycles.use_denoising, scene.cycles.device = 2, False, "CPU"
    scene.cycles.use_adaptive_sampling = False
    scene.render.resolution_x = scene.render.resolution_y = PIXELS
    scene.render.resolution_percentage = 100
    scene.render.image_settings.file_format = "OPEN_EXR"
    scene.render.image_settings.color_depth = "32"


def pixels(path):
    image = bpy.data.images.load(str(path))
    out = np.array(image.pixels[:]).reshape(PIXELS, PIXELS, -1)
    bpy.data.images.remove(image)
    return out


def still(folder, name):
    bpy.context.scene.render.filepath = str(folder / name)
    bpy.ops.render.render(write_still=True)
    return pixels(folder / f"{name}.exr")


def three_frames(folder, name):
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.frame_step = 8, 32, 12
    scene.render.filepath = str(folder / f"{name}_")
    bpy.ops.render.render(animation=True)
    return np.stack([pixels(path) for path in sorted(Path(folder).glob(f"{name}_*.exr"))])


@pytest.mark.parametrize("blur", (False, True), ids=("sharp", "blurred"))
@pytest.mark.parametrize("render", (still, three_frames))
def test_a_render_is_that_of_the_bake(tmp_path, render, blur):
    ob = play.add_ready()
    set_stage(tmp_path)
    scene = bpy.context.scene
    scene.render.use_motion_blur, scene.render.motion_blur_shutter = blur, 1.0
    scene.frame_set(20)
    original = render(tmp_path, "original")
    play.toggle(ob)
    scene.frame_set(20)
    followed = render(tmp_path, "live")
    assert play.status(ob).problem is None
    assert np.abs(followed - original).max() > 0.05
    new = play.bake(ob)
    play.toggle(ob)
    ob.hide_render = True
    scene.frame_set(20)
    baked = render(tmp_path, "baked")
    assert new.users_scene and baked[..., :3].std() > 0.01
    if blur:
        # The bake goes straight from frame to frame, live maps the pose between.
        assert np.abs(followed - baked).mean() < 0.02 * np.abs(followed - original).mean()
    else:
        assert np.abs(followed - baked).max() < 0.02 and np.abs(followed - baked).mean() < 1e-4
