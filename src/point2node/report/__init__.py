"""What runs achieved: tables of results, the paper's numbers beside them, and the page that shows both."""
