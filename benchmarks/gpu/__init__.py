"""How fast training and embedding are on a GPU."""
