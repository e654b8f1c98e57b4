"""What users write and read: the three kinds as types, their rules and their CRDs."""
