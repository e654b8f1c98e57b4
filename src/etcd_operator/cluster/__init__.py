"""EtcdCluster: the objects in Kubernetes that a cluster consists of."""
