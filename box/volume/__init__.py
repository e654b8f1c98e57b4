"""Volumes on the nodes: the two storage classes and the provisioner behind them."""
