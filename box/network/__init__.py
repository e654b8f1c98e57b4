"""The cables between the nodes, and everything that can be wrong with them."""
