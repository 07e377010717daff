"""The tables of a scene's page: classes with their counts and scores, the confusion matrix, protocol and settings."""

from __future__ import annotations

import math
from html import escape

from point2node.show.scene import LabelledScene, SceneScores

NOTHING = "–"
"""Instead of a score that there is none of."""


def tiles(scored: SceneScores | None) -> str:
    """The three overall scores; nothing without the truth."""
    if scored is None:
        return ""
    shown = (("OA", scored.scores.oa), ("mAcc", scored.scores.macc), ("mIoU", scored.scores.miou))
    inner = "".join(f"<div><dt>{name}</dt><dd>{_percent(value)}</dd></div>" for name, value in shown)
    return f'<dl class="tiles" aria-label="Scores in per cent">{inner}</dl>'


def tables(scene: LabelledScene, scored: SceneScores | None) -> str:
    """All tables, below the viewer."""
    parts = [_class_table(scene, scored)]
    if scored is not None:
        parts.append(_confusion_table(scene, scored))
    if scene.notes:
        lines = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in scene.notes.items())
        parts.append(f'<section>\n<h2>Protocol and settings</h2>\n<dl class="facts">{lines}</dl>\n</section>')
    return '<div class="tables">\n' + "\n".join(parts) + "\n</div>"


def _class_table(scene: LabelledScene, scored: SceneScores | None) -> str:
    counts = scene.count(scene.labels)
    true = None if scene.truth is None else scene.count(scene.truth)
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
        swatch = f'<span class="swatch" style="--colour: rgb({one.colour[0]} {one.colour[1]} {one.colour[2]})"></span>'
        inner = "".join(f"<td>{cell}</td>" for cell in cells)
        rows.append(f'<tr{absent}><th scope="row">{swatch} {escape(one.name)}</th>{inner}</tr>')
    head = "".join(f'<th scope="col">{heading}</th>' for heading in headings)
    return (
        "<section>\n<h2>Classes</h2>\n"
        f'<div class="scroll" tabindex="0"><table>\n<thead><tr>{head}</tr></thead>\n'
        "<tbody>\n" + "\n".join(rows) + "\n</tbody>\n</table></div>\n" + _class_note(scene, scored) + "\n</section>"
    )


def _class_note(scene: LabelledScene, scored: SceneScores | None) -> str:
    lines = []
    missing = int((scene.labels < 0).sum())
    if missing:
        lines.append(f"{missing:,} of {len(scene):,} points have no label.")
    if scored is not None:
        lines.append(
            f"Scores in per cent, over the {scored.scored:,} points that have both a label and a truth. "
            f"{NOTHING}: the truth has no such class; it counts in no mean."
        )
    return f'<p class="note">{escape(" ".join(lines))}</p>' if lines else ""


def _confusion_table(scene: LabelledScene, scored: SceneScores) -> str:
    """Of each true class, what its points were taken for; classes that occur nowhere are left out."""
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
            told = f"{names[row]} taken for {names[column]}" if row != column else f"{names[row]} found"
            title = f"{told}: {count:,} of {total:,} points ({100 * share:.1f} %)"
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
        return NOTHING
    return f'<span class="bar" style="--share: {share:.3f}"></span>{_percent(share)}'


def _percent(share: float) -> str:
    return NOTHING if math.isnan(share) else f"{100 * share:.1f}"
