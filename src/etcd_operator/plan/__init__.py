"""What to do next with a cluster: pure decisions on what was seen."""
