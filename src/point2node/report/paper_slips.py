"""Where the paper's tables and text disagree with themselves, to be said wherever its numbers are shown."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Slip:
    """What is printed and what it should be, or why both cannot hold."""

    tables: tuple[int, ...]
    """The tables it touches; none: only the text."""
    where: str
    printed: str
    explanation: str

    def __str__(self) -> str:
        return f"{self.where}: the paper prints {self.printed}; {self.explanation}."


SLIPS = (
    Slip((3,), "Local only, Δ", "+1.23", "57.91 − 56.70 = +1.21"),
    Slip((3,), "Sum of the three blocks' Δ in the text", "5.02", "0.75 + 1.21 + 3.04 = 5.00"),
    Slip((4,), "Gain in mIoU", "+11.04 % in the table and +11.03 % in the text", "62.96 / 56.70 − 1 = +11.04 %"),
    Slip((4,), "Growth in parameters", "+1.46 %", "it follows from the rounded sizes; exact counts give +1.438 %"),
    Slip((3, 4), "Baseline's mIoU", "56.70", "PointCNN, which it is, has 57.26 in Table 2"),
    Slip((1,), "beam", "SPGraph's 62.80 in bold", "PointCNN's 63.30 is the best"),
    Slip((1,), "board", "nothing in bold", "PointWeb's 62.20 is the best"),
    Slip((2,), "clutter", "Point2Node's 55.17 in bold", "PointCNN's 56.74 is the best"),
    Slip(
        (1,),
        "Considerable gains in the text",
        "chair, table, board, ceiling, wall, column, bookcase",
        "another row is the best in chair, board, ceiling, bookcase",
    ),
    Slip(
        (2,),
        "Considerable gains in the text",
        "chair, table, board, ceiling, wall, column, bookcase",
        "another row is the best in chair, table, board, column",
    ),
    Slip((1,), "mIoU", "values up to 0.18 off the mean of the 13 IoUs", "PointNet's 47.80 stands for a mean of 47.62"),
    Slip((2,), "mIoU", "values up to 0.01 off the mean of the 13 IoUs", "PointCNN's 57.26 stands for a mean of 57.27"),
    Slip((1, 2), "Rooms of S3DIS", "271", "the public lists have 272"),
    Slip((), "Lemma 2", "a sum of e^A_ij over n", "the summed index has to be that of A_in"),
    Slip((), "Appendix B", "DKNN of the features", "the text says that neighbours are close in space"),
)


def slips_of(*tables: int) -> tuple[str, ...]:
    """The slips that touch any of these tables, in words."""
    return tuple(str(slip) for slip in SLIPS if set(slip.tables) & set(tables))
