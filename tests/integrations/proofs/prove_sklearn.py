"""`ElmoVectorizer` in scikit-learn, in a process of its own: FOLDER of a model, OUTPUT folder."""

import multiprocessing
import pickle
import sys
from pathlib import Path

import joblib
import numpy as np
from same import assert_same
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from texts import TEXTS

import elmo
from elmo.integrations.sklearn import ElmoVectorizer

LABELS = [n % 2 for n in range(len(TEXTS))]


def answers(path: Path) -> np.ndarray:
    return joblib.load(path).predict_proba(TEXTS)


def main(folder: str, output: Path) -> None:
    embedder = elmo.load(folder)
    for layers in ("mean", "top", *range(embedder.layer_count)):
        expected = embedder.encode(TEXTS, layers=layers, pooling="mean")
        assert_same(ElmoVectorizer(folder, layers=layers).fit_transform(TEXTS), expected)
    whole = ElmoVectorizer(folder, layers="all", num_threads=1)
    expected = embedder.encode(TEXTS, layers="all", pooling="mean").reshape(len(TEXTS), -1)
    assert_same(whole.transform(TEXTS), expected)
    assert_same(pickle.loads(pickle.dumps(whole)).transform(TEXTS), expected)

    pipe = make_pipeline(whole, LogisticRegression())
    alone = GridSearchCV(pipe, {"logisticregression__C": [0.1, 10.0]}, cv=2).fit(TEXTS, LABELS)
    grid = GridSearchCV(pipe, {"logisticregression__C": [0.1, 10.0]}, cv=2, n_jobs=2).fit(TEXTS, LABELS)
    assert_same(grid.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"])
    joblib.dump(grid.best_estimator_, output / "pipeline.joblib")
    again = joblib.load(output / "pipeline.joblib")
    assert_same(again.predict_proba(TEXTS), grid.predict_proba(TEXTS))
    with multiprocessing.get_context("spawn").Pool(1) as pool:  # a process that has seen nothing of it
        assert_same(pool.apply(answers, [output / "pipeline.joblib"]), grid.predict_proba(TEXTS))
        pool.close()
        pool.join()

    vectors = whole.transform(TEXTS)
    classifier = SGDClassifier(loss="log_loss", learning_rate="constant", eta0=0.01, random_state=1)
    classifier.partial_fit(vectors[:2], LABELS[1:3], classes=[0, 1])  # something to be wrong about
    before = log_loss(LABELS, classifier.predict_proba(vectors), labels=[0, 1])
    classifier.partial_fit(vectors, LABELS)  # one epoch
    assert log_loss(LABELS, classifier.predict_proba(vectors), labels=[0, 1]) < before
    assert np.isfinite(classifier.coef_).all()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
