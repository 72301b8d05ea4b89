import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

const call = { id: 'string', call_id: 'string', status: 'Status' };

/**
 * The schema of a response and its events, as far as they occur here. It meets both OpenAI's published document and Open Responses
 * (https://www.openresponses.org, version 2026-04-24). In a short notation: members are required unless their name ends in `?`, `|`
 * separates alternatives, `[]` marks a list, and quotes mark a text.
 */
const types: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Response: {
    ...{ id: 'string', object: '"response"', created_at: 'integer', completed_at: 'integer|null', status: 'Status' },
    ...{ incomplete_details: 'Incomplete|null', model: 'string', previous_response_id: 'string|null', error: 'null' },
    ...{ instructions: 'string|null', output: 'Item[]', tools: 'Tool[]', truncation: '"auto"|"disabled"' },
    ...{ tool_choice: 'ChoiceWord|NamedChoice|AllowedChoice|CustomChoice', parallel_tool_calls: 'boolean' },
    ...{
      top_p: 'number',
      presence_penalty: 'number',
      frequency_penalty: 'number',
      temperature: 'number',
      text: 'Text',
    },
    ...{ top_logprobs: 'integer', reasoning: 'Reasoning|null', usage: 'Usage|null', max_output_tokens: 'integer|null' },
    ...{ max_tool_calls: 'integer|null', store: 'boolean', background: 'boolean', service_tier: '"default"' },
    ...{ metadata: 'object', safety_identifier: 'string|null', prompt_cache_key: 'string|null', 'user?': 'string' },
  },
  Incomplete: { reason: '"max_output_tokens"|"content_filter"' },
  Item: { '|': 'Message|FunctionCall|CustomCall|SearchCall|ReasoningBlock' },
  Message: { type: '"message"', id: 'string', status: 'Status', role: '"assistant"', content: 'Part[]' },
  FunctionCall: { type: '"function_call"', ...call, name: 'string', 'namespace?': 'string', arguments: 'string' },
  CustomCall: { type: '"custom_tool_call"', ...call, name: 'string', 'namespace?': 'string', input: 'string' },
  SearchCall: { type: '"tool_search_call"', ...call, execution: '"server"|"client"', arguments: 'any' },
  ReasoningBlock: { type: '"reasoning"', id: 'string', summary: 'SummaryText[]', 'encrypted_content?': 'string' },
  Status: { '|': '"in_progress"|"completed"|"incomplete"' },
  Part: { '|': 'OutputText|Refusal' },
  OutputText: { type: '"output_text"', text: 'string', annotations: 'Annotation[]', logprobs: 'Logprob[]' },
  SummaryText: { type: '"summary_text"', text: 'string' },
  Refusal: { type: '"refusal"', refusal: 'string' },
  Annotation: {
    ...{ type: '"url_citation"', url: 'string', title: 'string', start_index: 'integer', end_index: 'integer' },
  },
  Logprob: { token: 'string', logprob: 'number', bytes: 'integer[]', top_logprobs: 'TopLogprob[]' },
  TopLogprob: { token: 'string', logprob: 'number', bytes: 'integer[]' },
  Tool: { '|': 'FunctionTool|ForeignTool' },
  FunctionTool: {
    ...{ type: '"function"', name: 'string', description: 'string|null', parameters: 'object|null' },
    strict: 'boolean|null',
  },
  // Open Responses does not list them, but allows further ones.
  ForeignTool: { type: '"custom"|"namespace"|"tool_search"' },
  ChoiceWord: { '|': '"none"|"auto"|"required"' },
  NamedChoice: { type: '"function"', 'name?': 'string' },
  AllowedChoice: { type: '"allowed_tools"', tools: 'NamedChoice[]', mode: 'ChoiceWord' },
  CustomChoice: { type: '"custom"' },
  Text: { format: 'PlainFormat|SchemaFormat', 'verbosity?': '"low"|"medium"|"high"' },
  PlainFormat: { type: '"text"|"json_object"' },
  // According to Open Responses, `schema` is null, which it never is in a request.
  SchemaFormat: { type: '"json_schema"', name: 'string', description: 'string|null', schema: 'any', strict: 'boolean' },
  Reasoning: { effort: 'Effort|null', summary: '"concise"|"detailed"|"auto"|null' },
  // Open Responses describes `minimal`, but its list lacks it.
  Effort: { '|': '"none"|"minimal"|"low"|"medium"|"high"|"xhigh"' },
  Usage: {
    ...{ input_tokens: 'integer', output_tokens: 'integer', total_tokens: 'integer' },
    ...{ input_tokens_details: 'Cached', output_tokens_details: 'Reasoned' },
  },
  Cached: { cached_tokens: 'integer', cache_write_tokens: 'integer' },
  Reasoned: { reasoning_tokens: 'integer' },
  // Open Responses also requires a `param` here. It stands beside this object, where the SDKs read it.
  StreamError: { type: 'string', code: 'string|null', message: 'string' },
};

