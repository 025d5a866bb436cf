"""What a failure means and what to try next: pure decisions."""
