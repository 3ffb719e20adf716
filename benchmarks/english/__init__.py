"""The battery: what a candidate for the English model is judged by, in one command."""
