"""Typed errors of Motion Loom: every message names the culprit and the way out."""


class MotionLoomError(Exception):
    """Base of every error that a user can cause and mend; its text is shown as it is."""


class InputError(MotionLoomError):
    """The data handed in cannot be used: NaN, an empty range, a bad shape, a degenerate mesh."""


class StillError(InputError):
    """Nothing moves over a range that is to be learnt from."""


class PartError(InputError):
    """Something about one body part. part: counts from 0.  problem: what is wrong, without a name for the part."""

    def __init__(self, part: int, problem: str):
        super().__init__(f"Part {part + 1}: {problem}")
        self.part, self.problem = part, problem


class StaleBindingError(MotionLoomError):
    """The binding no longer fits the scene: topology, bones or action changed since bind."""


class ChangedSetError(StaleBindingError):
    """Objects of the bound set were removed or edited: what is bound to the others can be kept."""


class SceneError(MotionLoomError):
    """The scene is not ready: no action, a hidden or missing object, a linked rig."""


class TooLargeError(MotionLoomError):
    """There is not enough memory."""

    def __init__(self, what: str, error: MemoryError):
        reason = f" ({error})" if str(error) else ""
        super().__init__(
            f"There is not enough memory for {what}{reason}; shorten the range of frames, or use meshes with fewer "
            "vertices."
        )


class OutputError(MotionLoomError):
    """A result cannot be written: a path, an action or an object refuses it."""
