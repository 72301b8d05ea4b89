import { forEachAddress, type upstreamSettings } from './upstream-definitions.ts';

/** The text of each upstream setting in docs/settings.md, made by `npm run settings`. No function loads it. Links are relative to docs/. */
export const upstreamDescriptions = {
  BASE_URL:
    'its address with its version prefix, such as `https://host/api/v1`; the gateway appends `/chat/completions`, `/responses`, `/messages`',
  TEXT_MODEL: 'the model behind the public one for text; hidden in answers',
  VISION_MODEL: 'the model behind the public one for images, by default the text model; hidden in answers',
  ...forEachAddress('BASE_URL', 'its address for this dialect, where it differs'),
  ...forEachAddress('TEXT_MODEL', "the text model's id in this dialect, where it differs"),
  ...forEachAddress('VISION_MODEL', "the vision model's id in this dialect, where it differs"),
  EMBEDDINGS_BASE_URL:
    'its address for embeddings, where it differs, which gets the same keys; the gateway appends `/embeddings`',
  EMBEDDINGS_MODEL: 'the model for [embeddings](api.md#embeddings); without it there are none',
  HEADERS:
    'extra headers, such as `{"x-team": "a"}`, which override the client\'s; put secret ones into the secret under the same name',
  AUTH: 'with `aws`, the upstream is Amazon Bedrock, and the gateway makes its keys from its own AWS credentials. Only a model must be set; [the rest has defaults](upstreams.md#amazon-bedrock)',
  API_KEYS:
    'its keys, separated by commas ([how they are used](hosting.md#several-upstream-keys)); a deployment has them in [its secret](deploy.md#from-zero-in-ten-minutes)',
  FIRST_EVENT_TIMEOUT:
    "seconds until a stream's first event, after which [the next key or upstream](failures.md) is asked instead; the last one is waited for",
  SIGNS_THINKING:
    'set it if the upstream signs its thinking and verifies that when it comes back, as Anthropic does: then [signed thoughts stay as they are](api.md#signed-thoughts), and the start warns where names are hidden in texts',
  DIALECTS:
    'the dialects that the upstream speaks, chat or messages among them; the others are [translated](translation.md) to chat, without it to messages',
  OUTPUT_LIMIT: 'the limit of an answer whose client names none',
  SYSTEM_TURNS: 'later system messages: folded into the message before, or kept, which many templates refuse',
  TRANSLATE_UNKNOWN:
    'what becomes of members, items, parts and blocks that the gateway does not know, in a translation',
  OUTPUT_LIMIT_NAME: "the limit of an answer: OpenAI's reasoning models refuse the first, most others know only that",
  REASONING:
    'the member that says how much to reason: a level, or a switch (`thinking.type`, `enable_thinking`, or that within `chat_template_kwargs`)',
  REASONING_LEVELS: 'the levels of `reasoning_effort`: another becomes the nearest below, or else the lowest',
  REASONING_REPLAY:
    "send the model's earlier reasoning back, as `reasoning_content` or `reasoning`: some vendors demand it, others refuse it",
  TOOL_IMAGES: "images in a tool's output: in a message after it, in it, or refused",
  STREAM_OPTIONS: 'ask streams for their usage: some vendors refuse that, and report it anyway',
  TOKENIZE_URL:
    "a tokenizer that speaks as vLLM's does, such as `https://host/tokenize`, for `count_tokens` and `input_tokens` translated to chat completions; without it, 404",
  CACHE_MARKS:
    'ask an upstream of messages to [cache the prompts](translation.md#at-an-upstream-of-messages) of translated requests',
} as const satisfies Readonly<Record<keyof typeof upstreamSettings, string>>;
