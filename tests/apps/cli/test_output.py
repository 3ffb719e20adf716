"""What commands print is printed once."""

from elmo.apps.cli.output import say


def test_only_the_first_of_several_processes_speaks(monkeypatch, capsys):
    say("alone")
    monkeypatch.setenv("RANK", "0")
    say("first")
    monkeypatch.setenv("RANK", "1")
    say("second")
    assert capsys.readouterr().out == "alone\nfirst\n"
