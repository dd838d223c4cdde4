"""A layout that keeps what a panel draws, and checks it against Blender: properties, icons, operators."""

import types

import bpy

ICONS = set(bpy.types.UILayout.bl_rna.functions["label"].parameters["icon"].enum_items.keys())


class Layout:
    """Keeps what is drawn; raises for a property, an icon or an operator that Blender does not have."""

    def __init__(self, drawn, opened, workflow=None):
        vars(self).update(drawn=drawn, opened=opened, workflow=workflow)

    def _part(self, **_how):
        return Layout(self.drawn, self.opened, self.workflow)

    row = column = box = split = _part

    def panel(self, name, default_closed=False):
        is_open = self.opened or not default_closed
        return self._part(), self._part() if is_open else None

    def label(self, text="", icon="NONE", translate=True):
        assert icon in ICONS, icon
        self.drawn.append(text)

    def separator(self):
        """Nothing is written."""

    def progress(self, factor, text):
        self.drawn.append(text)

    def prop(self, owner, name, **look):
        assert name in owner.bl_rna.properties, name
        self.drawn.append(name)

    def prop_search(self, owner, name, holder, items, text=""):
        assert items in holder.bl_rna.properties
        self.prop(owner, name)

    def template_list(self, kind, _id, owner, items, active_owner, active, rows=5):
        for item in getattr(owner, items):
            getattr(bpy.types, kind).draw_item(None, bpy.context, self, owner, item, 0, active_owner, active)

    def context_string_set(self, name, value):
        assert name == "motion_loom_workflow"
        self.workflow = value

    def operator(self, name, text=None, icon="NONE", depress=False, translate=True):
        assert icon in ICONS, icon
        kind = getattr(bpy.types, name.replace(".", "_OT_").replace("motion_loom", "MOTION_LOOM"))
        self.drawn.append(kind.bl_label if text is None else text)
        given = types.SimpleNamespace()
        return given


class Context:
    """What a panel's context has and the background's has not."""

    def __init__(self, ob):
        self.object, self.scene = ob, bpy.context.scene
        self.region = types.SimpleNamespace(width=290)
        self.preferences = types.SimpleNamespace(
            ui_styles=bpy.context.preferences.ui_styles, system=types.SimpleNamespace(ui_scale=1.0)
        )
