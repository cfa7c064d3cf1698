"""Frames of categories from codes, for tests."""

import numpy as np
import pandas as pd


def coded_frame(X, names, nominal):
    """Return a DataFrame in which code c of a nominal column is its value c."""
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X, float)
    columns = {}
    for j, name in enumerate(names):
        columns[name] = X[:, j]
        if name in nominal:
            codes = np.nan_to_num(X[:, j], nan=-1).astype(int)
            columns[name] = pd.Categorical.from_codes(codes, pd.Index(nominal[name], dtype=object))
    return pd.DataFrame(columns)


def codes_of(table):
    """Return the cells of a DataFrame as numbers, categories as codes; other tables as they are."""
    if not isinstance(table, pd.DataFrame):
        return table
    columns = []
    for _, column in table.items():
        if isinstance(column.dtype, pd.CategoricalDtype):
            columns.append(np.where(column.isna(), np.nan, column.cat.codes))
        elif column.dtype == object:
            columns.append(np.zeros(len(column)))
        else:
            columns.append(column.to_numpy(float))
    return np.column_stack(columns)


def nominal_of(dataset):
    """The values of each categorical feature of a data set."""
    if not isinstance(dataset.X, pd.DataFrame):
        return {}
    return {
        name: tuple(column.cat.categories) for name, column in dataset.X.select_dtypes("category").items()
    }
