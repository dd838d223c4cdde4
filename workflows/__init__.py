"""The workflows, in the order of the panel. Only registration takes them from here, and hands them to ``registry``."""

from __future__ import annotations

from .adapt.workflow import Adapt
from .bake.workflow import Bake
from .core.base import Workflow
from .map.workflow import Map
from .stream.workflow import Stream
from .transfer.workflow import Transfer

WORKFLOWS: tuple[Workflow, ...] = (Adapt(), Map(), Transfer(), Stream(), Bake())
