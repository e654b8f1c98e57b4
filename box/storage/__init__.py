"""Object storage outside the cluster: an S3 and an Azure server, and the proxy that makes them fail."""
