/**
 * What Open Responses (https://www.openresponses.org, version 2026-04-24) demands of the objects and events that occur here, in
 * a short form of its own: a member is there unless its name ends in `?`; `|` separates choices, `[]` marks a list, quotes a text.
 */
const types: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Response: {
    ...{ id: 'string', object: '"response"', created_at: 'integer', completed_at: 'integer|null', status: 'string' },
    ...{ incomplete_details: 'Incomplete|null', model: 'string', previous_response_id: 'string|null' },
    ...{
      instructions: 'string|null',
      output: 'Item[]',
      error: 'Failure|null',
      tools: 'Tool[]',
      truncation: 'Truncation',
    },
    ...{
      tool_choice: 'ChoiceWord|NamedChoice|AllowedChoice|CustomChoice',
      parallel_tool_calls: 'boolean',
      text: 'Text',
    },
    ...{ top_p: 'number', presence_penalty: 'number', frequency_penalty: 'number', temperature: 'number' },
    ...{ top_logprobs: 'integer', reasoning: 'Reasoning|null', usage: 'Usage|null', max_output_tokens: 'integer|null' },
    ...{ max_tool_calls: 'integer|null', store: 'boolean', background: 'boolean', service_tier: 'string' },
    ...{ metadata: 'any', safety_identifier: 'string|null', prompt_cache_key: 'string|null' },
  },
  Incomplete: { reason: 'string' },
  Failure: { code: 'string', message: 'string' },
  Item: { '|': 'Message|FunctionCall|Thought|Foreign' },
  Message: { type: '"message"', id: 'string', status: 'Status', role: 'Role', content: 'Part[]' },
  FunctionCall: {
    ...{
      type: '"function_call"',
      id: 'string',
      call_id: 'string',
      name: 'string',
      arguments: 'string',
      status: 'Status',
    },
  },
  Thought: {
    ...{ type: '"reasoning"', id: 'string', 'content?': 'Part[]', summary: 'Part[]', 'encrypted_content?': 'string' },
  },
  // Calls of which it does not know, as it allows further items.
  Foreign: { type: '"custom_tool_call"|"tool_search_call"', id: 'string' },
  Status: { '|': '"in_progress"|"completed"|"incomplete"' },
  Role: { '|': '"user"|"assistant"|"system"|"developer"' },
  Part: { '|': 'OutputText|SummaryText|Refusal' },
  OutputText: { type: '"output_text"', text: 'string', annotations: 'Annotation[]', 'logprobs?': 'Logprob[]' },
  SummaryText: { type: '"summary_text"', text: 'string' },
  Refusal: { type: '"refusal"', refusal: 'string' },
  Annotation: {
    ...{ type: '"url_citation"', url: 'string', title: 'string', start_index: 'integer', end_index: 'integer' },
  },
  Logprob: { token: 'string', logprob: 'number', bytes: 'integer[]', top_logprobs: 'TopLogprob[]' },
  TopLogprob: { token: 'string', logprob: 'number', bytes: 'integer[]' },
  Tool: { '|': 'FunctionTool|ForeignTool' },
  FunctionTool: {
    ...{
      type: '"function"',
      name: 'string',
      description: 'string|null',
      parameters: 'object|null',
      strict: 'boolean|null',
    },
  },
  ForeignTool: { type: '"custom"|"namespace"|"tool_search"' },
  ChoiceWord: { '|': '"none"|"auto"|"required"' },
  NamedChoice: { type: '"function"', 'name?': 'string' },
  AllowedChoice: { type: '"allowed_tools"', tools: 'NamedChoice[]', mode: 'ChoiceWord' },
  CustomChoice: { type: '"custom"' },
  Truncation: { '|': '"auto"|"disabled"' },
  Text: { format: 'PlainFormat|SchemaFormat', 'verbosity?': '"low"|"medium"|"high"' },
  PlainFormat: { type: '"text"|"json_object"' },
  // Its own document says that `schema` is null, which no request's is.
  SchemaFormat: { type: '"json_schema"', name: 'string', description: 'string|null', schema: 'any', strict: 'boolean' },
  Reasoning: { effort: 'Effort|null', summary: '"concise"|"detailed"|"auto"|null' },
  // It describes `minimal`, and forgets it in its list.
  Effort: { '|': '"none"|"minimal"|"low"|"medium"|"high"|"xhigh"' },
  Usage: {
    ...{ input_tokens: 'integer', output_tokens: 'integer', total_tokens: 'integer' },
    ...{ input_tokens_details: 'Cached', output_tokens_details: 'Reasoned' },
  },
  Cached: { cached_tokens: 'integer' },
  Reasoned: { reasoning_tokens: 'integer' },
  // It wants a `param` too, which stands beside this object, where the SDKs read it: errors here have the same members everywhere.
  StreamError: { type: 'string', code: 'string|null', message: 'string' },
};

