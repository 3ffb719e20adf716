"""Output files, one module a format. Each writes rows in a stream to a path that it is given."""
