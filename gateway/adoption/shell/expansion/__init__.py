"""From words as written to words as a command gets them."""
