"""A few texts and token lists, for the tests of all integrations."""

TEXTS = [
    "I sat on the river bank.",
    "The bank didn't approve my loan.",
    "Yes",
    "We walked along the bank. It was late, and the water was high.",
    "Money is kept in a bank!",
    "They fished from the bank of the stream.",
    "The loan was paid back to the bank on Monday.",
    "Boats lay at the bank.",
]
SENTENCES = [["The", "ferry", "leaves", "at", "noon", "."], ["Fog"], ["Zürich", "naïve", "cafés", "…"]]
