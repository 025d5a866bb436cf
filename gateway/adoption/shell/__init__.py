"""Shell scripts read as bash would read them, without running anything."""
