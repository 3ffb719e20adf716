"""The AllenNLP side of compare.py, run by the Python that has AllenNLP, which may be an old one. Prints JSON.

Arguments: folder of the model, JSON file of sentences, number of threads, repeats, file for the vectors.
"""

import json
import sys
import time

import numpy
import torch


def measure(function, repeats):
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - start)
    return seconds


def main():
    folder, sentences_file, threads, repeats, vectors_file = sys.argv[1:]
    torch.set_num_threads(int(threads))
    with open(sentences_file, encoding="utf-8") as file:
        work = json.load(file)
    files = (folder + "/options.json", folder + "/weights.hdf5")
    import allennlp.modules.elmo as module

    seconds = {}
    with torch.no_grad():
        elmo = module.Elmo(files[0], files[1], 1, dropout=0.0).eval()

        def run_module():
            for n in range(0, len(work["many"]), work["module_batch"]):
                elmo(module.batch_to_ids(work["many"][n : n + work["module_batch"]]))

        seconds["Elmo module"] = measure(run_module, int(repeats))
        try:
            from allennlp.commands.elmo import ElmoEmbedder
        except ImportError:  # gone since AllenNLP 1.0
            ElmoEmbedder = None
        if ElmoEmbedder is not None:
            embedder = ElmoEmbedder(*files)
            numpy.savez(vectors_file, *[embedder.embed_sentence(sentence) for sentence in work["few"][:8]])
            seconds["one by one"] = measure(lambda: [embedder.embed_sentence(s) for s in work["few"]], int(repeats))
            seconds["in batches"] = measure(
                lambda: list(embedder.embed_sentences(work["many"], work["batch"])), int(repeats)
            )
    print(json.dumps({"seconds": seconds, "torch": torch.__version__}))


main()
