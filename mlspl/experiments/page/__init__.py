"""The parts of `report.html`: safe markup, charts, learning curves, a panel a data set, the whole run."""
