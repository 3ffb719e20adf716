"""The measures of coreference: the cases of the reference scorer made anew with values counted by hand, a scorer that
follows each definition word by word on random chains with repeated mentions, and published examples."""

import itertools
import random
import sys
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest

from elmo.errors import InputError, MissingExtraError
from elmo.tasks.coreference.chains import B_CUBED, CEAF, MENTIONS, MUC, Chain, count_chains, mean_f1

pytest.importorskip("scipy", reason="the extra `tasks` is not installed")

Fractions = tuple[Fraction, Fraction, Fraction, Fraction]  # right of wanted, wanted, right of given, given


def chains(text: str) -> list[Chain]:
    """`a|bc`: a letter is a mention, a bar parts chains."""
    return [tuple((ord(letter), ord(letter) + 1) for letter in part) for part in text.split("|") if part]


# Key, response; MUC, B3, CEAF as "right of wanted / wanted, right of given / given". The key of A has chains of one,
# two and three mentions, as that of the reference scorer's first cases; x, y, z are no mentions of the key.
A = "a|bc|def"
CASES = {
    # All right; mentions missed; mentions too many; both; with other bounds; with doubled ones.
    "A-1": (A, "a|bc|def", "3/3 3/3", "6/6 6/6", "3/3 3/3"),
    "A-2": (A, "a|de", "1/3 1/1", "(7/3)/6 3/3", "(9/5)/3 (9/5)/2"),
    "A-3": (A, "a|bcx|defy|z", "3/3 3/5", "6/6 (55/12)/9", "(93/35)/3 (93/35)/4"),
    "A-4": (A, "a|bxy|de|z", "1/3 1/3", "(17/6)/6 (10/3)/7", "(11/5)/3 (11/5)/4"),
    "A-5": (A, "a|bxyz|de", "1/3 1/4", "(17/6)/6 (13/4)/7", "(32/15)/3 (32/15)/3"),
    "A-6": (A, "a|bxy|dey", "1/3 1/4", "(17/6)/6 (8/3)/7", "(31/15)/3 (31/15)/3"),
    "A-7": (A, "a|bxy|de|yz", "1/3 1/4", "(17/6)/6 (10/3)/8", "(11/5)/3 (11/5)/4"),
    "A-8": (A, "a|bxy|de|db", "1/3 1/3", "(17/6)/6 (10/3)/6", "(11/5)/3 (11/5)/3"),
    "A-9": (A, "a|bxa|de|z", "1/3 1/2", "(17/6)/6 (7/2)/6", "(23/10)/3 (23/10)/4"),
    # The key's mentions: each by itself; all in one chain. Other mentions too: each by itself; all in one.
    "A-10": (A, "a|b|c|d|e|f", "0/3 0/0", "3/6 6/6", "(13/6)/3 (13/6)/6"),
    "A-11": (A, "abcdef", "3/3 3/5", "6/6 (14/6)/6", "(2/3)/3 (2/3)/1"),
    "A-12": (A, "a|b|d|e|x|y|z", "0/3 0/0", "(13/6)/6 4/7", "(13/6)/3 (13/6)/7"),
    "A-13": (A, "abdexyz", "1/3 1/6", "(17/6)/6 (6/7)/7", "(2/5)/3 (2/5)/1"),
    # Mentions that the response repeats.
    "B-1": ("ab|cd", "ab|acd", "2/2 2/2", "4/4 4/4", "2/2 2/2"),  # the first counts
    "C-1": ("ab|cd", "abx|cdx", "2/2 2/4", "4/4 (8/3)/6", "(8/5)/2 (8/5)/2"),  # of no mention all count
    "D-1": ("ab|cd", "ax|bx|cdx", "1/2 1/4", "3/4 (7/3)/7", "(13/10)/2 (13/10)/3"),
    "E-1": ("ab|cd", "aab|cdc", "2/2 2/2", "4/4 4/4", "2/2 2/2"),  # in one chain
    "F-1": ("ab|cd", "abxx|cd", "2/2 2/4", "4/4 3/6", "(5/3)/2 (5/3)/2"),  # of no mention in one chain
    "G-1": ("ab|cd", "a|b|abcd", "1/2 1/1", "3/4 4/4", "(5/3)/2 (5/3)/3"),  # what is left of a chain
    "H-1": ("ab|cd", "ab|ba|cd", "2/2 2/2", "4/4 4/4", "2/2 2/2"),  # nothing is left of it
    # Mentions that stand in two chains of the key.
    "I-1": ("ab|ac", "ab|c", "0/2 0/1", "2/4 (5/2)/3", "(5/3)/2 (5/3)/2"),  # a is of the last one
    "J-1": ("abc|ad", "abc|ad", "1/3 1/2", "3/5 (10/3)/4", "(5/3)/2 (5/3)/2"),  # a file against itself
    # Nothing is given; nothing is right.
    "K-1": ("ab|cd", "", "0/2 0/0", "0/4 0/0", "0/2 0/0"),
    "L-1": ("ab|cd", "wx|yz", "0/2 0/2", "0/4 0/4", "0/2 0/2"),
    # One chain of six mentions.
    "M-1": ("abcdef", "abcdef", "5/5 5/5", "6/6 6/6", "1/1 1/1"),
    "M-2": ("abcdef", "a|b|c|d|e|f", "0/5 0/0", "1/6 6/6", "(2/7)/1 (2/7)/6"),
    "M-3": ("abcdef", "ab|cde|f", "3/5 3/3", "(14/6)/6 6/6", "(2/3)/1 (2/3)/3"),
    "M-4": ("abcdef", "abcdxyz", "3/5 3/6", "(16/6)/6 (16/7)/7", "(8/13)/1 (8/13)/1"),
    "M-5": ("abcdef", "a|b|c|d|x|y|z", "0/5 0/0", "(4/6)/6 4/7", "(2/7)/1 (2/7)/7"),
    "M-6": ("abcdef", "ab|cdxyz", "2/5 2/5", "(8/6)/6 (14/5)/7", "(1/2)/1 (1/2)/2"),
    # Six chains of one mention.
    "N-1": ("a|b|c|d|e|f", "a|b|c|d|e|f", "0/0 0/0", "6/6 6/6", "6/6 6/6"),
    "N-2": ("a|b|c|d|e|f", "abcdef", "0/0 0/5", "6/6 1/6", "(2/7)/6 (2/7)/1"),
    "N-3": ("a|b|c|d|e|f", "ab|cde|f", "0/0 0/3", "6/6 3/6", "(13/6)/6 (13/6)/3"),
    "N-4": ("a|b|c|d|e|f", "a|b|c|d|x|y|z", "0/0 0/0", "4/6 4/7", "4/6 4/7"),
    "N-5": ("a|b|c|d|e|f", "abcdxyz", "0/0 0/6", "4/6 (4/7)/7", "(1/4)/6 (1/4)/1"),
    "N-6": ("a|b|c|d|e|f", "ab|cdxyz", "0/0 0/5", "4/6 (7/5)/7", "1/6 1/2"),
}


