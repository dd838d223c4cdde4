"""Motion Loom: an add-on that keeps a motion's relation to its surroundings.

Nothing is imported at module level: this folder is also the root of the tests, and the solvers' tests run
without bpy.
"""


def register():
    from . import registration

    registration.register()


def unregister():
    from . import registration

    registration.unregister()
