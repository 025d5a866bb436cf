"""What we know of the backends: names, fixed facts, moving numbers, leases, the view."""
