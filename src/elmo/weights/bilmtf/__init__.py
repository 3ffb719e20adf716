"""The checkpoints of bilm-tf and AllenNLP: options.json and an HDF5 file of weights, read and written."""
