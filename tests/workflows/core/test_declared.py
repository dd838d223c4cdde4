"""What a workflow declares to Blender is registered with it, works, and goes with it."""

import importlib

import bpy
import pytest
from bl_ext.devrepo.motion_loom.solvers.core.errors import InputError
from bl_ext.devrepo.motion_loom.workflows.core import registry
from bl_ext.devrepo.motion_loom.workflows.core.base import Workflow
from bl_ext.devrepo.motion_loom.workflows.core.list_entries import EntryList
from bl_ext.devrepo.motion_loom.workflows.interface.operators import ChangeOperator

PACKAGE = registry.__name__.partition(".workflows")[0]


class ShelfBook(bpy.types.PropertyGroup):
    pages: bpy.props.IntProperty(default=1)


class ShelfSettings(bpy.types.PropertyGroup):
    books: bpy.props.CollectionProperty(type=ShelfBook)
    active_book: bpy.props.IntProperty(default=-1)


class MOTION_LOOM_OT_shelf_burn(ChangeOperator, bpy.types.Operator):
    """Empty the shelf"""

    bl_idname = "motion_loom.shelf_burn"
    bl_label = "Burn"

    @staticmethod
    def needs(context):
        return None if context.scene.motion_loom_shelf.books else "The shelf is empty"

    def apply(self, context):
        context.scene.motion_loom_shelf.books.clear()


class MOTION_LOOM_UL_shelf_books(bpy.types.UIList):
    """Books"""


def add_book(context):
    books = context.scene.motion_loom_shelf.books
    book = books.add()
    book.pages = len(books)


def remove_book(context, index):
    books = context.scene.motion_loom_shelf.books
    if index >= len(books):
        raise InputError(f"There is no book {index + 1}.")
    books.remove(index if index >= 0 else len(books) - 1)


def why_no_book(context):
    return None if len(context.scene.motion_loom_shelf.books) else "There are no books"


class Shelf(Workflow):
    id, label, settings, settings_owner = "shelf", "Shelf", ShelfSettings, "Scene"
    classes = (ShelfBook,)
    operators = (MOTION_LOOM_OT_shelf_burn,)
    ui_lists = (MOTION_LOOM_UL_shelf_books,)
    entry_lists = (
        EntryList(
            "book", "Book", add_book, remove_book, lambda context: None, why_no_book,
            add_tip="Add a book", remove_tip="Remove a book",
        ),
    )  # fmt: skip
    steps = {"dust_off": "Dust Off"}
    tips = {"dust_off": "Make all pages new"}

    def dust_off(self, context):
        yield 0.5, "Dusting"
        for book in self.settings_of(context.scene).books:
            book.pages = 100
        return "Dusted"


@pytest.fixture
def books(registered):
    registered(Shelf())
    return lambda: [book.pages for book in bpy.context.scene.motion_loom_shelf.books]


def test_lists_grow_and_shrink(books):
    assert not bpy.ops.motion_loom.shelf_remove_book.poll()
    for _ in range(3):
        assert bpy.ops.motion_loom.shelf_add_book() == {"FINISHED"}
    assert bpy.ops.motion_loom.shelf_remove_book(index=0) == {"FINISHED"} and books() == [2, 3]
    assert bpy.ops.motion_loom.shelf_remove_book() == {"FINISHED"} and books() == [2]
    with pytest.raises(RuntimeError, match="There is no book 8"):
        bpy.ops.motion_loom.shelf_remove_book(index=7)


@pytest.mark.parametrize(
    ("name", "label", "tip"), [("add_book", "Add Book", "Add a book"), ("remove_book", "Remove Book", "Remove a book")]
)
def test_buttons_are_named_and_undone(books, name, label, tip):
    made = getattr(bpy.types, f"MOTION_LOOM_OT_shelf_{name}")
    assert (made.bl_label, made.bl_description) == (label, tip) and made.bl_options == {"REGISTER", "UNDO"}


@pytest.mark.versions
def test_operators_and_steps_of_its_own(books):
    bpy.ops.motion_loom.shelf_add_book()
    assert bpy.ops.motion_loom.dust_off(workflow="shelf") == {"FINISHED"} and books() == [100]
    properties = bpy.ops.motion_loom.dust_off.get_rna_type().properties
    assert {"workflow", "asked"} <= set(properties.keys())
    assert bpy.types.MOTION_LOOM_OT_dust_off.bl_label == "Dust Off"
    assert bpy.ops.motion_loom.shelf_burn() == {"FINISHED"} and books() == []
    assert not bpy.ops.motion_loom.shelf_burn.poll()


def test_others_have_no_such_step(registered):
    registered(Shelf(), *(each for each in registry.registered() if each.id == "map"))
    with pytest.raises(RuntimeError, match="Map to Mesh has no step 'dust_off'"):
        bpy.ops.motion_loom.dust_off(workflow="map")


def test_all_goes_with_the_workflow(books):
    assert {"shelf_add_book", "shelf_burn", "dust_off"} <= set(dir(bpy.ops.motion_loom))
    assert hasattr(bpy.types, "MOTION_LOOM_UL_shelf_books") and not hasattr(bpy.types, "MOTION_LOOM_OT_map_add_pair")
    registration = importlib.import_module(f"{PACKAGE}.registration")
    registration.unregister()
    registration.register()
    assert not [name for name in dir(bpy.ops.motion_loom) if name.startswith("shelf") or name == "dust_off"]
    assert not hasattr(bpy.types, "MOTION_LOOM_UL_shelf_books") and not hasattr(bpy.types.Scene, "motion_loom_shelf")
