"""Mathematics with a readable reference and fast versions behind one signature. Knows tensors, not ELMo.

Each operation is a folder, and the folder is its front door: `from elmo.ops.lstmp import lstmp`, and so on. Nothing is
exported here, where `lstmp` and `highway` would be both a folder and a function.
"""
