"""The workflows, in the order of the panel. Only registration takes them from here, and hands them to ``registry``."""

from __future__ import annotations

from .adapt import Adapt
from .bake import Bake
from .base import Workflow
from .map import Map
from .stream import Stream
from .transfer import Transfer

WORKFLOWS: tuple[Workflow, ...] = (Adapt(), Map(), Transfer(), Stream(), Bake())
