"""What survives a restart: small files in the folder for state."""
