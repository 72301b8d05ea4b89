import { elements, numberMember, presentMember, stringMember } from '../../json/read.ts';
import type { Json, Node } from '../../json/scan.ts';
import type { Dialect } from '../dialect.ts';
import { readErrorMessage, recordUsage } from '../model/answer-members.ts';
import { type Envelope, recordEnvelope, recordProviderFields } from '../model/envelope.ts';
import type { Findings } from '../model/findings.ts';
import { openAiErrorFields, renderOpenAiError, renderOpenAiRateLimit } from '../model/openai.ts';
import { usagePlaces } from '../model/usage-places.ts';
import { bodies, checkBody, hasReferences } from './request-body.ts';
import { deltasLike, longestType, recordDelta, recordItem, recordPart } from './texts.ts';

const usage = usagePlaces({
  input: [['input_tokens']],
  cacheRead: [['input_tokens_details', 'cached_tokens']],
  cacheWrite: [['input_tokens_details', 'cache_write_tokens']],
  output: [['output_tokens']],
  reasoning: [['output_tokens_details', 'reasoning_tokens']],
});

/** A response also repeats the members of its request. */
const envelope: Envelope = {
  idPrefix: 'resp_',
  members: new Set([
    ...['id', 'object', 'created_at', 'completed_at', 'status', 'output', 'output_text', 'usage', 'error'],
    ...['incomplete_details', 'input', 'instructions', 'metadata', 'tools', 'tool_choice', 'text', 'reasoning'],
    ...['prompt', 'conversation', 'context_management', 'moderation'],
  ]),
};

/** OpenAI responses. */
export const responses: Dialect = {
  ...bodies,
  name: 'responses',
  endpoints: [
    { path: '/v1/responses', webSocketBeta: /\bresponses_websockets/ },
    { path: '/v1/responses/compact', compacts: true },
    { path: '/v1/responses/input_tokens', countsTokens: true, countObject: 'response.input_tokens' },
  ],
  authorize: (key) => ({ authorization: `Bearer ${key}` }),
  controlMembers: new Set(['model', 'stream', 'input', 'prompt', 'previous_response_id', 'conversation', 'background']),
  checkBody,
  outputLimits: ['max_output_tokens'],
  hasReferences,
  normalize: () => ({}),
  readAnswer,
  openStream: () => ({ readEvent, deltasLike }),
  renderError: renderOpenAiError,
  renderRateLimit: renderOpenAiRateLimit,
  renderErrorEvent: (error, sequence) => {
    const { message, type, code } = openAiErrorFields(error);
    const data = {
      type: 'error',
      sequence_number: sequence,
      code,
      message,
      param: null,
      error: { message, type, code },
    };
    return { type: 'error', data: JSON.stringify(data) };
  },
  keepAlive: ': keep-alive\n\n',
};

function readEvent(event: Json, eventType: string | undefined, found: Findings): void {
  const root = event.root;
  const named = stringMember(event, root, 'type') ?? eventType ?? '';
  const type = named.length > longestType ? '' : named;
  const sequence = event.member(root, 'sequence_number');
  if (sequence !== undefined && numberMember(event, root, 'sequence_number') !== undefined) found.sequence = sequence;
  recordProviderFields(event, root, found);
  if (type.endsWith('.delta')) recordDelta(event, type.slice(0, -'.delta'.length), found);
  else if (type === 'error' || (type === '' && presentMember(event, root, 'error') !== undefined)) {
    found.fail(readErrorMessage(event) ?? '');
  } else readRareEvent(event, type, found);
}

function readRareEvent(event: Json, type: string, found: Findings): void {
  const response = presentMember(event, event.root, 'response');
  if (response !== undefined) recordResponse(event, response, found);
  if (type === 'ping' || type === 'keepalive') found.isAlive = true;
  else if (type === 'response.failed') {
    const error = presentMember(event, response, 'error');
    if (error !== undefined) recordErrorMessages(event, error, found);
    found.endTexts('');
    found.failure = { message: stringMember(event, error, 'message') ?? '', forward: true };
  } else if (type === 'response.completed' || type === 'response.incomplete') {
    found.endTexts('');
    found.ends = true;
  } else recordPart(event, type, found);
}

/** Records every text of an error, because routers also describe failures in other members than `message`. */
function recordErrorMessages(event: Json, error: Node, found: Findings): void {
  for (let node = error, end = event.next(error); node < end; node += 1) {
    if (event.isKey(node) && /^(code|type|param)$/.test(event.string(node))) node += 1;
    else if (!event.isKey(node) && event.kind(node) === 'string') found.errorMessage(node);
  }
}

function readAnswer(answer: Json, found: Findings): void {
  const { root } = answer;
  if (presentMember(answer, root, 'error') !== undefined || stringMember(answer, root, 'status') === 'failed') {
    found.fail(readErrorMessage(answer) ?? '');
  }
  recordResponse(answer, root, found);
}

function recordResponse(json: Json, response: Node, found: Findings): void {
  recordEnvelope(json, response, envelope, found);
  recordUsage(json, response, usage, found);
  for (const [index, item] of elements(json, json.member(response, 'output')).entries()) {
    recordItem(json, item, `${index}/`, found);
  }
  // The upstream repeats the caller's own tools.
  const tools = elements(json, json.member(response, 'tools'));
  const choice = presentMember(json, response, 'tool_choice');
  for (const tool of choice === undefined ? tools : [...tools, choice]) {
    const name = json.member(tool, 'name');
    if (name !== undefined) found.keep(name);
  }
}
