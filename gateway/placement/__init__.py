"""Which backend may serve a request, and which one does: pure decisions over a view."""
