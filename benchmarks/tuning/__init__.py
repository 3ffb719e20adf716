"""Which recipe of fine-tuning generalizes: tried on the texts of several tasks, judged on held-out text and on dev."""
