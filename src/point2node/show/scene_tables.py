"""The scores of a labelled scan against its truth, and the tables of a page."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from point2node.inference.labelled import LabelledCloud
from point2node.show.colours import css_colour
from point2node.show.contents import Contents

if TYPE_CHECKING:
    from point2node.evaluation.metrics import Counts, Scores


@dataclass(frozen=True, eq=False)
class SceneScores:
    """The confusion matrix of a scene (rows: true, columns: predicted) and what follows from it."""

    confusion: Counts
    scores: Scores
    scored: int
    """The number of points with both a label and a truth."""


def score_scene(scene: LabelledCloud) -> SceneScores | None:
    """Score all points that have both a label and a truth; None without any such point."""
    if scene.true_places is None:
        return None
    both = (scene.true_places >= 0) & (scene.places >= 0)
    if not both.any():
        return None
    from point2node.evaluation.metrics import count_confusion, score

    confusion = count_confusion(scene.true_places[both], scene.places[both], len(scene.classes))
    # indices instead of names: two classes may share a name, and a dictionary would keep only one of them
    scores = score(confusion, [str(place) for place in range(len(scene.classes))])
    return SceneScores(confusion, scores, int(both.sum()))


NO_SCORE = "–"
"""Shown instead of a missing score."""


def tiles(scored: SceneScores | None, contents: Contents | None = None) -> str:
    """Return the tiles at the top: the measurements of the room, and three overall scores if the truth is known."""
    shown = []
    if contents is not None and contents.plan is not None:
        shown.append(("area", f"{contents.plan.area:.1f} m²"))
        shown += [("height", f"{contents.plan.height:.2f} m")] if contents.plan.height is not None else []
    if contents is not None and contents.objects:
        shown.append(("objects", str(len(contents.objects))))
    inner = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in shown)
    groups = [f'<dl class="tiles" aria-label="The room">{inner}</dl>'] if shown else []
    if scored is not None:
        scores = (("OA", scored.scores.oa), ("mAcc", scored.scores.macc), ("mIoU", scored.scores.miou))
        inner = "".join(f"<div><dt>{name}</dt><dd>{_percent(value)}</dd></div>" for name, value in scores)
        groups.append(f'<dl class="tiles" aria-label="Scores in per cent">{inner}</dl>')
    return f'<div class="all-tiles">{"".join(groups)}</div>' if groups else ""


def tables(scene: LabelledCloud, scored: SceneScores | None, contents: Contents | None = None) -> str:
    """Return all tables below the viewer."""
    parts = [_class_table(scene, scored)]
    if contents is not None and (contents.objects or contents.surfaces):
        parts.append(_contents_table(contents))
    if scored is not None:
        parts.append(_confusion_table(scene, scored))
    if scene.notes:
        lines = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in scene.notes.items())
        parts.append(f'<section>\n<h2>Protocol and settings</h2>\n<dl class="facts">{lines}</dl>\n</section>')
    return '<div class="tables">\n' + "\n".join(parts) + "\n</div>"


def _contents_table(contents: Contents) -> str:
    """Return the number and the median size of the objects of each class, and the areas of the surfaces."""
    rows = []
    for name in dict.fromkeys(one.kind.name for one in contents.objects):
        same = [one for one in contents.objects if one.kind.name == name]
        sides = np.median([one.box.size for one in same], axis=0)
        size = " × ".join(f"{side:.2f}" for side in sides) + " m"
        rows.append(f'<tr><th scope="row">{escape(name)}</th><td>{len(same)}</td><td>{size}</td></tr>')
    for kind, (number, area) in contents.areas.items():
        rows.append(f'<tr><th scope="row">{kind}</th><td>{number}</td><td>{area:.1f} m²</td></tr>')
    head = "".join(f'<th scope="col">{heading}</th>' for heading in ("in this room", "number", "size"))
    return (
        '<section>\n<h2>Objects and surfaces</h2>\n<div class="scroll" tabindex="0"><table>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n" + "\n".join(rows) + "\n</tbody>\n</table></div>\n"
        '<p class="note">Found from the labels above, including their mistakes. Sizes of objects are the median '
        "length, width and height of a class; areas of surfaces are the parts that the scanner saw.</p>\n</section>"
    )


def _class_table(scene: LabelledCloud, scored: SceneScores | None) -> str:
    counts = scene.count(scene.places)
    true = None if scene.true_places is None else scene.count(scene.true_places)
    labelled = max(1, int(counts.sum()))
    headings = ["class", *(["IoU", "accuracy"] if scored else []), "points", "share"]
    headings += ["true points"] if true is not None else []
    rows = []
    for place, one in enumerate(scene.classes):
        cells = []
        if scored:
            cells += [_bar(scored.scores.iou[str(place)]), _percent(scored.scores.accuracy[str(place)])]
        cells += [f"{counts[place]:,}", f"{100 * counts[place] / labelled:.1f} %"]
        if true is not None:
            cells.append(f"{true[place]:,}")
        absent = "" if counts[place] or (true is not None and true[place]) else ' class="absent"'
        swatch = f'<span class="swatch" style="--colour: {css_colour(one.colour)}"></span>'
        inner = "".join(f"<td>{cell}</td>" for cell in cells)
        rows.append(f'<tr{absent}><th scope="row">{swatch} {escape(one.name)}</th>{inner}</tr>')
    head = "".join(f'<th scope="col">{heading}</th>' for heading in headings)
    return (
        "<section>\n<h2>Classes</h2>\n"
        f'<div class="scroll" tabindex="0"><table>\n<thead><tr>{head}</tr></thead>\n'
        "<tbody>\n" + "\n".join(rows) + "\n</tbody>\n</table></div>\n" + _class_note(scene, scored) + "\n</section>"
    )


def _class_note(scene: LabelledCloud, scored: SceneScores | None) -> str:
    lines = []
    missing = int((scene.places < 0).sum())
    if missing:
        lines.append(f"{missing:,} of {len(scene):,} points have no label.")
    if scored is not None:
        lines.append(
            f"Scores in per cent, over the {scored.scored:,} points that have both a label and a truth. "
            f"{NO_SCORE}: the truth has no such class; it is left out of the means."
        )
    return f'<p class="note">{escape(" ".join(lines))}</p>' if lines else ""


def _confusion_table(scene: LabelledCloud, scored: SceneScores) -> str:
    """Return the predictions for the points of each true class; classes that do not occur are left out."""
    confusion = scored.confusion
    true = [n for n in range(len(scene.classes)) if confusion[n].any()]
    there = [n for n in range(len(scene.classes)) if n in true or confusion[:, n].any()]
    names = [escape(one.name) for one in scene.classes]
    head = "".join(f'<th scope="col"><span>{names[column]}</span></th>' for column in there)
    rows = []
    for row in true:
        total = int(confusion[row].sum())
        cells = []
        for column in there:
            count = int(confusion[row, column])
            share = count / total
            outcome = f"{names[row]} taken for {names[column]}" if row != column else f"{names[row]} found"
            title = f"{outcome}: {count:,} of {total:,} points ({100 * share:.1f} %)"
            shown = f"{100 * share:.0f}" if share >= 0.005 else ""
            kind = ' class="right"' if row == column else ""
            cells.append(f'<td{kind} style="--share: {share:.3f}" tabindex="-1" title="{title}">{shown}</td>')
        rows.append(f'<tr><th scope="row">{names[row]}</th>{"".join(cells)}</tr>')
    return (
        '<section>\n<h2>Confusion matrix</h2>\n<div class="scroll" tabindex="0"><table class="matrix">\n'
        f'<thead><tr><th scope="col">true ↓ predicted →</th>{head}</tr></thead>\n<tbody>\n'
        + "\n".join(rows)
        + '\n</tbody>\n</table></div>\n<output id="told-cell" class="quiet">Per cent of each true class (row). '
        "Point at a cell for its numbers.</output>\n</section>"
    )


def _bar(share: float) -> str:
    if math.isnan(share):
        return NO_SCORE
    return f'<span class="bar" style="--share: {share:.3f}"></span>{_percent(share)}'


def _percent(share: float) -> str:
    return NO_SCORE if math.isnan(share) else f"{100 * share:.1f}"
