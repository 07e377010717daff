"""Parts of the building: walls, openings, columns and beams."""
