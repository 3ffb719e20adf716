"""How the packaged English model was made: README.md here has the commands."""
