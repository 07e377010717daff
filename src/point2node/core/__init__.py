"""The vocabulary that every other room uses. numpy only."""
