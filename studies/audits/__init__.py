"""The benchmark of audits: which method finds planted label errors, pair by pair."""
