"""The packaged sentences are English: models of other languages are not asked about them without a word."""

import logging
from typing import TYPE_CHECKING

from elmo.errors import InputError

if TYPE_CHECKING:
    from elmo.embed.embedder import Embedder

logger = logging.getLogger(__name__)


def check_packaged_text(embedder: "Embedder", model: str | None, *, cure: str = "--text") -> None:
    """Refuse a model that says that it is of another language; for any but the packaged one, tell what is read."""
    from elmo.weights.published.languages import language_name
    from elmo.weights.published.packaged import DEFAULT

    language = embedder.model.tokenizer.language
    if language is not None and language.partition("-")[0].lower() != "en":
        raise InputError(
            f"the model's language is {language_name(language)}, but the packaged sentences are English; "
            f"give a text in its language ({cure})"
        )
    if model not in (None, DEFAULT):
        logger.warning("the sentences searched are the packaged ones, which are English; take your own: %s", cure)
