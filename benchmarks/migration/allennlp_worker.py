"""The AllenNLP side of compare.py, run by the Python that has AllenNLP, which may be an old one. Prints JSON.

Arguments: folder of the model, JSON file of sentences, number of threads, file for the vectors.
"""

import json
import sys
import time

import numpy
import torch


def main():
    folder, sentences_file, threads, vectors_file = sys.argv[1:]
    torch.set_num_threads(int(threads))
    with open(sentences_file, encoding="utf-8") as file:
        work = json.load(file)
    files = (folder + "/options.json", folder + "/weights.hdf5")
    import allennlp.modules.elmo as module

    elmo = module.Elmo(files[0], files[1], 1, dropout=0.0).eval()

    def run_module(sentences):
        for n in range(0, len(sentences), work["module_batch"]):
            elmo(module.batch_to_ids(sentences[n : n + work["module_batch"]]))

    runs = {"Elmo module": (run_module, work["many"])}
    try:
        from allennlp.commands.elmo import ElmoEmbedder
    except ImportError:  # gone since AllenNLP 1.0
        pass
    else:
        embedder = ElmoEmbedder(*files)
        numpy.savez(vectors_file, *[embedder.embed_sentence(s) for s in work["few"][: work["warm_up"]]])
        runs["one by one"] = (lambda sentences: [embedder.embed_sentence(s) for s in sentences], work["few"])
        runs["in batches"] = (lambda sentences: list(embedder.embed_sentences(sentences, work["batch"])), work["many"])
    seconds = {}
    with torch.no_grad():
        for name, (function, sentences) in runs.items():
            function(sentences[: work["warm_up"]])
            start = time.perf_counter()
            function(sentences)
            seconds[name] = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "torch": torch.__version__}))


main()
