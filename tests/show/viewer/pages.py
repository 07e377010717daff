"""A visitor without a browser: keeps what is put on the page, and lets a test press the buttons."""

from contextlib import nullcontext
from types import SimpleNamespace


class Handle:
    """Any control: its properties are attributes, its callbacks are called by ``tell``."""

    def __init__(self, **properties):
        self.__dict__.update(properties)
        self.callbacks, self.removed = [], False

    def on_update(self, callback):
        self.callbacks.append(callback)

    on_click = on_upload = on_update

    def tell(self, **changes):
        self.__dict__.update(changes)
        for callback in self.callbacks:
            callback(SimpleNamespace(target=self))

    def remove(self):
        self.removed = True

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def add_tab(self, label):
        return nullcontext()

    def dock_left(self):
        pass

    def set_width(self, width):
        self.width = width


class Gui:
    """Controls of every kind that the page uses."""

    def add_markdown(self, content, visible=True):
        return Handle(content=content, visible=visible, order=0)

    add_html = add_markdown

    def add_dropdown(self, label, options, initial_value=None, visible=True):
        return Handle(options=options, value=initial_value or options[0], visible=visible)

    def add_slider(self, label, min, max, step, initial_value, hint=None):
        return Handle(min=min, max=max, value=initial_value)

    def add_number(self, label, initial_value, **rules):
        return Handle(value=initial_value)

    add_checkbox = add_number

    def add_progress_bar(self, value, visible, animated):
        return Handle(value=value, visible=visible)

    def add_button(self, label, **properties):
        return Handle(label=label, **({"visible": True, "disabled": False} | properties))

    def add_text(self, label, initial_value):
        return Handle(value=initial_value)

    def add_upload_button(self, label, **properties):
        return Handle(label=label, value=SimpleNamespace(name="", content=b""), **properties)

    def add_folder(self, label, visible=True, expand_by_default=True):
        return Handle(visible=visible)

    def add_panel(self, visible=True):
        return Handle(visible=visible)


class Scene:
    """What is drawn, by name."""

    def __init__(self):
        self.nodes, self.clicks, self.rectangles = {}, [], []

    def on_click(self):
        return self.clicks.append

    def on_rect_select(self, modifier):
        assert modifier == "shift"
        return self.rectangles.append

    def configure_default_lights(self, **properties):
        pass

    def add_point_cloud(self, name, points, colors, **properties):
        return self._add(name, points=points, colors=colors, **properties)

    def add_line_segments(self, name, points, colors, **properties):
        return self._add(name, points=points, colors=colors, **properties)

    def add_frame(self, name, **properties):
        return self._add(name, **properties)

    def add_icosphere(self, name, **properties):
        return self._add(name, **properties)

    def add_label(self, name, text, **properties):
        return self._add(name, text=text, **properties)

    def remove_by_name(self, name):
        for one in [one for one in self.nodes if one == name or one.startswith(f"{name}/")]:
            del self.nodes[one]

    def _add(self, name, **properties):
        self.nodes[name] = Handle(**properties)
        return self.nodes[name]


class Client:
    """One visitor."""

    def __init__(self, client_id=0):
        self.client_id = client_id
        self.gui, self.scene, self.camera = Gui(), Scene(), SimpleNamespace()
        self.notifications, self.downloads = [], {}
        self.is_there = True

    def atomic(self):
        return nullcontext()

    def add_notification(self, title, body, **properties):
        self.notifications.append(body)

    def send_file_download(self, name, content, save_immediately):
        self.downloads[name] = content

    def click(self, point, from_above=5.0, screen_pos=(0.5, 0.5)):
        """Click straight down at a place."""
        origin = (float(point[0]), float(point[1]), from_above)
        for callback in self.scene.clicks:
            callback(SimpleNamespace(ray_origin=origin, ray_direction=(0.0, 0.0, -1.0), screen_pos=screen_pos))
