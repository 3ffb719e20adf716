"""The lists that the sentence splitters use."""

from elmo.text import abbreviations


def test_entries_are_as_the_splitters_look_them_up() -> None:
    lists = [abbreviations.ENGLISH, abbreviations.ENGLISH_BEFORE_NUMBERS, *abbreviations.OTHERS.values()]
    for entry in (word for words in lists for word in words):
        assert entry == entry.lower().strip()
        assert not entry.endswith(".")


def test_no_initial_begins_a_sentence() -> None:
    # "J. A. Smith": a starter of one letter would cut the name.
    assert all(len(word) > 1 for word in abbreviations.ENGLISH_STARTERS)
