"""Old code beside new code."""
