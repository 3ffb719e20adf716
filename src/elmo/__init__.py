"""Deep contextualized word representations (ELMo): embed text, pretrain, fine-tune, use in task models."""
