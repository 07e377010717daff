"""The vocabulary that all other packages share. It depends only on numpy and small libraries."""
