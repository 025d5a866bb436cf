"""HTTP out: the only place that talks to backends."""
