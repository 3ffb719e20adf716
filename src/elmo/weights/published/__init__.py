"""Models by name: the packaged one and the published ones, where they are, and how they come here."""
