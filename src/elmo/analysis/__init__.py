"""Looking into a model: words in context and their neighbours, senses, pictures. And the sentences written for it."""
