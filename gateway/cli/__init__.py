"""The command `ascend-gateway` and its subcommands."""
