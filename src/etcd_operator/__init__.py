"""Runs etcd clusters on Kubernetes: the successor, in Python, of the archived CoreOS etcd operator.

The version below is the only one in the tree: the build reads it from here, so a release changes one line.
"""

from __future__ import annotations

__version__ = "0.1.0.dev0"
