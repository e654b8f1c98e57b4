"""What is known of etcd's versions, as data: which there are, what each can do and needs, which may follow which."""
