"""What is generated, and from what. Unlike the rest of `dev` it runs in the environment, beside the types it reads."""
