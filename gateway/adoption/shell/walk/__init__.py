"""Goes through a script in the order in which bash would run it, and notes what it launches."""
