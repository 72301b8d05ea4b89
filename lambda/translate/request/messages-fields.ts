import { type Fields, ignore, map } from './members.ts';

const vendor = 'it belongs to a vendor, and this model has none. Leave it out.';

/** What becomes of each member of a messages request. */
export const messagesFields = {
  request: {
    ...map('model', 'system', 'max_tokens', 'temperature', 'top_p', 'top_k', 'stop_sequences', 'stream'),
    messages: 'map',
    ...map('tools', 'tool_choice', 'thinking', 'output_config', 'output_format', 'context_management'),
    ...ignore('cache_control', 'metadata', 'service_tier', 'speed', 'diagnostics', 'user_profile_id'),
    ...ignore('billing_policy', 'fallback_credit_token'),
    compaction: 'leave',
    ...{ mcp_servers: vendor, container: vendor, fallbacks: vendor, inference_geo: vendor },
    thread: 'nothing is stored between requests. Send the full history in messages.',
  },
  thinking: map('type', 'budget_tokens', 'display'),
  output_config: map('effort', 'format'),
  'output_config.format': map('type', 'schema'),
  context_management: map('edits'),
  clear_thinking_20251015: map('type', 'keep'),
  'clear_thinking_20251015.keep': map('type', 'value'),
  tool: {
    ...map('type', 'name', 'description', 'input_schema', 'strict', 'defer_loading'),
    ...ignore('cache_control', 'eager_input_streaming'),
    input_examples: 'nothing here shows examples to the model. Describe them in the description.',
  },
  tool_choice: map('type', 'name', 'disable_parallel_tool_use'),
  message: map('role', 'content'),
  'text block': { ...map('type', 'text'), ...ignore('cache_control', 'citations') },
  'image block': { ...map('type', 'source'), ...ignore('cache_control') },
  'document block': { ...map('type', 'source', 'title', 'citations'), ...ignore('cache_control') },
  'document block.citations': map('enabled'),
  source: map('type', 'media_type', 'data', 'url'),
  'tool_use block': { ...map('type', 'id', 'name', 'input'), ...ignore('cache_control') },
  'tool_result block': { ...map('type', 'tool_use_id', 'content', 'is_error'), ...ignore('cache_control') },
  'tool_reference block': { ...map('type', 'tool_name'), ...ignore('cache_control') },
  'thinking block': map('type', 'thinking', 'signature'),
  'redacted_thinking block': map('type', 'data'),
} satisfies Record<string, Fields>;
