"""Files and directories that are whole or absent, locks between processes, bounded folders. Knows no models."""