const whole = { response: 'Response' };
const placed = { output_index: 'integer', item: 'Item' };
const ofItem = { item_id: 'string', output_index: 'integer' };
const ofPart = { ...ofItem, content_index: 'integer' };
const ofSummary = { ...ofItem, summary_index: 'integer' };

/** By type, without the members that are common to all events. */
const events: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'response.created': whole,
  'response.in_progress': whole,
  'response.completed': whole,
  'response.incomplete': whole,
  'response.output_item.added': placed,
  'response.output_item.done': placed,
  'response.reasoning_summary_part.added': { ...ofSummary, part: 'SummaryText' },
  'response.reasoning_summary_part.done': { ...ofSummary, part: 'SummaryText' },
  'response.reasoning_summary_text.delta': { ...ofSummary, delta: 'string' },
  'response.reasoning_summary_text.done': { ...ofSummary, text: 'string' },
  'response.content_part.added': { ...ofPart, part: 'Part' },
  'response.content_part.done': { ...ofPart, part: 'Part' },
  'response.output_text.delta': { ...ofPart, delta: 'string', logprobs: 'Logprob[]' },
  'response.output_text.done': { ...ofPart, text: 'string', logprobs: 'Logprob[]' },
  'response.refusal.delta': { ...ofPart, delta: 'string' },
  'response.refusal.done': { ...ofPart, refusal: 'string' },
  'response.function_call_arguments.delta': { ...ofItem, delta: 'string' },
  'response.function_call_arguments.done': { ...ofItem, name: 'string', arguments: 'string' },
  'response.custom_tool_call_input.delta': { ...ofItem, delta: 'string' },
  'response.custom_tool_call_input.done': { ...ofItem, input: 'string' },
  error: { error: 'StreamError', code: 'string|null', message: 'string', param: 'string|null' },
};

const plain = /^(string|integer|number|boolean|null|object)$/;

/** The JSON schema of a value in this notation. */
function schemaOf(value: string): object {
  const choices = value.split('|');
  if (choices.length > 1) return { anyOf: choices.map(schemaOf) };
  if (value.endsWith('[]')) return { type: 'array', items: schemaOf(value.slice(0, -2)) };
  if (value.startsWith('"')) return { const: JSON.parse(value) };
  if (value === 'any') return {};
  return plain.test(value) ? { type: value } : { $ref: `types#/$defs/${value}` };
}

function objectOf(members: Readonly<Record<string, string>>): object {
  if (members['|'] !== undefined) return schemaOf(members['|']);
  const named = Object.entries(members).map(([name, value]) => [name.replace('?', ''), schemaOf(value)]);
  const required = Object.keys(members).filter((name) => !name.endsWith('?'));
  return { type: 'object', properties: Object.fromEntries(named), required };
}

const $defs = Object.fromEntries(Object.entries(types).map(([name, members]) => [name, objectOf(members)]));
const ajv = new Ajv2020({ strict: false }).addSchema({ $id: 'types', $defs });
const response = ajv.compile(schemaOf('Response'));
const byType = new Map(
  Object.entries(events).map(([type, members]) => [
    type,
    ajv.compile(objectOf({ type: JSON.stringify(type), sequence_number: 'integer', ...members })),
  ]),
);

function assertValid(check: ValidateFunction | undefined, value: unknown): void {
  if (!check?.(value)) throw new Error(`${JSON.stringify(value)} is not valid: ${JSON.stringify(check?.errors)}`);
}

export const assertResponse = (value: unknown) => assertValid(response, value);
export const assertEvent = (event: { readonly type: string }) => assertValid(byType.get(event.type), event);
