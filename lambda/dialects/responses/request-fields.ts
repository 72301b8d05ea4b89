import { type Fields, ignore, needed, object, raws } from '../model/request/take-members.ts';
import { isTrue, name, node, raw, string, stringNode, whereTrue } from '../model/request/values.ts';

const call = { call_id: needed(stringNode), ...ignore('type', 'id', 'status', 'caller') };
const calledByName = { ...call, name: needed(name), namespace: name };
const choice = ignore('type', 'name', 'namespace', 'mode', 'tools');
const format = ignore('type', 'name', 'description', 'schema', 'strict');
const grammar = ignore('type', 'syntax', 'definition');
const stored = 'nothing is stored between requests. Send the full history in input.';
const elsewhere = 'its content is stored elsewhere. Send the content itself.';

/** What becomes of each member of a responses request. */
export const responsesFields = {
  request: {
    input: node,
    instructions: string,
    tools: node,
    tool_choice: node,
    include: node,
    text: object({ format: node, verbosity: node }),
    reasoning: object({ effort: stringNode, context: raw, ...ignore('summary', 'generate_summary') }),
    model: raw,
    max_output_tokens: raw,
    parallel_tool_calls: raw,
    stream: isTrue,
    ...raws('temperature', 'top_p', 'presence_penalty', 'frequency_penalty', 'top_logprobs'),
    ...ignore('stream_options', 'truncation', 'store', 'metadata', 'prompt_cache_key', 'prompt_cache_options'),
    ...ignore('prompt_cache_retention', 'safety_identifier', 'user', 'service_tier', 'client_metadata'),
    ...ignore('max_tool_calls', 'background', 'background_options'),
    access_programs: 'leave',
    image: 'leave',
    previous_response_id: stored,
    conversation: stored,
    prompt: 'its template is stored elsewhere. Send instructions and input.',
    moderation: 'nothing here moderates. Leave it out.',
    context_management: 'nothing here shortens a history. Send the history as the model is to read it.',
  },
  'text.format of a schema': { ...format, name: needed(string), description: node, schema: needed(raw), strict: raw },
  'text.format': format,
  'tool_choice of a tool': { ...choice, name: needed(name), namespace: name },
  'tool_choice of tools': { ...choice, mode: needed(stringNode), tools: needed(node) },
  tool_choice: choice,
  'function tool': {
    name: needed(name),
    description: raw,
    parameters: raw,
    strict: raw,
    defer_loading: whereTrue,
    ...ignore('type'),
  },
  'custom tool': { name: needed(name), description: string, format: node, defer_loading: whereTrue, ...ignore('type') },
  'custom tool.format of a grammar': { ...grammar, syntax: needed(string), definition: needed(string) },
  'custom tool.format': grammar,
  'namespace tool': { name: needed(name), tools: needed(node), description: 'leave', ...ignore('type') },
  'tool_search tool': { execution: raw, description: raw, parameters: raw, ...ignore('type') },
  'message item': { content: needed(node), role: needed(stringNode), ...ignore('type', 'phase', 'status', 'id') },
  'agent_message item': { content: needed(node), ...ignore('type', 'author', 'recipient', 'id') },
  'reasoning item': { summary: node, content: node, encrypted_content: stringNode, ...ignore('type', 'id', 'status') },
  'function_call item': { ...calledByName, arguments: needed(string) },
  'custom_tool_call item': { ...calledByName, input: needed(string) },
  'tool_search_call item': { ...call, execution: raw, arguments: needed(raw) },
  'call_output item': { ...call, output: needed(node), ...ignore('name', 'namespace') },
  'tool_search_output item': { ...call, execution: raw, tools: needed(node) },
  'additional_tools item': { tools: needed(node), ...ignore('type', 'role', 'id') },
  'text part': { text: needed(string), ...ignore('type', 'annotations', 'logprobs', 'prompt_cache_breakpoint') },
  'refusal part': { refusal: needed(string), ...ignore('type') },
  'input_image part': {
    image_url: needed(string),
    detail: stringNode,
    file_id: elsewhere,
    ...ignore('type', 'prompt_cache_breakpoint'),
  },
  'input_file part': {
    file_data: needed(string),
    filename: string,
    file_id: elsewhere,
    file_url: elsewhere,
    ...ignore('type', 'detail', 'prompt_cache_breakpoint'),
  },
  'input_audio part': { input_audio: needed(raw), ...ignore('type') },
} satisfies Record<string, Fields>;
