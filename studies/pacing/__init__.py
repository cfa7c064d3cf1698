"""What self-pacing is worth: trials, scores, verdicts, and the page `docs/study.md`."""