def number(text: str) -> Fraction:
    return Fraction(text.strip("()"))


def counts(text: str) -> Fractions:
    """`(7/3)/6 3/3`."""
    wanted, given = (part.rpartition("/") for part in text.split())
    return number(wanted[0]), number(wanted[2]), number(given[0]), number(given[2])


def test_there_are_as_many_cases_as_the_reference_scorer_has() -> None:
    assert len(CASES) == 36


@pytest.mark.parametrize("case", CASES)
def test_a_case_has_the_counts_that_were_counted_by_hand(case: str) -> None:
    key, response, *expected = CASES[case]
    found = count_chains([(chains(key), chains(response))])
    for name, values in zip((MUC, B_CUBED, CEAF), expected, strict=True):
        assert found[name] == pytest.approx(tuple(map(float, counts(values)))), name


@pytest.mark.parametrize("case", CASES)
def test_a_case_has_the_counts_of_the_definitions(case: str) -> None:
    key, response, *expected = CASES[case]
    assert literally(chains(key), chains(response)) == tuple(map(counts, expected))


def literally(key: Sequence[Chain], response: Sequence[Chain]) -> tuple[Fractions, ...]:
    """MUC, B3 and CEAF, each as it is defined: links found by pairs, mentions one by one, every assignment tried."""
    known = {mention for mentions in key for mention in mentions}
    used: set[Any] = set()
    left: list[list[Any]] = []
    for mentions in response:
        kept = []
        for mention in mentions:
            if mention not in used:
                kept.append(mention)
                used |= {mention} & known
        left.append(kept)
    left = [kept for kept in left if kept]
    home: dict[Any, Any] = {}
    for mentions in key:
        for mention in mentions:
            home[mention] = mentions
    links = 0
    for kept in left:
        for n, mention in enumerate(kept):
            links += any(mention in home and home.get(later) is home[mention] for later in kept[n + 1 :])
    muc = (links, sum(len(m) - 1 for m in key), links, sum(len(m) - 1 for m in left))
    recalled = precise = Fraction(0)
    for kept in left:
        for mention in kept:
            shared = sum(1 for other in kept if other in home.get(mention, ()))
            precise += Fraction(shared, len(kept))
            recalled += Fraction(shared, len(home[mention])) if mention in home else 0
    b_cubed = (recalled, sum(map(len, key)), precise, sum(map(len, left)))
    shorter, longer = sorted((list(key), left), key=len)
    best = Fraction(0)
    for order in itertools.permutations(range(len(longer)), len(shorter)):
        pairs = [(shorter[n], longer[place]) for n, place in enumerate(order)]
        pairs = pairs if shorter == list(key) else [(b, a) for a, b in pairs]
        alike = (Fraction(2 * sum(m in b for m in a), len(a) + len(b)) for a, b in pairs)
        best = max(best, sum(alike, Fraction(0)))
    ceaf = (best, len(key), best, len(left))
    return tuple(tuple(map(Fraction, values)) for values in (muc, b_cubed, ceaf))  # type: ignore[return-value]


