"""spaCy: the component `elmo`, which gives each token its vector, and the layer `elmo.Tok2Vec.v1` for training.

Both are found by entry points: a user imports nothing of this. Tokens are spaCy's, one vector each; white space has
zeros and is not shown to the biLM.
"""

from elmo.integrations.extras import missing

try:
    import spacy  # noqa: F401 - whether it is there
except ImportError as error:
    raise missing("spacy", library="spaCy", extra="spacy") from error

from elmo.integrations.spacy.component import ElmoVectors, make_elmo
from elmo.integrations.spacy.tok2vec import build_tok2vec

__all__ = ["ElmoVectors", "build_tok2vec", "make_elmo"]
