import { type Fields, ignore, needed, object, raws } from '../model/request/take-members.ts';
import { isCacheMark, isTrue, name, node, raw, string, stringNode, text } from '../model/request/values.ts';

const elsewhere = 'its content is stored elsewhere. Send the content itself.';
const marked = { cache_control: isCacheMark };
const partFields = { ...marked, ...ignore('type', 'prompt_cache_breakpoint') };
const noAudio = 'this model makes no audio. Leave it out.';

/** What becomes of each member of a chat request. */
export const chatFields = {
  request: {
    messages: node,
    tools: node,
    functions: node,
    tool_choice: node,
    function_call: node,
    stop: node,
    n: node,
    response_format: node,
    reasoning_effort: stringNode,
    modalities: node,
    stream: isTrue,
    stream_options: object({ include_usage: isTrue, ...ignore('include_obfuscation') }),
    ...raws('model', 'max_tokens', 'max_completion_tokens', 'parallel_tool_calls', 'temperature', 'top_p', 'top_k'),
    ...raws('presence_penalty', 'frequency_penalty', 'logprobs', 'top_logprobs', 'logit_bias'),
    ...ignore('prediction', 'store', 'metadata', 'user', 'service_tier', 'safety_identifier'),
    ...ignore('prompt_cache_key', 'prompt_cache_options', 'prompt_cache_retention'),
    seed: 'leave',
    verbosity: 'leave',
    audio: noAudio,
    web_search_options: "this model can't search. Leave it out.",
    moderation: 'nothing here moderates. Leave it out.',
  },
  'response_format of a schema': {
    json_schema: needed(object({ name: needed(string), description: node, schema: needed(raw), strict: raw })),
    ...ignore('type'),
  },
  response_format: ignore('type'),
  'tool_choice of a function': { function: needed(object({ name: needed(name) })), ...ignore('type') },
  'tool_choice of tools': {
    allowed_tools: needed(object({ mode: needed(stringNode), tools: needed(node) })),
    ...ignore('type'),
  },
  function_call: { name: needed(name) },
  tool: { function: needed(node), ...marked, ...ignore('type') },
  function: { name: needed(name), description: raw, parameters: raw, strict: raw, ...marked },
  message: {
    role: needed(stringNode),
    content: node,
    refusal: string,
    tool_calls: node,
    function_call: node,
    tool_call_id: stringNode,
    name: stringNode,
    reasoning_content: node,
    reasoning: node,
    reasoning_details: node,
    ...marked,
    ...ignore('annotations'),
    audio: elsewhere,
  },
  'text part': { text: needed(string), ...partFields },
  'refusal part': { refusal: needed(string), ...ignore('type') },
  'image_url part': {
    image_url: needed(object({ url: needed(string), ...ignore('detail') })),
    ...partFields,
  },
  'input_audio part': { input_audio: needed(raw), ...partFields },
  'file part': {
    file: needed(object({ file_data: needed(string), filename: string, file_id: elsewhere })),
    ...partFields,
  },
  tool_call: {
    id: needed(stringNode),
    function: needed(object({ name: needed(name), arguments: needed(string) })),
    ...marked,
    ...ignore('type', 'index'),
  },
  'function_call of a message': { name: needed(stringNode), arguments: needed(string) },
  reasoning_detail: {
    text: string,
    signature: text,
    data: text,
    ...ignore('type', 'index', 'format', 'id', 'summary'),
  },
} satisfies Record<string, Fields>;
