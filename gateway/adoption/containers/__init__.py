"""How containers and services are described: commands, manifests, units, and what runs in them."""
