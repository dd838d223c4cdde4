"""Rotations, active and acting on column vectors, in radians; quaternions are w, x, y, z.

Two layouts of quaternions serve two kinds of work:

- Frames last, (..., 4, F), in ``quaternions``: what is solved over all frames at once. Each component is a contiguous
  run of F numbers, so a product is a few passes over long runs. The warp and all that it stands on have it: joints
  first, components second, frames last.
- Frames first, (F, ..., 4), or (B, 4) of one frame, components last: what Blender's channels are read from and written
  to (``channels``, ``rotation_vectors``), and what is worked out for a single frame while the user drags
  (``frame_quaternions``, ``frame_channels``). Arrays are short there, and the number of NumPy calls is what costs: a
  product is one small matrix product with the outer product of its factors.

Formulas that both need stand in both, for neither layout serves the other without a copy; tests hold both to SciPy.
Matrices come as (..., 3, 3): nearest rotations and polar decompositions in ``polar``, rigid motions of points in
``rigid``.
"""
