"""What engines say of themselves in /metrics, and what it means."""
