"""Labels with a person's corrections over them: what was corrected is certain, whatever the network says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from point2node.inference.labelled import LabelledCloud
from point2node.teaching.corrections import Corrections


def apply_corrections(labelled: LabelledCloud, corrections: Corrections) -> LabelledCloud:
    """The labelled cloud with the corrected labels, sure of them; own classes follow those of the weights."""
    corrections = corrections.with_classes(labelled.classes)
    places = corrections.places()
    known = places >= 0
    values = np.array([one.value for one in corrections.classes], labelled.labels.dtype)
    classes = labelled.classes + tuple(
        one for one in corrections.classes[len(labelled.classes) :] if known.any() and one.name in _used(corrections)
    )
    return replace(
        labelled,
        labels=np.where(known, values[places], labelled.labels),
        confidence=_with(labelled.confidence, known, 1.0),
        entropy=_with(labelled.entropy, known, 0.0),
        classes=classes,
    )


def _with(values: NDArray[np.float32], known: NDArray[np.bool_], value: float) -> NDArray[np.float32]:
    return np.where(known, np.float32(value), values)


def _used(corrections: Corrections) -> set[str]:
    return {one.name for one in corrections.done}
