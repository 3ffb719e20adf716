"""The page in one file: it names nothing outside, its policy fits it, and its data are those of the explorer."""

import base64
import hashlib
import json
import re

import numpy as np
import pytest

from elmo.analysis.collection import passages_of_text
from elmo.analysis.textcollection import TextCollection
from elmo.apps.explore.data import Explorer, UsesQuestion
from elmo.apps.explore.export import MOST_USES, STATIC, one_page, one_script, page_data
from elmo.embed.embedder import Embedder
from elmo.errors import InputError


def data_of(page: str) -> dict:
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])


def test_every_module_is_in_the_script_once_and_nothing_is_imported() -> None:
    script = one_script()
    for path in STATIC.glob("*.js"):
        assert script.count(f"const module_{path.stem} = ") == 1, path
    assert not re.search(r"^(import|export) ", script, re.MULTILINE)


def test_the_file_refers_to_nothing_outside_and_allows_its_own_script_alone(explorer: Explorer) -> None:
    page = one_page(explorer, ["bank"])
    without_data = re.sub(r'<script type="application/json".*?</script>', "", page, flags=re.DOTALL)
    assert not re.findall(r'(?:src|href)="(?!data:|#)[^"]*"', without_data)
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)[1]
    for tag in ("style", 'script type="module"'):
        content = re.search(rf"<{tag}>(.*?)</{tag.split()[0]}>", page, re.DOTALL)[1]
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert "unsafe" not in policy


def test_the_data_are_the_answers_of_the_explorer(explorer: Explorer) -> None:
    data = json.loads(json.dumps(page_data(explorer, ["bank", "play", "bank"])))
    assert list(data["words"]) == ["bank", "play"]
    assert data["start"]["examples"] == ["bank", "play"]
    own = data["words"]["bank"]
    wanted = UsesQuestion("bank", most=MOST_USES)
    uses = explorer.uses(wanted)
    assert [data["sentences"][use["tokens"]] for use in own["uses"]["uses"]] == [use["tokens"] for use in uses["uses"]]
    cosines = np.frombuffer(base64.b64decode(own["centred"]), "<i2").reshape(3, uses["found"], uses["found"]) / 10_000
    np.testing.assert_allclose(cosines[:, 4], explorer.likeness(wanted, 4, centred=True)["cosines"], atol=1.1e-4)
    near = explorer.neighbors(wanted, 4)["layers"][2][0]
    sentence, place, similarity = own["neighbors"][4]["layers"][2][0]
    assert (data["sentences"][sentence], place, similarity) == (near["tokens"], near["place"], near["similarity"])


def test_a_text_cannot_break_out_of_its_data(embedder: Embedder) -> None:
    text = 'Look </script><img src=x onerror="alert(1)"> here. Look <!-- there. Look again.\n' * 2
    collection = TextCollection(embedder, passages_of_text(text, embedder.model.tokenizer))
    page = one_page(Explorer(collection, model="tiny", source="</script>"), ["Look"])
    assert data_of(page)["start"]["source"] == "</script>"
    assert "<img" not in page
    assert page.count("</script>") == 2


def test_no_word_or_an_unknown_one_is_refused(explorer: Explorer) -> None:
    with pytest.raises(InputError, match="no word is named"):
        one_page(explorer, [])
    with pytest.raises(InputError, match="'zebras' is in none"):
        one_page(explorer, ["zebras"])
