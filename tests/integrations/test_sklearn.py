"""`ElmoVectorizer` with the real scikit-learn: its contract, and the vectors of `encode`."""

import io
import os
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest
from tests.integrations.making import SENTENCES, TEXTS, write_tiny

pytest.importorskip("sklearn", reason="needs scikit-learn, the extra `sklearn` (make test-integrations has it)")

pytest.importorskip("pandas", reason="needs pandas (make test-integrations has it)")

import joblib
import pandas as pd
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_get_params_invariance

import elmo
from elmo.integrations.sklearn import ElmoVectorizer

pytestmark = pytest.mark.integration
LABELS = [n % 2 for n in range(len(TEXTS))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny(tmp_path_factory.mktemp("model") / "tiny")


@pytest.mark.parametrize("layers", ["mean", "top", 0, 1, 2, -1])
@pytest.mark.parametrize("pooling", ["mean", "max"])
def test_vectors_are_those_of_encode(folder: Path, layers: str | int, pooling: str) -> None:
    expected = elmo.load(folder).encode(TEXTS, layers=layers, pooling=pooling)
    found = ElmoVectorizer(folder, layers=layers, pooling=pooling).fit_transform(TEXTS)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_all_layers_stand_one_behind_the_other(folder: Path) -> None:
    expected = elmo.load(folder).encode(TEXTS, layers="all", pooling="mean")
    vectorizer = ElmoVectorizer(folder, layers="all")
    np.testing.assert_allclose(vectorizer.transform(TEXTS), expected.reshape(len(TEXTS), -1), atol=1e-6)
    assert len(vectorizer.get_feature_names_out()) == expected.shape[1] * expected.shape[2]


def test_token_lists_series_and_arrays_are_taken(folder: Path) -> None:
    vectorizer = ElmoVectorizer(folder)
    expected = vectorizer.transform(TEXTS)
    for texts in (tuple(TEXTS), np.array(TEXTS), pd.Series(TEXTS, index=range(5, 5 + len(TEXTS))), iter(TEXTS)):
        np.testing.assert_array_equal(vectorizer.transform(texts), expected)
    tokens = elmo.load(folder).encode(SENTENCES, pooling="mean")
    np.testing.assert_allclose(vectorizer.transform([tuple(s) for s in SENTENCES]), tokens, atol=1e-6)
    assert vectorizer.transform([]).shape == (0, tokens.shape[1])
    assert not vectorizer.transform([""]).any()


def test_parameters_are_cloned_set_and_shown(folder: Path) -> None:
    vectorizer = ElmoVectorizer(folder, layers="top", normalize=True)
    check_get_params_invariance("ElmoVectorizer", vectorizer)
    assert clone(vectorizer).get_params() == vectorizer.get_params()
    assert clone(vectorizer).set_params(layers=1).layers == 1
    assert "layers='top'" in repr(vectorizer)


def test_a_pickle_holds_no_model_and_gives_the_same_vectors(folder: Path) -> None:
    vectorizer = ElmoVectorizer(folder).fit(TEXTS)
    expected = vectorizer.transform(TEXTS)
    data = pickle.dumps(vectorizer)
    assert len(data) < 1000
    np.testing.assert_array_equal(pickle.loads(data).transform(TEXTS), expected)
    buffer = io.BytesIO()
    joblib.dump(vectorizer, buffer)
    buffer.seek(0)
    np.testing.assert_array_equal(joblib.load(buffer).transform(TEXTS), expected)


def test_output_can_be_a_data_frame_with_names(folder: Path) -> None:
    frame = ElmoVectorizer(folder).set_output(transform="pandas").fit_transform(pd.Series(TEXTS))
    assert list(frame.columns[:2]) == ["elmovectorizer0", "elmovectorizer1"]
    assert frame.shape == (len(TEXTS), 16)


def test_it_stands_in_a_column_transformer(folder: Path) -> None:
    frame = pd.DataFrame({"text": TEXTS, "length": [len(text) for text in TEXTS]})
    columns = ColumnTransformer([("elmo", ElmoVectorizer(folder), "text")], remainder="passthrough")
    assert columns.fit_transform(frame).shape == (len(TEXTS), 17)


def test_a_grid_search_over_two_processes_finds_what_one_process_finds(folder: Path, tmp_path: Path) -> None:
    pipe = make_pipeline(ElmoVectorizer(folder, num_threads=1), LogisticRegression(), memory=str(tmp_path / "memory"))
    grid = {"elmovectorizer__layers": ["mean", "top"], "logisticregression__C": [0.1, 10.0]}
    one = GridSearchCV(pipe, grid, cv=2).fit(TEXTS, LABELS)
    two = GridSearchCV(pipe, grid, cv=2, n_jobs=2).fit(TEXTS, LABELS)
    assert one.best_params_ == two.best_params_
    np.testing.assert_allclose(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"])
    assert set(two.predict(TEXTS)) <= {0, 1}


def test_vectors_that_a_pipeline_keeps_are_not_those_of_another_model(tmp_path: Path) -> None:
    folder = write_tiny(tmp_path / "tiny")
    for seed in (0, 1):
        write_tiny(tmp_path / "other", seed=seed)
        shutil.rmtree(folder)
        os.rename(tmp_path / "other", folder)
        kept = make_pipeline(ElmoVectorizer(folder), LogisticRegression(), memory=str(tmp_path / "memory"))
        pure = make_pipeline(ElmoVectorizer(folder), LogisticRegression())
        np.testing.assert_allclose(
            kept.fit(TEXTS, LABELS)[-1].coef_, pure.fit(TEXTS, LABELS)[-1].coef_, rtol=0, atol=1e-6
        )


def test_what_is_no_list_of_texts_is_refused_in_the_words_of_scikit_learn(folder: Path) -> None:
    vectorizer = ElmoVectorizer(folder)
    for call in (vectorizer.fit, vectorizer.transform, vectorizer.fit_transform):
        with pytest.raises(ValueError, match="Iterable over raw text documents expected, string object received"):
            call("one text")
    with pytest.raises(ValueError, match=r"Expected 1D array of texts, got 2D array .* choose one column"):
        vectorizer.transform(pd.DataFrame({"text": TEXTS}))
    with pytest.raises(ValueError, match="Iterable over raw text documents expected, int object received"):
        vectorizer.transform(3)
    with pytest.raises(ValueError, match=r"document 1 is nan .*fillna"):
        vectorizer.transform(pd.Series(["a", float("nan")]))
    with pytest.raises(ValueError, match="layers is 7"):
        ElmoVectorizer(folder, layers=7).fit(TEXTS)
    with pytest.raises(ValueError, match="pooling is None"):
        ElmoVectorizer(folder, pooling=None).fit(TEXTS)


def test_a_model_written_anew_to_the_same_path_is_the_one_that_is_used(tmp_path: Path) -> None:
    folder = write_tiny(tmp_path / "tiny")
    before = ElmoVectorizer(folder).transform(TEXTS)
    os.rename(folder, tmp_path / "old")
    write_tiny(folder, seed=1)
    after = ElmoVectorizer(folder).transform(TEXTS)
    assert np.abs(after - before).max() > 0.01
    np.testing.assert_allclose(after, elmo.load(folder).encode(TEXTS, pooling="mean"), atol=1e-6)
