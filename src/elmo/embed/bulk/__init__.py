"""Bulk embedding: a text of any size to an output file or, on Ray, to a directory of them; resumable."""
