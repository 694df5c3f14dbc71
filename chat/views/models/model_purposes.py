"""One line about each model: what it is good for."""

import re

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from chat.upstream.catalog import LlmModel
from chat.upstream.provider import Provider

LONG_WINDOW, VERY_LONG_WINDOW = 200_000, 900_000  # tokens
SMALL_BILLIONS = 4.0  # billions of parameters
SIZE = re.compile(r"(?<![\w.])([0-9]+(?:\.[0-9]+)?)b(?![a-z0-9])", re.I)  # 3b in llama-3.2-3b-instruct

EVERYDAY = _("Everyday questions")
CODE_PURPOSE = _("Writing and explaining code")
STEP_BY_STEP = _("Step-by-step reasoning and maths")
HARD = _("Hard problems and very long texts")
LONG_TEXTS = _("Everyday questions and long texts")
LONG_REASONING = _("Reasoning over very long texts")
REASONING_PURPOSE = _("Questions that need reasoning")
SHORT_ANSWERS_PURPOSE = _("Short, simple answers")
FINETUNE_BASE = _("A base for finetunes")

PURPOSES = {
    "@cf/zai-org/glm-4.7-flash": _("Everyday questions, writing and code"),
    "@cf/google/gemma-4-26b-a4b-it": _("Everyday questions in many languages"),
    "@cf/meta/llama-3.3-70b-instruct-fp8-fast": _("Careful writing and general knowledge"),
    "@cf/meta/llama-4-scout-17b-16e-instruct": LONG_TEXTS,
    "@cf/openai/gpt-oss-120b": _("Hard questions, maths and code"),
    "@cf/openai/gpt-oss-20b": _("Quick reasoning, maths and code"),
    "@cf/qwen/qwen3-30b-a3b-fp8": _("Reasoning in many languages"),
    "@cf/mistralai/mistral-small-3.1-24b-instruct": _("Writing and translation"),
    "@cf/meta/llama-3.2-3b-instruct": _("Quick answers and summaries"),
    "@cf/ibm-granite/granite-4.0-h-micro": _("Summaries and simple tasks at low cost"),
    "@cf/zai-org/glm-5.3-flash": _("Code and very long texts"),
    "@cf/moonshotai/kimi-k2.6": _("Complex tasks and long texts"),
    "@cf/deepseek-ai/deepseek-v4-flash-0731": LONG_REASONING,
    "@cf/qwen/qwen3.8-27b": _("Reasoning and code"),
    "@cf/nvidia/nemotron-3-120b-a12b": _("Reasoning over long texts"),
    "@cf/meta/llama-3.2-1b-instruct": SHORT_ANSWERS_PURPOSE,
    "@cf/meta/llama-3.1-8b-instruct-fp8": EVERYDAY,
    "@cf/meta/llama-3.1-8b-instruct-fast": EVERYDAY,
    "@cf/meta/llama-3.2-11b-vision-instruct": EVERYDAY,
    "@cf/deepseek-ai/deepseek-r1-distill-qwen-32b": STEP_BY_STEP,
    "@cf/qwen/qwq-32b": STEP_BY_STEP,
    "@cf/qwen/qwen2.5-coder-32b-instruct": CODE_PURPOSE,
    "@cf/aisingapore/gemma-sea-lion-v4-27b-it": _("Languages of Southeast Asia"),
    "@cf/zai-org/glm-5.3": HARD,
    "@cf/zai-org/glm-5.2": HARD,
    "@cf/moonshotai/kimi-k2.7-code": CODE_PURPOSE,
    "@cf/deepseek-ai/deepseek-v4-pro-0813": HARD,
    "@cf/google/gemma-2b-it-lora": FINETUNE_BASE,
    "@cf/google/gemma-7b-it-lora": FINETUNE_BASE,
    "@cf/mistral/mistral-7b-instruct-v0.2-lora": FINETUNE_BASE,
    "@cf/meta-llama/llama-2-7b-chat-hf-lora": FINETUNE_BASE,
    "@cf/swiss-ai/apertus-v1.5-8b": _("Questions in many languages"),
    "@cf/utter-project/eurollm-9b-it": _("Languages of Europe"),
}


def purpose(model: LlmModel) -> str | Promise:
    """Return the bundled line; for any other model one that its description allows."""
    if model.local:
        return _("Nothing leaves this server")
    if model.finetune:
        return _("Finetuned for your account")
    if model.host is Provider.AI_SEARCH:
        return _("Answers from indexed documents, with sources")
    if model.is_route:
        return _("The gateway chooses the model")
    return PURPOSES.get(model.id) or _derived(model)


def _derived(model: LlmModel) -> str | Promise:
    if re.search(r"code", model.id, re.I):
        return CODE_PURPOSE
    if model.reasoning or model.inline_reasoning:
        return LONG_REASONING if model.window >= VERY_LONG_WINDOW else REASONING_PURPOSE
    size = SIZE.search(model.id)
    if size and float(size[1]) <= SMALL_BILLIONS:
        return SHORT_ANSWERS_PURPOSE
    return LONG_TEXTS if model.window >= LONG_WINDOW else EVERYDAY
