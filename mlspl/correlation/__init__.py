"""The correlation room."""
