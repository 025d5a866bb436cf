"""From what exists (scripts, manifests, logs, running servers) to a routing file, without I/O."""
