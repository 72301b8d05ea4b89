import { forEachAddress, type upstreamSettings } from './upstream-definitions.ts';

/** The text of each upstream setting in docs/settings.md, made by `npm run settings`. No function loads it. Links are relative to docs/. */
export const upstreamDescriptions = {
  BASE_URL:
    'its URL up to and including the version, such as `https://host/api/v1`; the gateway appends `/chat/completions`, `/responses`, `/messages`',
  TEXT_MODEL: 'the model behind `svc`; hidden in answers',
  VISION_MODEL: 'the model behind `svc-vision`, by default the text model; hidden in answers',
  ...forEachAddress('BASE_URL', 'its URL for this dialect, if it differs'),
  ...forEachAddress('TEXT_MODEL', "the text model's id in this dialect, if it differs"),
  ...forEachAddress('VISION_MODEL', "the vision model's id in this dialect, if it differs"),
  EMBEDDINGS_BASE_URL:
    'its URL for embeddings, if it differs; the gateway appends `/embeddings`, and sends the same keys',
  EMBEDDINGS_MODEL: 'the model for [embeddings](api.md#embeddings); without it, the gateway offers none',
  HEADERS:
    'extra headers, such as `{"x-team": "a"}`, which override the client\'s. Put headers with secrets into the upstream\'s secret instead, under this name',
  AUTH: 'with `aws`, the upstream is Amazon Bedrock, and the gateway makes keys from its own AWS credentials. You need to set only a model; [the rest has defaults](upstreams.md#amazon-bedrock)',
  API_KEYS:
    'its keys, separated by commas ([how they are used](hosting.md#several-upstream-keys)); in a deployment they are in [its secret](deploy.md#from-zero-in-ten-minutes)',
  FIRST_EVENT_TIMEOUT:
    "seconds to wait for a stream's first event before [the next key or upstream](failures.md) is tried; the last one is always waited for",
  SIGNS_THINKING:
    'set it if the upstream signs its thinking and verifies the signature when it comes back, as Anthropic does. [Signed thinking then stays unchanged](api.md#signed-thoughts), and the gateway warns at startup if names are hidden in text',
  DIALECTS:
    'the dialects that the upstream speaks, at least `chat` or `messages`. Others are [translated](translation.md) to chat, or to messages if it does not speak chat',
  OUTPUT_LIMIT: 'the output limit for clients that set none',
  SYSTEM_TURNS:
    'what becomes of system messages within a conversation: appended to the message before, or kept, which many chat templates refuse',
  TRANSLATE_UNKNOWN: 'what becomes of fields, items, parts and blocks that the gateway does not know',
  OUTPUT_LIMIT_NAME:
    "the field for the output limit: OpenAI's reasoning models refuse the first, most others know only that one",
  REASONING:
    'the field that controls reasoning: a level (`reasoning_effort`), or a switch (`thinking.type`, `enable_thinking`, or the latter within `chat_template_kwargs`)',
  REASONING_LEVELS:
    'the levels of `reasoning_effort` that the upstream knows: any other becomes the next lower one, or else the lowest',
  REASONING_REPLAY:
    "whether to send the model's earlier reasoning back, and whether as `reasoning_content` or `reasoning`: some vendors require it, others refuse it",
  TOOL_IMAGES: "where to send images in a tool's output: in a message after it, within it, or not at all (400)",
  STREAM_OPTIONS:
    'whether streams ask for usage, if translated or for a budget: some vendors refuse that, but report usage anyway',
  TOKENIZE_URL:
    "a tokenizer with vLLM's API, such as `https://host/tokenize`, for `count_tokens` and `input_tokens` where they are translated to chat completions; without it, they answer 404",
  CACHE_MARKS:
    'have an upstream of messages [cache the prompts](translation.md#at-an-upstream-of-messages) of translated requests',
} as const satisfies Readonly<Record<keyof typeof upstreamSettings, string>>;
