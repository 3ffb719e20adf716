"""Plain text out of public repositories: a file for each kind of source, and the frame around them."""
