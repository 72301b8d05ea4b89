import type { DialectName } from '../../../lambda/dialects/names.ts';

const text = { type: 'text', text: 'a' };
const bytes = { type: 'base64', media_type: 'a/a', data: 'a' };
const cached = { cache_control: { type: 'ephemeral' } };
const settings = {
  model: 'svc',
  stream: true,
  user: 'a',
  safety_identifier: 'a',
  prompt_cache_key: 'a',
  session_id: 'a',
};
const ids = { metadata: { user_id: 'a' }, client_metadata: { a: 'a', b: { c: 1 } } };
const described = { description: 'a', parameters: { type: 'object' }, strict: true };
/** One that is opened, in vain. */
const seal = `svc1.${'a'.repeat(40)}`;
const answered = { call_id: 'a', output: [{ type: 'input_text', text: 'a' }] };

/**
 * Requests that hold every member which any reader looks for, each with a value that leads the readers on. A member that is looked
 * for and stands in none of them fails the test.
 */
export const everyMember: Readonly<Record<DialectName, readonly object[]>> = {
  chat: [
    {
      ...{ ...settings, ...ids, n: 1, stop: ['a'], max_tokens: 1, max_completion_tokens: 1 },
      ...{ stream_options: { include_usage: false }, prediction: { content: [text] } },
      messages: [
        { role: 'system', content: [text], thought_signature: null },
        { role: 'user', content: 'a' },
      ],
    },
    {
      model: 'svc-vision',
      messages: [
        {
          role: 'user',
          content: [
            text,
            { type: 'image_url', image_url: { url: 'a' } },
            { type: 'video_url', video_url: { url: 'a' } },
            { type: 'input_audio', input_audio: { data: 'a' } },
            { type: 'file', file: { file_data: 'data:image/png;base64,a' } },
          ],
          images: [{ type: 'image_url', image_url: 'a' }],
        },
      ],
    },
    {
      ...{
        ...settings,
        ...ids,
        n: 1,
        stop: 'a',
        max_tokens: 1,
        temperature: 1,
        top_p: 1,
        top_k: 1,
        seed: 1,
        logprobs: false,
      },
      ...{ presence_penalty: 0, frequency_penalty: 0, top_logprobs: 0, logit_bias: {}, parallel_tool_calls: false },
      ...{ stream_options: { include_usage: true }, reasoning_effort: 'low', modalities: ['text'], verbosity: 'low' },
      response_format: { type: 'json_schema', json_schema: { name: 'a', ...described, schema: { type: 'object' } } },
      tools: [{ type: 'function', function: { name: 'a', ...described, ...cached }, ...cached }],
      functions: [{ name: 'f', ...described }],
      tool_choice: { type: 'function', function: { name: 'a' } },
      messages: [
        { role: 'developer', content: [{ ...text, ...cached }] },
        { role: 'user', content: [text], name: 'a', ...cached },
        {
          ...{ role: 'assistant', content: [text, { type: 'refusal', refusal: 'a' }], refusal: 'a', annotations: [] },
          ...{ reasoning_content: 'a', reasoning: 'a' },
          reasoning_details: [{ type: 'reasoning.encrypted', text: 'a', signature: seal, data: seal, index: 0 }],
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'a', arguments: '{"a":"a"}' }, ...cached }],
          function_call: { name: 'f', arguments: '{"a":"a"}' },
        },
        { role: 'tool', tool_call_id: 'a', content: [text] },
        { role: 'function', name: 'f', content: 'a' },
      ],
    },
    {
      model: 'svc-vision',
      ...{ functions: [{ name: 'f' }], function_call: { name: 'f' }, response_format: { type: 'text' } },
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: 'data:image/png;base64,a', detail: 'low' }, ...cached },
            { type: 'file', file: { filename: 'a', file_data: 'data:application/pdf;base64,a' }, ...cached },
          ],
        },
      ],
    },
    {
      model: 'svc',
      tools: [{ type: 'function', function: { name: 'a', ...described } }],
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'a' } }] },
      },
      messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'a' } }] }],
    },
  ],
  embeddings: [{ ...settings, ...ids, model: 'svc-embedding', input: ['a'] }],
  responses: [
    {
      ...{ ...settings, ...ids, max_output_tokens: 1, instructions: 'a', background: false, conversation: null },
      ...{ previous_response_id: null, parallel_tool_calls: true, include: ['reasoning.encrypted_content'] },
      ...{ text: { format: { type: 'json_schema', name: 'a', ...described, schema: {} }, verbosity: 'low' } },
      ...{ reasoning: { effort: 'low', context: 'current_turn', summary: 'auto' }, top_logprobs: 1 },
      ...{ temperature: 1, top_p: 1, presence_penalty: 0, frequency_penalty: 0, truncation: 'disabled' },
      ...{ max_tool_calls: 1, access_programs: [], tool_choice: { type: 'function', name: 'a' } },
      tools: [
        { type: 'function', name: 'a', ...described, defer_loading: false },
        {
          ...{ type: 'custom', name: 'b', description: 'a', defer_loading: true },
          format: { type: 'grammar', syntax: 'lark', definition: 'a' },
        },
        { type: 'namespace', name: 'n', description: 'a', tools: [{ type: 'function', name: 'a', ...described }] },
        { type: 'tool_search', execution: 'client', description: 'a', parameters: {} },
        { type: 'web_search' },
      ],
      input: [
        { type: 'message', role: 'system', content: 'a', phase: 'a', status: 'a', id: 'a' },
        { role: 'user', content: [{ type: 'input_text', text: 'a', prompt_cache_breakpoint: {} }] },
        { type: 'agent_message', author: 'a', recipient: 'a', content: [{ type: 'encrypted_content' }] },
        {
          ...{ type: 'reasoning', id: 'a', encrypted_content: seal },
          ...{ summary: [{ type: 'summary_text', text: 'a' }], content: [{ type: 'reasoning_text', text: 'a' }] },
        },
        {
          role: 'assistant',
          content: [
            { type: 'output_text', text: 'a', annotations: [], logprobs: [] },
            { type: 'refusal', refusal: 'a' },
          ],
        },
        { type: 'function_call', call_id: 'a', name: 'a', arguments: '{}', namespace: 'n' },
        { type: 'custom_tool_call', call_id: 'b', name: 'b', input: 'a' },
        { type: 'tool_search_call', call_id: 'c', execution: 'client', arguments: { a: 1 } },
        { ...answered, type: 'function_call_output' },
        { ...answered, type: 'custom_tool_call_output', call_id: 'b' },
        {
          ...{ type: 'tool_search_output', call_id: 'c', execution: 'client' },
          tools: [{ type: 'function', name: 's', defer_loading: true }],
        },
        { type: 'additional_tools', role: 'a', tools: [{ type: 'function', name: 'e' }] },
        { type: 'web_search_call' },
        { type: 'image_generation_call', result: null },
      ],
    },
    {
      model: 'svc-vision',
      ...{ prompt: { id: null, variables: { a: { type: 'input_text', text: 'a' } } } },
      input: [{ role: 'user', content: [{ type: 'input_text', text: 'a' }], outputs: [{}] }],
    },
    {
      model: 'svc-vision',
      tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'a', namespace: 'n' }] },
      tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'a' }] }],
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_image', image_url: 'a', detail: 'low' },
            { type: 'input_file', filename: 'a', file_data: 'a' },
            { type: 'input_audio', input_audio: { data: 'a', format: 'wav' } },
          ],
        },
      ],
    },
    {
      model: 'svc-vision',
      ...{ text: { format: { type: 'text' } }, tool_choice: 'auto', tools: [{ vector_store_ids: [], container: 'a' }] },
      input: [
        { type: 'input_video', video_url: 'a' },
        { type: 'computer_screenshot', image_url: 'a', file_id: 'a' },
        { type: 'image_generation_call', result: 'a' },
      ],
    },
  ],
  messages: [
    {
      ...{ ...settings, ...ids, max_tokens: 1, stop_sequences: ['a'], temperature: 1, top_p: 1, top_k: 1 },
      ...{ thinking: { type: 'enabled', budget_tokens: 1, display: 'omitted' }, thread: null },
      ...{
        output_config: { effort: 'low', format: { type: 'json_schema', schema: {} } },
        output_format: { type: 'a' },
      },
      context_management: {
        edits: [{ type: 'clear_thinking_20251015', keep: { type: 'thinking_turns', value: 1 } }],
      },
      ...{ system: [{ ...text, citations: [], cache_control: {} }], compaction: {} },
      tools: [
        { type: 'custom', name: 'a', description: 'a', input_schema: {}, strict: true, eager_input_streaming: true },
        { name: 'd', defer_loading: true, input_schema: {} },
      ],
      tool_choice: { type: 'tool', name: 'a', disable_parallel_tool_use: true },
      messages: [
        { role: 'user', content: [text, { type: 'document', title: 'a', source: { type: 'text', data: 'a' } }] },
        {
          ...{ role: 'system', output_config: { effort: 'low' } },
          content: [
            text,
            { type: 'tool_addition', tool: { type: 'tool_definition', definition: { name: 'e', input_schema: {} } } },
            { type: 'tool_removal', tool: { type: 'tool_reference', name: 'e' } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'a', signature: seal },
            { type: 'redacted_thinking', data: 'a' },
            { ...text },
            { type: 'tool_use', id: 'a', name: 'a', input: { a: 'a' } },
          ],
        },
        {
          role: 'user',
          content: [
            {
              ...{ type: 'tool_result', tool_use_id: 'a', is_error: true },
              content: [text, { type: 'tool_reference', tool_name: 'd' }],
            },
            text,
          ],
        },
      ],
    },
    {
      model: 'svc-vision',
      tool_choice: { type: 'auto', disable_parallel_tool_use: false },
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image', source: bytes },
            { type: 'image', source: { type: 'url', url: 'a' } },
            { type: 'document', source: bytes, title: 'a', citations: { enabled: false } },
            { type: 'video', source: bytes },
            { type: 'container_upload' },
          ],
        },
      ],
    },
    {
      model: 'svc',
      ...{ output_format: { type: 'json_schema', schema: {} }, thinking: { type: 'adaptive' }, max_tokens: 1 },
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image', source: bytes },
            { ...text, thinking_signature: 'a' },
          ],
        },
      ],
    },
  ],
};
