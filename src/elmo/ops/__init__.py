"""Mathematics with a readable reference and fast versions behind one signature. Knows tensors, not ELMo."""
