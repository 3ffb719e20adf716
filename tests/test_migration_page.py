"""What docs/migration.md says of AllenNLP's configurations: every option, task and argument that it names is ours."""

import itertools
import json
import operator
import re
from pathlib import Path
from typing import get_args

import pytest

from elmo.embed.module import ElmoOptions
from elmo.tasks.names import TaskName
from elmo.tasks.recipes import find_recipe, parse_change

DOCS = Path(__file__).parent.parent / "docs"
HEADING = "## AllenNLP: ElmoTokenEmbedder and jsonnet configurations"


def section(page: str, heading: str) -> str:
    text = (DOCS / page).read_text("utf-8").partition(f"\n{heading}\n")[2]
    return text.partition(f"\n{heading.split()[0]} ")[0]


def rows() -> list[list[str]]:
    """The cells of the table, its head left out."""
    lines = [line for line in section("migration.md", HEADING).splitlines() if line[:1] == "|"]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_the_table_has_a_line_for_each_key() -> None:
    assert len(rows()) > 20
    assert all(len(row) == 3 for row in rows())


SETTINGS = re.findall(r"--set (\S+?)[` ]", section("migration.md", HEADING))


@pytest.mark.parametrize("setting", SETTINGS)
def test_every_setting_reaches_the_recipe(setting: str) -> None:
    name, value = parse_change(setting)
    assert operator.attrgetter(name)(find_recipe("ner").changed({name: value})) == value


def test_every_task_and_option_is_one_of_the_command() -> None:
    text = section("migration.md", HEADING)
    tasks = set(re.findall(r"`elmo task train (\w+)`", text))
    assert len(tasks) > 5
    assert tasks <= set(get_args(TaskName))
    command = section("cli.md", "## elmo task train")
    options = set(re.findall(r"--[a-z][a-z-]+", text))
    assert len(options) > 8
    assert [option for option in sorted(options) if not re.search(rf" {option}\b", command)] == []


def test_the_configuration_and_the_command_that_takes_its_place_say_the_same() -> None:
    text = section("migration.md", HEADING)
    written = json.loads(re.findall(r"^```json\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[0])
    command = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[0].replace("\\\n", " ").split()
    pairs = dict(itertools.pairwise(command))
    settings = dict(parse_change(word) for before, word in itertools.pairwise(command) if before == "--set")
    model, trainer = written["model"], written["trainer"]
    elmo = model["text_field_embedder"]["elmo"]
    assert str(Path(elmo["weight_file"]).parent) == str(Path(elmo["options_file"]).parent) == pairs["--model"]
    assert (written["train_data_path"], written["validation_data_path"]) == (pairs["--train"], pairs["--dev"])
    numbers = [written["random_seed"], written["iterator"]["batch_size"], trainer["num_epochs"]]
    assert numbers == [int(pairs[option]) for option in ("--seed", "--batch-size", "--epochs")]
    assert trainer["optimizer"]["lr"] == float(pairs["--learning-rate"])
    assert settings == {
        "embedding.elmo.layer_norm": elmo["do_layer_norm"],
        "embedding.elmo.dropout": elmo["dropout"],
        "embedding.elmo.mix_l2": model["regularizer"][0][1]["alpha"],
        "task.model.hidden": model["encoder"]["hidden_size"],
        "train.patience": trainer["patience"],
    }


def test_every_argument_is_one_of_the_module() -> None:
    arguments = {name for row in rows() for name in re.findall(r"`(\w+)(?:=[^`]*)?`", row[1])} - {"true"}
    assert {"dropout", "layer_norm", "train_bilm", "mix_l2"} <= arguments
    assert arguments <= set(ElmoOptions.__annotations__)
