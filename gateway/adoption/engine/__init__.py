"""What the command line and the log of a vLLM engine say, as records, without I/O."""
