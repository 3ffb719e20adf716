"""One contestant of speed.py, run by the Python that has it, which may be an old one. Prints JSON.

Arguments: allennlp or simple_elmo, folder of the model (options.json, weights.hdf5), JSON file of the work.
"""

import json
import os
import sys
import time


def allennlp(folder):
    import torch
    from allennlp.modules.elmo import _ElmoBiLm, batch_to_ids

    bilm = _ElmoBiLm(folder + "/options.json", folder + "/weights.hdf5").eval()

    def embed(batch):
        with torch.no_grad():
            return bilm(batch_to_ids(batch))

    return embed


def simple_elmo(folder):
    os.environ.update(TF_USE_LEGACY_KERAS="1", TF_CPP_MIN_LOG_LEVEL="3")
    import simple_elmo as package
    import tensorflow as tf

    model = package.ElmoModel()
    model.load(folder, max_batch_size=64)
    threads = int(os.environ["OMP_NUM_THREADS"])
    config = tf.compat.v1.ConfigProto(intra_op_parallelism_threads=threads, inter_op_parallelism_threads=1)
    session = tf.compat.v1.Session(config=config)
    session.run(tf.compat.v1.global_variables_initializer())

    def embed(batch):
        ids = model.batcher.batch_sentences(batch)
        return session.run(model.sentence_embeddings_op["lm_embeddings"], {model.sentence_character_ids: ids})

    return embed


def peak_megabytes():
    """Of this program alone: `ru_maxrss` would count the process that started it, too."""
    with open("/proc/self/status", encoding="utf-8") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM"))


def main():
    kind, folder, work_file = sys.argv[1:]
    with open(work_file, encoding="utf-8") as file:
        work = json.load(file)
    clock = {"wall": time.perf_counter, "cpu": time.process_time}[work["clock"]]
    embed = {"allennlp": allennlp, "simple_elmo": simple_elmo}[kind](folder)
    embed([["cold", "start"]])
    found = {"first": time.time()}
    for size, count in work["counts"]:
        sentences = work["sentences"][:count]
        batches = [sentences[n : n + size] for n in range(0, count, size)]
        embed(batches[0])
        seconds = []
        for _ in range(work["passes"]):
            start = clock()
            for batch in batches:
                embed(batch)
            seconds.append(clock() - start)
        found[str(size)] = min(seconds)
    found["megabytes"] = peak_megabytes()
    print(json.dumps(found))


main()
