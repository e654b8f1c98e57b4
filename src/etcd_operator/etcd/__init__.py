"""A small etcd client: channels, calls, errors, the snapshot stream."""
