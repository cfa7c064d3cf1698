"""The benchmark: many data sets, right and wrong labels, everybody's best methods, all tuned alike."""
