"""Labels that can be read: none on another, none on a point, coinciding points together."""

import itertools
import math
import random

from elmo.analysis.labels import HEIGHT, RADIUS, WIDTH, Label, number_ranges, place_labels

SIDE = 266.0


def boxes_meet(one: Label, other: Label) -> bool:
    wide = (len(one.text) + len(other.text)) * WIDTH / 2
    return abs(one.middle[0] - other.middle[0]) < wide and abs(one.middle[1] - other.middle[1]) < HEIGHT


def test_labels_of_crowded_points_lie_neither_on_each_other_nor_on_a_point() -> None:
    for seed in range(5):
        chance = random.Random(seed)
        centres = [(chance.uniform(-90, 90), chance.uniform(-90, 90)) for _ in range(4)]
        points = [(x + chance.gauss(0, 9), y + chance.gauss(0, 9)) for x, y in centres for _ in range(10)]
        labels = place_labels(points, side=SIDE)
        assert not any(boxes_meet(one, other) for one, other in itertools.combinations(labels, 2))
        for label in labels:
            half = len(label.text) * WIDTH / 2
            assert abs(label.middle[0]) + half <= SIDE / 2
            for x, y in points:
                assert abs(x - label.middle[0]) >= half + RADIUS or abs(y - label.middle[1]) >= HEIGHT / 2 + RADIUS


def test_points_that_coincide_share_one_label() -> None:
    labels = place_labels([(0, 0), (50, 0), (0, 0), (0.1, 0), (0, 0)], side=SIDE)
    assert [label.text for label in labels] == ["1, 3-5", "2"]
    assert number_ranges([1, 2, 3, 7, 9, 10]) == "1-3, 7, 9-10"


def test_a_lone_point_has_its_label_beside_it_without_a_line() -> None:
    (label,) = place_labels([(0, 0)], side=SIDE)
    assert math.dist(label.point, label.middle) < 10
    assert not label.needs_line


def test_a_panel_without_room_still_labels_every_point() -> None:
    points = [(x, y) for x in range(-120, 121, 8) for y in range(-120, 121, 8)]
    assert len(place_labels(points, side=SIDE)) == len(points)
