"""A small Kubernetes runtime: client, informer, loops, lease, events."""