const whole = { response: 'Response' };
const placed = { output_index: 'integer', item: 'Item|null' };
const ofItem = { item_id: 'string', output_index: 'integer' };
const ofPart = { ...ofItem, content_index: 'integer' };
const ofSummary = { ...ofItem, summary_index: 'integer' };

/** By type, without the members that all events have. */
const events: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'response.created': whole,
  'response.in_progress': whole,
  'response.completed': whole,
  'response.incomplete': whole,
  'response.output_item.added': placed,
  'response.output_item.done': placed,
  'response.reasoning_summary_part.added': { ...ofSummary, part: 'Part' },
  'response.reasoning_summary_part.done': { ...ofSummary, part: 'Part' },
  'response.reasoning_summary_text.delta': { ...ofSummary, delta: 'string' },
  'response.reasoning_summary_text.done': { ...ofSummary, text: 'string' },
  'response.content_part.added': { ...ofPart, part: 'Part' },
  'response.content_part.done': { ...ofPart, part: 'Part' },
  'response.output_text.delta': { ...ofPart, delta: 'string', 'logprobs?': 'Logprob[]' },
  'response.output_text.done': { ...ofPart, text: 'string', 'logprobs?': 'Logprob[]' },
  'response.refusal.delta': { ...ofPart, delta: 'string' },
  'response.refusal.done': { ...ofPart, refusal: 'string' },
  'response.function_call_arguments.delta': { ...ofItem, delta: 'string' },
  'response.function_call_arguments.done': { ...ofItem, arguments: 'string' },
  error: { error: 'StreamError' },
};

const plain = /^(string|integer|number|boolean|null|object)$/;

/** The JSON schema that a value of this short form stands for. */
function schemaOf(value: string): object {
  const choices = value.split('|');
  if (choices.length > 1) return { anyOf: choices.map(schemaOf) };
  if (value.endsWith('[]')) return { type: 'array', items: schemaOf(value.slice(0, -2)) };
  if (value.startsWith('"')) return { const: JSON.parse(value) };
  if (value === 'any') return {};
  return plain.test(value) ? { type: value } : { $ref: `#/$defs/${value}` };
}

function objectOf(members: Readonly<Record<string, string>>): object {
  if (members['|'] !== undefined) return schemaOf(members['|']);
  const named = Object.entries(members).map(([name, value]) => [name.replace('?', ''), schemaOf(value)]);
  const required = Object.keys(members).filter((name) => !name.endsWith('?'));
  return { type: 'object', properties: Object.fromEntries(named), required };
}

/** As JSON schemas. */
export const openResponses = {
  $defs: Object.fromEntries(Object.entries(types).map(([name, members]) => [name, objectOf(members)])),
  events: Object.fromEntries(
    Object.entries(events).map(([type, members]) => [
      type,
      objectOf({ type: JSON.stringify(type), sequence_number: 'integer', ...members }),
    ]),
  ),
};
