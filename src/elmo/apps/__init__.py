"""What people start: the command line. Thin functions over public ones."""
