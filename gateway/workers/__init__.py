"""The loops that run beside the requests: probing and reconciling backends."""
