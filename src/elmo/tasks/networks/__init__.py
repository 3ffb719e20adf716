"""Networks that several task models are made of."""
