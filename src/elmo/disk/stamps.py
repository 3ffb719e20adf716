"""What tells whether files are still those that they were: names, sizes and times of writing, without reading them."""

from pathlib import Path

Stamp = tuple[tuple[str, int, int], ...]


def stamp_of(path: Path) -> Stamp:
    """The stamp of a file, or of the files that lie in a directory."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    facts = ((file.name, file.stat()) for file in files if file.is_file())
    return tuple((name, fact.st_size, fact.st_mtime_ns) for name, fact in facts)
