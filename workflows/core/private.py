"""What is evaluated beside the user's scene, see ``scene.private_copies``: handlers leave it alone, and sweep it up."""

from __future__ import annotations

from ...scene.private_copies import sweep
from ...scene.session import is_private, object_count

__all__ = ["is_private", "object_count", "sweep"]
