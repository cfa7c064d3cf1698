"""The study of audits: which method finds real and planted label errors, pair by pair."""
