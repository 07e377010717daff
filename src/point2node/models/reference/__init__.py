"""The reference models: the networks of other papers, one file each."""
