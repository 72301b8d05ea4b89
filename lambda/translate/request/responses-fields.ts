import type { Fields } from './reading.ts';

const text = { type: 'map', text: 'map', annotations: 'ignore', logprobs: 'ignore', prompt_cache_breakpoint: 'ignore' };
const call = { type: 'map', call_id: 'map', id: 'ignore', status: 'ignore' };
const output = { ...call, output: 'map', name: 'ignore', namespace: 'ignore' };
const functionTool = {
  ...{ type: 'map', name: 'map', description: 'map', parameters: 'map', strict: 'map', defer_loading: 'map' },
};
const elsewhere = 'its content is stored elsewhere. Send the content itself.';

/** What becomes of each member of a responses request. */
export const responsesFields = {
  request: {
    model: 'map',
    input: 'map',
    instructions: 'map',
    tools: 'map',
    tool_choice: 'map',
    parallel_tool_calls: 'map',
    max_output_tokens: 'map',
    temperature: 'map',
    top_p: 'map',
    presence_penalty: 'map',
    frequency_penalty: 'map',
    top_logprobs: 'map',
    include: 'map',
    text: 'map',
    reasoning: 'map',
    stream: 'map',
    stream_options: 'ignore',
    truncation: 'ignore',
    store: 'ignore',
    metadata: 'ignore',
    prompt_cache_key: 'ignore',
    prompt_cache_options: 'ignore',
    prompt_cache_retention: 'ignore',
    safety_identifier: 'ignore',
    user: 'ignore',
    service_tier: 'ignore',
    client_metadata: 'ignore',
    max_tool_calls: 'ignore',
    access_programs: 'leave',
    image: 'leave',
    background: 'map',
    previous_response_id: 'nothing is stored between requests. Send the full history in input.',
    conversation: 'nothing is stored between requests. Send the full history in input.',
    prompt: 'its template is stored elsewhere. Send instructions and input.',
    moderation: 'nothing here moderates. Leave it out.',
    context_management: 'nothing here shortens a history. Send the history as the model is to read it.',
  },
  reasoning: { effort: 'map', context: 'map', summary: 'ignore', generate_summary: 'ignore' },
  text: { format: 'map', verbosity: 'map' },
  'text.format': { type: 'map', name: 'map', description: 'map', schema: 'map', strict: 'map' },
  tool_choice: { type: 'map', name: 'map', namespace: 'map', mode: 'map', tools: 'map' },
  'function tool': functionTool,
  'custom tool': { type: 'map', name: 'map', description: 'map', format: 'map', defer_loading: 'map' },
  'custom tool.format': { type: 'map', syntax: 'map', definition: 'map' },
  'namespace tool': { type: 'map', name: 'map', tools: 'map', description: 'leave' },
  'tool_search tool': { type: 'map', execution: 'map', description: 'map', parameters: 'map' },
  'message item': { type: 'map', role: 'map', content: 'map', phase: 'ignore', status: 'ignore', id: 'ignore' },
  'agent_message item': { type: 'map', content: 'map', author: 'ignore', recipient: 'ignore', id: 'ignore' },
  'reasoning item': {
    ...{ type: 'map', summary: 'map', content: 'map', encrypted_content: 'map', id: 'ignore', status: 'ignore' },
  },
  'function_call item': { ...call, name: 'map', namespace: 'map', arguments: 'map' },
  'custom_tool_call item': { ...call, name: 'map', namespace: 'map', input: 'map' },
  'tool_search_call item': { ...call, execution: 'map', arguments: 'map' },
  'function_call_output item': output,
  'custom_tool_call_output item': output,
  'tool_search_output item': { ...call, execution: 'map', tools: 'map' },
  'additional_tools item': { type: 'map', role: 'ignore', tools: 'map', id: 'ignore' },
  'text part': text,
  'refusal part': { type: 'map', refusal: 'map' },
  'input_image part': {
    ...{ type: 'map', image_url: 'map', detail: 'ignore', prompt_cache_breakpoint: 'ignore', file_id: elsewhere },
  },
  'input_file part': {
    ...{ type: 'map', file_data: 'map', filename: 'map', detail: 'ignore', prompt_cache_breakpoint: 'ignore' },
    ...{ file_id: elsewhere, file_url: elsewhere },
  },
  'input_audio part': { type: 'map', input_audio: 'map' },
} as const satisfies Record<string, Fields>;
