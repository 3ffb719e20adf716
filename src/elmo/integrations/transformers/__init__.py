"""transformers: ELMo as a model of its own kind, registered by `import elmo.integrations.transformers`.

AutoConfig, AutoModel, AutoTokenizer and the two heads find it then, and what stands on them does: pipelines, Trainer,
sentence-transformers. `elmo convert MODEL DIR --to transformers` writes the folder that they read.
"""

from elmo.integrations.extras import missing

try:
    import transformers
except ImportError as error:
    raise missing("transformers", library="transformers", extra="transformers") from error
if int(transformers.__version__.partition(".")[0]) < 5:
    raise missing("transformers", library=f"transformers 5, not {transformers.__version__}", extra="transformers")

from elmo.integrations.transformers.config import ElmoConfig
from elmo.integrations.transformers.heads import ElmoForSequenceClassification, ElmoForTokenClassification
from elmo.integrations.transformers.model import ElmoModel
from elmo.integrations.transformers.tokenizer import ElmoEncoding, ElmoTokenizer

__all__ = [
    "ElmoConfig",
    "ElmoEncoding",
    "ElmoForSequenceClassification",
    "ElmoForTokenClassification",
    "ElmoModel",
    "ElmoTokenizer",
]

transformers.AutoConfig.register("elmo", ElmoConfig)
transformers.AutoModel.register(ElmoConfig, ElmoModel)
transformers.AutoTokenizer.register(ElmoConfig, ElmoTokenizer)
transformers.AutoModelForTokenClassification.register(ElmoConfig, ElmoForTokenClassification)
transformers.AutoModelForSequenceClassification.register(ElmoConfig, ElmoForSequenceClassification)
