"""The cluster inside: its programs, certificates and name service, and a client for its API."""
