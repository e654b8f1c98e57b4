"""The box: a real Kubernetes on one Linux machine, for the demo, the tests and the benchmarks.

Everything of a box lives under one process, the *room*: a PID, mount and network namespace of its own.
Inside it every node is again a PID, mount, network, UTS and IPC namespace. So a box ends, whole and at once,
when the room's first process ends, and a node loses power when the node's first process is killed.

Only the standard library is used, so that `box/box` runs on a machine where nothing is installed yet.
"""
