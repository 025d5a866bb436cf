"""What the gateway learns of engines from the answers that pass through it."""
