"""The AllenNLP side of compare.py, run by the Python that has AllenNLP, which may be an old one. Prints JSON.

Arguments: folder of the model, JSON file of sentences, number of threads, file for the vectors.
"""

import json
import sys
import time

import numpy
import torch


def seconds_of(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def main():
    folder, sentences_file, threads, vectors_file = sys.argv[1:]
    torch.set_num_threads(int(threads))
    with open(sentences_file, encoding="utf-8") as file:
        work = json.load(file)
    files = (folder + "/options.json", folder + "/weights.hdf5")
    import allennlp.modules.elmo as module

    elmo = module.Elmo(files[0], files[1], 1, dropout=0.0).eval()

    def run_module():
        for n in range(0, len(work["many"]), work["module_batch"]):
            elmo(module.batch_to_ids(work["many"][n : n + work["module_batch"]]))

    runs = {"Elmo module": run_module}
    try:
        from allennlp.commands.elmo import ElmoEmbedder
    except ImportError:  # gone since AllenNLP 1.0
        pass
    else:
        embedder = ElmoEmbedder(*files)
        numpy.savez(vectors_file, *[embedder.embed_sentence(sentence) for sentence in work["few"][:8]])
        runs["one by one"] = lambda: [embedder.embed_sentence(sentence) for sentence in work["few"]]
        runs["in batches"] = lambda: list(embedder.embed_sentences(work["many"], work["batch"]))
    with torch.no_grad():
        for function in runs.values():
            function()
        seconds = {name: seconds_of(function) for name, function in runs.items()}
    print(json.dumps({"seconds": seconds, "torch": torch.__version__}))


main()
