"""What all operations on a GPU share: products, recorded graphs, Triton."""
