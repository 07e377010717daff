"""How compiled code is made, kept, given its arguments and switched off."""
