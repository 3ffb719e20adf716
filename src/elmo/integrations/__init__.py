"""ELMo inside other libraries, a file each: nothing else imports them, and each says which extra it needs."""