def random_chains(dice: random.Random, letters: str, *, repeats: int) -> list[Chain]:
    """Chains of random mentions, of which some stand in several."""
    mentions = dice.sample(letters, dice.randint(1, len(letters)))
    mentions += dice.choices(mentions, k=dice.randint(0, repeats))
    dice.shuffle(mentions)
    cuts = sorted(dice.sample(range(1, len(mentions)), min(len(mentions) - 1, dice.randint(0, 4))))
    parts = [mentions[a:b] for a, b in itertools.pairwise([0, *cuts, len(mentions)])]
    return chains("|".join("".join(part) for part in parts))


@pytest.mark.parametrize("repeats", [0, 4])
def test_random_chains_have_the_counts_of_the_definitions(repeats: int) -> None:
    dice = random.Random(repeats)
    repeated = 0
    for _ in range(150):
        key = random_chains(dice, "abcdefgh", repeats=repeats)
        response = random_chains(dice, "cdefghwxyz", repeats=repeats)
        repeated += len(set().union(*response)) < sum(map(len, response))
        found = count_chains([(key, response)])
        for name, expected in zip((MUC, B_CUBED, CEAF), literally(key, response), strict=True):
            assert found[name] == pytest.approx(tuple(map(float, expected))), (name, key, response)
    assert (repeated > 50) == bool(repeats)


def test_links_without_repeats_are_those_of_both_partitions() -> None:
    """MUC as Vilain et al. 1995 define it: a chain less the parts that the other side cuts it into."""
    dice = random.Random(1)

    def links(ones: list[Chain], others: list[Chain]) -> int:
        found = 0
        for mentions in ones:
            parts = [set(mentions) & set(other) for other in others]
            alone = set(mentions).difference(*others)
            found += len(mentions) - sum(map(bool, parts)) - len(alone)
        return found

    for _ in range(100):
        key = random_chains(dice, "abcdefgh", repeats=0)
        response = random_chains(dice, "cdefghwxyz", repeats=0)
        found = count_chains([(key, response)])[MUC]
        assert (found.right_of_wanted, found.right_of_given) == (links(key, response), links(response, key))


def test_the_example_of_the_scorers_paper() -> None:
    """Pradhan et al. 2014, figure 1 and table 2: key {abc}{defg}, response {ab}{cd}{fghi}."""
    found = count_chains([(chains("abc|defg"), chains("ab|cd|fghi"))])
    assert [round(found[MUC].recall), round(found[MUC].precision), round(found[MUC].f1)] == [40, 40, 40]
    assert [round(found[B_CUBED].recall), round(found[B_CUBED].precision)] == [42, 50]
    assert [round(found[CEAF].recall), round(found[CEAF].precision), round(found[CEAF].f1)] == [65, 43, 52]


def test_documents_are_summed_before_rates_are_taken() -> None:
    pairs = [(chains("ab"), chains("ab")), (chains("abcd"), chains("ab|cd"))]
    found = count_chains(pairs)
    assert (found[MUC].right_of_wanted, found[MUC].wanted, found[MUC].given) == (3, 4, 3)
    assert found[MUC].recall == 75
    assert found[MUC].precision == 100
    assert mean_f1(found) == pytest.approx(sum(found[name].f1 for name in (MUC, B_CUBED, CEAF)) / 3)
    assert found[MENTIONS].f1 == 100


def test_more_than_ten_repeats_are_refused() -> None:
    key = chains("abcdefghijk|lm")
    count_chains([(key, chains("abcdefghij|abcdefghij"))])
    with pytest.raises(InputError, match="11 mentions are given more than once"):
        count_chains([(key, chains("abcdefghijk|abcdefghijk"))])


def test_repeats_are_counted_over_all_documents() -> None:
    chain = ((0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6))
    document = ((chain,), (chain, chain))
    count_chains([document])
    with pytest.raises(InputError, match="12 mentions are given more than once"):
        count_chains([document, document])


def test_without_scipy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(MissingExtraError, match=r"elmo-embeddings\[tasks\]"):
        count_chains([(chains("ab"), chains("ab"))])
