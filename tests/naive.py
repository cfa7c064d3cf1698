"""Slow, obvious versions of everything fast in mlspl. Every fast path is compared with its twin here."""

import numpy as np
