"""What is kept outside the process: files in the folder for state, and what gateways share."""
