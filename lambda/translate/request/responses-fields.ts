import { type Fields, ignore, map } from './members.ts';

const call = { ...map('type', 'call_id'), ...ignore('id', 'status') };
const elsewhere = 'its content is stored elsewhere. Send the content itself.';

/** What becomes of each member of a responses request. */
export const responsesFields = {
  request: {
    ...map('model', 'input', 'instructions', 'tools', 'tool_choice', 'parallel_tool_calls', 'max_output_tokens'),
    ...map('temperature', 'top_p', 'presence_penalty', 'frequency_penalty', 'top_logprobs', 'include', 'text'),
    ...map('reasoning', 'stream', 'background'),
    ...ignore('stream_options', 'truncation', 'store', 'metadata', 'prompt_cache_key', 'prompt_cache_options'),
    ...ignore('prompt_cache_retention', 'safety_identifier', 'user', 'service_tier', 'client_metadata'),
    ...ignore('max_tool_calls'),
    access_programs: 'leave',
    image: 'leave',
    previous_response_id: 'nothing is stored between requests. Send the full history in input.',
    conversation: 'nothing is stored between requests. Send the full history in input.',
    prompt: 'its template is stored elsewhere. Send instructions and input.',
    moderation: 'nothing here moderates. Leave it out.',
    context_management: 'nothing here shortens a history. Send the history as the model is to read it.',
  },
  reasoning: { ...map('effort', 'context'), ...ignore('summary', 'generate_summary') },
  text: map('format', 'verbosity'),
  'text.format': map('type', 'name', 'description', 'schema', 'strict'),
  tool_choice: map('type', 'name', 'namespace', 'mode', 'tools'),
  'function tool': map('type', 'name', 'description', 'parameters', 'strict', 'defer_loading'),
  'custom tool': map('type', 'name', 'description', 'format', 'defer_loading'),
  'custom tool.format': map('type', 'syntax', 'definition'),
  'namespace tool': { ...map('type', 'name', 'tools'), description: 'leave' },
  'tool_search tool': map('type', 'execution', 'description', 'parameters'),
  'message item': { ...map('type', 'role', 'content'), ...ignore('phase', 'status', 'id') },
  'agent_message item': { ...map('type', 'content'), ...ignore('author', 'recipient', 'id') },
  'reasoning item': { ...map('type', 'summary', 'content', 'encrypted_content'), ...ignore('id', 'status') },
  'function_call item': { ...call, ...map('name', 'namespace', 'arguments') },
  'custom_tool_call item': { ...call, ...map('name', 'namespace', 'input') },
  'tool_search_call item': { ...call, ...map('execution', 'arguments') },
  'call_output item': { ...call, ...map('output'), ...ignore('name', 'namespace') },
  'tool_search_output item': { ...call, ...map('execution', 'tools') },
  'additional_tools item': { ...map('type', 'tools'), ...ignore('role', 'id') },
  'text part': { ...map('type', 'text'), ...ignore('annotations', 'logprobs', 'prompt_cache_breakpoint') },
  'refusal part': map('type', 'refusal'),
  'input_image part': {
    ...map('type', 'image_url'),
    ...ignore('detail', 'prompt_cache_breakpoint'),
    file_id: elsewhere,
  },
  'input_file part': {
    ...map('type', 'file_data', 'filename'),
    ...ignore('detail', 'prompt_cache_breakpoint'),
    ...{ file_id: elsewhere, file_url: elsewhere },
  },
  'input_audio part': map('type', 'input_audio'),
} satisfies Record<string, Fields>;
