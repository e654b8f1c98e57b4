"""Images without a registry: recipes, archives, and the store that nodes are filled from."""
