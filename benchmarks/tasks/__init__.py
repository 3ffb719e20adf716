"""What ELMo adds to the tasks: runs with several seeds, tables beside the paper's, plots."""
