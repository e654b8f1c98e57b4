"""What runs inside a member's pod before etcd does. Standard library only: every start of every member pays for it."""
