"""What all operations on a GPU share: products, copies, recorded graphs, Triton."""
