"""Who may call, which models, how much: pure decisions over keys."""
