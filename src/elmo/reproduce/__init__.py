"""The paper, made again: its tables and figures from the user's own data and model, beside the published ones."""
