"""What belongs to the building: walls, openings, columns and beams."""
