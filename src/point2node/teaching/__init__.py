"""Teaching by clicks: corrections of a scan, what a click selects, learning from few labels, where to click next."""
