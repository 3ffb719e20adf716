"""Working offline ends with its block."""

import pytest

from elmo.weights.published.offline import VARIABLE, is_offline, working_offline


def test_a_block_is_offline_and_what_follows_it_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    with working_offline():
        with working_offline():
            pass
        assert is_offline()
    assert not is_offline()


@pytest.mark.parametrize(("value", "wanted"), [("", False), ("0", False), ("1", True)])
def test_the_environment_forbids_the_network(value: str, wanted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, value)
    assert is_offline() is wanted
