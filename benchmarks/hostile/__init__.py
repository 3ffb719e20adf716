"""Files made to harm, by the thousand."""
