"""Where the numbers of points stand in a picture, so that each can be read: points that coincide share one label.

All lengths are typographic points (1/72 inch) of a square panel whose origin is its middle.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

Place = tuple[float, float]

SAME = 1.5  # nearer points cannot be told apart
RADIUS = 4.0  # of a point's mark
HEIGHT, WIDTH = 7.5, 5.0  # of a label's box: a line, and each of its characters
RINGS = (8.0, 12.0, 17.0, 23.0, 30.0, 38.0, 47.0, 57.0, 70.0)  # how far from its point a label may stand
ANGLES = 16
LEADER = 11.5  # labels farther off have a line to their point


class Label(NamedTuple):
    """A text, the point it belongs to, and the middle of its box."""

    text: str
    point: Place
    middle: Place

    @property
    def needs_line(self) -> bool:
        """Whether it stands so far off that a line must say to which point it belongs."""
        return math.dist(self.point, self.middle) > LEADER


def place_labels(points: Sequence[Place], *, side: float) -> list[Label]:
    """A label for each of the points (numbered from 1), clear of each other and of all points where there is room."""
    placed: list[Label] = []
    for members in _clusters(points):
        point = points[members[0]]
        text = number_ranges([n + 1 for n in members])
        free = [m for m in _middles(point, text, side) if _is_free(m, text, placed, points)]
        fallback = _middles(point, text, side) or [point]
        placed.append(Label(text, point, free[0] if free else fallback[0]))
    return placed


def number_ranges(numbers: Sequence[int]) -> str:
    """Ascending numbers in few characters: 1-4, 7."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1] = [parts[-1][0], number]
        else:
            parts.append([number])
    return ", ".join(str(part[0]) if len(part) == 1 else f"{part[0]}-{part[-1]}" for part in parts)


def _clusters(points: Sequence[Place]) -> list[list[int]]:
    found: list[list[int]] = []
    for n, point in enumerate(points):
        near = next((members for members in found if math.dist(points[members[0]], point) < SAME), None)
        if near is None:
            found.append([n])
        else:
            near.append(n)
    return found


def _middles(point: Place, text: str, side: float) -> list[Place]:
    """Where the middle of a label's box may be, best first: near its point, and inside of the panel."""
    half = _half(text)
    found = []
    for ring in RINGS:
        for step in range(ANGLES):
            angle = math.pi / 4 + 2 * math.pi * step / ANGLES  # up and to the right first
            # A wide box is pushed outwards, so that its edge and not its middle is as far off as the ring says.
            x = point[0] + (ring + half[0] - WIDTH / 2) * math.cos(angle)
            y = point[1] + ring * math.sin(angle)
            if abs(x) + half[0] <= side / 2 and abs(y) + half[1] <= side / 2:
                found.append((x, y))
    return found


def _is_free(middle: Place, text: str, placed: Sequence[Label], points: Sequence[Place]) -> bool:
    half = _half(text)
    for label in placed:
        other = _half(label.text)
        if abs(middle[0] - label.middle[0]) < half[0] + other[0] and abs(middle[1] - label.middle[1]) < 2 * half[1]:
            return False
    return not any(abs(middle[0] - x) < half[0] + RADIUS and abs(middle[1] - y) < half[1] + RADIUS for x, y in points)


def _half(text: str) -> Place:
    return len(text) * WIDTH / 2, HEIGHT / 2
