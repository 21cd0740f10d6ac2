"""NULLs in the pandas frames of Python models, and whether the packages that a model requires are installed."""

from __future__ import annotations

import pandas as pd
import pytest

from dbt.adapters.paimon.writing.python_models import with_null_strings

pytestmark = pytest.mark.filterwarnings("ignore:The 'pyarrow_numpy' storage option:FutureWarning")


@pytest.fixture
def text():
    """The string type of pandas 3, whose missing values are NaN, under its name in pandas 2.2."""
    return pd.StringDtype("pyarrow_numpy")


def test_missing_texts_become_null(text):
    frame = pd.DataFrame({"id": [1, 2], "text": pd.array(["a", None], dtype=text)})
    assert isinstance(frame["text"][1], float)
    assert with_null_strings(frame)["text"].tolist() == ["a", None]
    assert isinstance(frame["text"][1], float)


def test_other_columns_stay_and_names_may_repeat(text):
    frame = pd.DataFrame([[1.5, None], [None, "b"]]).set_axis(["x", "x"], axis=1)
    assert with_null_strings(frame) is frame
    texts = frame.astype({"x": text}).set_axis(["x", "x"], axis=1)
    assert with_null_strings(texts).iloc[:, 1].tolist() == [None, "b"]
