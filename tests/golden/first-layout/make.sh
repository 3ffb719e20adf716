# Made once, with commit b4d8e6c on the path (`elmo` is its command line). Later commits have other module names.
set -e
stopped() {  # after N looks at the clock, as by Ctrl-C: N, then the command
    python - "$@" <<'PY'
import sys
from elmo.apps.cli.main import main
from elmo.pretrain.stopping import StopRequest

looks = [int(sys.argv[1])]

def reason(self, *, reserve=0.0):
    looks[0] -= 1
    return "interrupted" if looks[0] <= 0 else None

StopRequest.reason = reason
raise SystemExit(main(sys.argv[2:]))
PY
}
elmo corpus build text.txt -o corpus --heldout 0.1 --min-count 1 --workers 1
stopped 3 pretrain corpus -o run --config config.toml --device cpu || true
rm -rf run/tensorboard run/checkpoints/step-00000000
cp -r run finished
elmo pretrain corpus -o finished --device cpu --resume
mv finished/model model
mv finished/metrics.jsonl finished-metrics.jsonl
rm -r finished
TASK="--train ner-train.txt --dev ner-dev.txt -m model --epochs 10 --batch 2 --rate 0.05 --seed 5 --device cpu
    --set task.model.hidden=4 --set task.model.dropout=0.0 --set embedding.words.dim=4 --set embedding.characters.dim=1 --set embedding.characters.filters=4"
stopped 5 task train ner -o task-run $TASK || true
cp -r task-run finished
elmo task train ner -o finished $TASK --resume
mv finished/model task-model
mv finished/metrics.jsonl task-finished-metrics.jsonl
elmo task predict task-model ner-dev.txt -o task-answers.txt
rm -r finished
