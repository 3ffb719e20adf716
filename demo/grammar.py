"""A small grammar that writes any amount of English-like text with ambiguous words, for the demo."""

import random
from collections.abc import Iterator

PEOPLE = ["Anna", "Tom", "the old man", "my sister", "a tired nurse", "the teacher", "our neighbour", "the young pilot"]
TIMES = ["yesterday", "in the morning", "after lunch", "last week", "every evening", "on Sunday", "at noon"]
# {who} and {when} are filled from the lists above.
FRAMES = [
    "{who} opened an account at the bank {when} .",
    "the bank refused the loan that {who} asked for .",
    "{who} took the cheque to the bank and got the money {when} .",
    "the bank in the city raised its interest on every loan {when} .",
    "{who} sat on the bank of the river {when} .",
    "the boat drifted to the muddy bank where {who} was fishing {when} .",
    "grass and willows grew on the bank beside the water .",
    "{who} walked along the river bank and watched the ducks {when} .",
    "{who} wrote a play for the theatre {when} .",
    "the actors in the play forgot their lines on the stage {when} .",
    "{who} went to the theatre and saw a play about a king .",
    "the children play football in the park {when} .",
    "{who} and the boys play cards in the garden {when} .",
    "the dogs play with the ball and run in the park .",
    "in spring the flowers bloom and the days grow warm .",
    "{who} plants the garden when spring comes and the snow melts .",
    "the spring in the old clock broke and {who} fixed the metal {when} .",
    "a metal spring pushes the door of the machine shut .",
    "{who} turned right at the corner and drove down the street {when} .",
    "the shop is on the right side of the street near the corner .",
    "{who} gave the right answer to the question {when} .",
    "the answer was right and the teacher praised {who} .",
]


def sentences(count: int, *, seed: int) -> Iterator[str]:
    """`count` tokenized sentences, the same for the same seed."""
    chooser = random.Random(seed)
    for _ in range(count):
        yield chooser.choice(FRAMES).format(who=chooser.choice(PEOPLE), when=chooser.choice(TIMES))
