"""What the operator shows over HTTP: whether it is alive, whether it is ready, and its metrics."""
