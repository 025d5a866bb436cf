#!/usr/bin/env python3
"""Write a tiny Qwen3 model (about 0.3 M parameters) to a folder, with nothing downloaded.

usage: make_tiny_model.py OUT_DIR [--steps N] [--max-len N]

The tokenizer is a byte-level BPE trained on the sentences below, so any text
round-trips. The model is trained for a few seconds on the same sentences, so
that its answers are readable and end by themselves; --steps 0 leaves it random.
The same arguments always give the same model on the same machine.
"""

import argparse
import json
import os

SPECIAL = [
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<tool_call>",
    "</tool_call>",
    "<think>",
    "</think>",
]

SENTENCES = [
    "The gateway sends each request to a backend that is ready to serve the model.",
    "A stream is a list of chunks, and every chunk carries a few tokens of the answer.",
    "When the cache is full the scheduler puts a request back in the queue and tries it later.",
    "Two chips form one instance, and four instances share the load of one name.",
    "Please wait for the health check to turn green before you send traffic to the server.",
    "网关把每个请求发给准备好的后端实例。",
    "流式输出由许多小块组成,每一块带有几个词元。",
    "缓存用满时,调度器会把请求放回队列,稍后再试。",
    "两颗芯片组成一个实例,四个实例分担同一个模型的负载。",
    "健康检查通过之后,请再向服务器发送流量。",
    "Numbers such as 0 1 2 3 4 5 6 7 8 9 and words such as hello, world, yes and no are known.",
    '{"name": "get_weather", "arguments": {"city": "Paris"}} is a call of a tool.',
    "role system user assistant tool content type function name arguments parameters",
]

# ChatML with tools, in the manner of the Qwen family.
CHAT_TEMPLATE = """\
{%- if tools %}<|im_start|>system
{% if messages[0].role == 'system' %}{{ messages[0].content }}

{% endif %}Tools:{% for tool in tools %}
{{ tool | tojson }}{% endfor %}<|im_end|>
{% endif %}
{%- for message in messages %}
{%- if not (tools and loop.first and message.role == 'system') %}<|im_start|>{{ message.role }}
{{ message.content or '' }}{% for call in message.tool_calls or [] %}
<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>{% endfor %}<|im_end|>
{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% if enable_thinking is defined and not enable_thinking %}<think>

</think>

{% endif %}{% endif %}"""


def make_tokenizer(out):
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tok = Tokenizer(models.BPE())
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tok.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=1024,
        min_frequency=1,
        special_tokens=SPECIAL,
        show_progress=False,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
    )
    tok.train_from_iterator(SENTENCES * 3, trainer)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tok,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=["<|im_start|>"],
        clean_up_tokenization_spaces=False,
    )
    fast.chat_template = CHAT_TEMPLATE
    fast.save_pretrained(out)
    # One file that holds everything, chat template included, is the easiest to read back.
    path = os.path.join(out, "tokenizer_config.json")
    with open(path, encoding="utf-8") as f:
        cfg = json.load(f)
    cfg["chat_template"] = CHAT_TEMPLATE
    with open(path, "w", encoding="utf-8") as f:
        json.dump(cfg, f, indent=2, ensure_ascii=False)
    return fast


def train(model, tok, steps):
    import torch

    rows = []
    for i, s in enumerate(SENTENCES):
        answer = SENTENCES[(i + 1) % len(SENTENCES)]
        text = tok.apply_chat_template(
            [
                {"role": "user", "content": s},
                {"role": "assistant", "content": answer},
            ],
            tokenize=False,
        )
        rows.append(tok(text)["input_ids"])
        rows.append(tok(s)["input_ids"] + [tok.eos_token_id])
    width = max(map(len, rows))
    ids = torch.full((len(rows), width), tok.pad_token_id)
    labels = torch.full((len(rows), width), -100)
    for i, r in enumerate(rows):
        ids[i, : len(r)] = torch.tensor(r)
        labels[i, : len(r)] = torch.tensor(r)
    opt = torch.optim.AdamW(model.parameters(), lr=4e-3)
    loss = None
    for _ in range(steps):
        loss = model(input_ids=ids, labels=labels).loss
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


def main():
    ap = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    ap.add_argument("out")
    ap.add_argument("--steps", type=int, default=120)
    ap.add_argument("--max-len", type=int, default=4096)
    args = ap.parse_args()

    import torch
    from transformers import GenerationConfig, Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(0)
    os.makedirs(args.out, exist_ok=True)
    tok = make_tokenizer(args.out)
    # head_dim 32 is the smallest that vLLM's CPU attention takes.
    model = Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=-(-len(tok) // 64) * 64,
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            head_dim=32,
            max_position_embeddings=args.max_len,
            tie_word_embeddings=False,
            bos_token_id=None,
            eos_token_id=tok.eos_token_id,
            pad_token_id=tok.pad_token_id,
        )
    )
    if args.steps:
        print(f"loss after {args.steps} steps: {train(model, tok, args.steps):.3f}")
    model.to(torch.bfloat16)
    # Greedy, so that a test sees the same answer twice; a request may still ask for a temperature.
    model.generation_config = GenerationConfig(
        eos_token_id=tok.eos_token_id, pad_token_id=tok.pad_token_id
    )
    model.save_pretrained(args.out)
    print(f"{args.out}: {sum(p.numel() for p in model.parameters())} parameters, {len(tok)} tokens")


if __name__ == "__main__":
    main()
