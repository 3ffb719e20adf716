"""A contestant of minilm.py, run by the Python that has it. Prints JSON.

Arguments: torch or onnx, the model (a folder, or a .onnx file beside its tokenizer.json), the work as JSON.
"""

import json
import os
import sys
import time


def with_torch(folder):
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    model = SentenceTransformer(folder, device="cpu")
    return lambda texts: model.encode(
        texts, batch_size=len(texts), output_value="token_embeddings", show_progress_bar=False
    )


def with_onnx(path):
    import numpy as np
    import onnxruntime
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(os.path.join(os.path.dirname(path), "tokenizer.json"))
    tokenizer.enable_padding()
    tokenizer.enable_truncation(512)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(os.environ["OMP_NUM_THREADS"])
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    wanted = [value.name for value in session.get_inputs()]

    def embed(texts):
        encoded = tokenizer.encode_batch(texts)
        arrays = {
            "input_ids": np.array([e.ids for e in encoded], np.int64),
            "attention_mask": np.array([e.attention_mask for e in encoded], np.int64),
            "token_type_ids": np.array([e.type_ids for e in encoded], np.int64),
        }
        return session.run(None, {name: arrays[name] for name in wanted})[0]

    return embed


def peak_megabytes():
    with open("/proc/self/status", encoding="utf-8") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM"))


def main():
    kind, model, work_file = sys.argv[1:]
    with open(work_file, encoding="utf-8") as file:
        work = json.load(file)
    clock = {"wall": time.perf_counter, "cpu": time.process_time}[work["clock"]]
    embed = {"torch": with_torch, "onnx": with_onnx}[kind](model)
    embed(["cold start"])
    found = {"first": time.time()}
    texts = sorted(work["texts"], key=len)  # sentence-transformers sorts within a call; here every one gets the same
    batches = [texts[n : n + work["batch"]] for n in range(0, len(texts), work["batch"])]
    embed(batches[0])
    seconds = []
    for _ in range(work["passes"]):
        start = clock()
        for batch in batches:
            embed(batch)
        seconds.append(clock() - start)
    found["seconds"] = min(seconds)
    found["megabytes"] = peak_megabytes()
    print(json.dumps(found))


main()
