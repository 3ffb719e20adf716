"""What is said of labels that training lacks, in the words of the file."""

import pytest

from elmo.tasks.tagging.task import Tagging, TaggingConfig
from elmo.tasks.task import check_labels


def test_a_missing_label_is_named_as_the_file_has_it(caplog: pytest.LogCaptureFixture) -> None:
    describe = Tagging(TaggingConfig()).describe_label
    check_labels(["O", "S-PER", "B-LOC", "E-LOC"], ["O", "B-PER", "E-PER"], where="dev", describe=describe)
    assert "never answered: 'LOC' of several tokens, 'PER' of one token" in caplog.text
    assert "S-PER" not in caplog.text
