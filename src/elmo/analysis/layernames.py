"""What the layers of a model are called where people read it."""


def layer_title(name: str | int) -> str:
    """Of a layer by its number, 0 being the tokens before any context, or of the mean of all."""
    if str(name) == "mean":
        return "mean of the layers"
    return "tokens: no context" if str(name) == "0" else f"LSTM {name}"
