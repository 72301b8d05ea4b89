import { type Fields, ignore, needed, object, raws } from '../model/request/take-members.ts';
import { isTrue, name, node, number, raw, string, stringNode, text, whereTrue } from '../model/request/values.ts';

const vendor = 'it belongs to a vendor, and this model has none. Leave it out.';
const source = ignore('type', 'media_type', 'data', 'url');

/** What becomes of each member of a messages request. */
export const messagesFields = {
  request: {
    messages: node,
    system: node,
    tools: node,
    tool_choice: node,
    thinking: node,
    stop_sequences: node,
    output_format: node,
    stream: isTrue,
    output_config: object({ effort: stringNode, format: node }),
    context_management: object({ edits: node }),
    ...raws('model', 'max_tokens', 'temperature', 'top_p', 'top_k'),
    ...ignore('cache_control', 'metadata', 'service_tier', 'speed', 'diagnostics', 'user_profile_id'),
    ...ignore('billing_policy', 'fallback_credit_token'),
    compaction: 'leave',
    // Only a thread that is created gets here: checkBody refuses to continue one.
    thread: 'leave',
    mcp_servers: vendor,
    container: vendor,
    fallbacks: vendor,
    inference_geo: vendor,
  },
  thinking: { budget_tokens: node, display: raw, ...ignore('type') },
  'output_config.format': { schema: needed(raw), ...ignore('type') },
  clear_thinking_20251015: { keep: node, ...ignore('type') },
  'clear_thinking.keep of turns': { value: needed(number), ...ignore('type') },
  'clear_thinking.keep': ignore('type', 'value'),
  tool: {
    name: needed(name),
    description: raw,
    input_schema: raw,
    strict: raw,
    defer_loading: isTrue,
    ...ignore('type', 'cache_control', 'eager_input_streaming'),
    input_examples: 'nothing here shows examples to the model. Describe them in the description.',
  },
  'tool_choice of a tool': { name: needed(name), disable_parallel_tool_use: isTrue, ...ignore('type') },
  tool_choice: { disable_parallel_tool_use: isTrue, ...ignore('type', 'name') },
  message: { content: needed(node), role: needed(stringNode) },
  'system message': { content: node, output_config: object({ effort: stringNode }), ...ignore('role') },
  'tool_addition block': { tool: needed(node), ...ignore('type', 'cache_control') },
  'tool_removal block': { tool: needed(node), ...ignore('type', 'cache_control') },
  'reference in a tool change': { name: needed(name), ...ignore('type') },
  'definition in a tool change': { definition: needed(node), ...ignore('type') },
  'text block': { text: needed(string), ...ignore('type', 'cache_control', 'citations') },
  'image block': { source: needed(node), ...ignore('type', 'cache_control') },
  'document block': {
    source: needed(node),
    title: string,
    citations: object({ enabled: whereTrue }),
    ...ignore('type', 'cache_control'),
  },
  'source with a url': { ...source, url: needed(string) },
  'source with a text': { ...source, data: needed(string) },
  'source with bytes': { ...source, media_type: needed(string), data: needed(string) },
  'tool_use block': {
    id: needed(stringNode),
    name: needed(name),
    input: raw,
    ...ignore('type', 'caller', 'cache_control'),
  },
  'tool_result block': {
    tool_use_id: needed(stringNode),
    content: node,
    is_error: isTrue,
    ...ignore('type', 'cache_control'),
  },
  'tool_reference block': { tool_name: needed(stringNode), ...ignore('type', 'cache_control') },
  'thinking block': { thinking: string, signature: text, ...ignore('type') },
  'redacted_thinking block': ignore('type', 'data'),
} satisfies Record<string, Fields>;
