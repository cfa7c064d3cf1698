"""The model_selection room."""
