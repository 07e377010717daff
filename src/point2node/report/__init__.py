"""Reports on runs: tables of results next to the paper's numbers, and the page that shows both."""
