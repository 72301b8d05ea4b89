import type { ErrorNature, GatewayError } from '../../errors.ts';
import { changeMembers } from '../../json/edit.ts';
import { elements, numberMember, presentMember, stringMember } from '../../json/read.ts';
import type { Json, Node } from '../../json/scan.ts';
import type { Dialect, Normalization, RateLimit, StreamDialect } from '../dialect.ts';
import { keepStop, readErrorMessage, recordUsage } from '../model/answer-members.ts';
import { refuseState, repeatsOf, requireArray } from '../model/check-body.ts';
import { fileAt, imageAt } from '../model/content.ts';
import { type Envelope, recordEnvelope, recordVendorMembers } from '../model/envelope.ts';
import type { ExpectedAnswer } from '../model/expected-answer.ts';
import type { Findings } from '../model/findings.ts';
import { toStep } from '../model/places.ts';
import { readBodies } from '../model/request-body.ts';
import { usagePlaces } from '../model/usage-places.ts';
import { type AddText, deltasLike, recordBlock } from './texts.ts';

/** Every request must name a version. */
export const messagesHeaders = { 'anthropic-version': '2023-06-01' };

/** Documents that are text, or have parts of their own, don't count as files. */
const readDocument = (body: Json, part: Node) => {
  const isText = /^(text|content)$/.test(stringMember(body, body.member(part, 'source'), 'type') ?? '');
  return isText ? undefined : fileAt('source', 'data')(body, part);
};
const contentMembers = ['content', 'source'];
const bodies = readBodies({
  history: 'messages',
  instructions: 'system',
  stops: 'stop_sequences',
  content: { messages: contentMembers, system: contentMembers },
  pictures: [],
  fileMember: 'media_type',
  files: {
    image: imageAt('source', 'data'),
    container_upload: fileAt(),
    document: readDocument,
    video: readDocument,
  },
});

export const messagesTypes: Readonly<Record<ErrorNature, string>> = {
  request: 'invalid_request_error',
  caller: 'authentication_error',
  permission: 'permission_error',
  missing: 'not_found_error',
  size: 'request_too_large',
  rate: 'rate_limit_error',
  quota: 'rate_limit_error',
  server: 'api_error',
  overload: 'overloaded_error',
  time: 'timeout_error',
};

const usage = usagePlaces({
  input: [['input_tokens']],
  cacheRead: [['cache_read_input_tokens']],
  cacheWrite: [['cache_creation_input_tokens']],
  output: [['output_tokens']],
  reasoning: [['output_tokens_details', 'thinking_tokens']],
});

const envelope: Envelope = {
  idPrefix: 'msg_',
  members: new Set([
    ...['id', 'type', 'role', 'content', 'stop_reason', 'stop_sequence', 'stop_details', 'usage', 'container'],
    ...['context_management', 'error'],
  ]),
};

const eventMembers = new Set([
  ...['type', 'index', 'message', 'content_block', 'delta', 'usage', 'error', 'context_management'],
]);

/**
 * From github.com/anomalyco/opencode/issues/48637 (the second sentence may come alone: platform.claude.com, "Prefix checks on thinking
 * blocks"), github.com/anthropics/claude-code/issues/63203 and github.com/anthropics/claude-code/issues/2171, in this order.
 */
const refusedReasoning =
  /Invalid `signature` in `thinking` block|bound to a different conversation|`redacted_thinking` blocks in the latest assistant message cannot be modified|`redacted_thinking` blocks, the blocks\s+must match the parameters/;

/** Anthropic messages. */
export const messages: Dialect = {
  ...bodies,
  name: 'messages',
  hasSignatures: true,
  refusedReasoning,
  endpoints: [{ path: '/v1/messages' }, { path: '/v1/messages/count_tokens', countsTokens: true }],
  // Some upstreams read one, some the other.
  authorize: (key) => ({ 'x-api-key': key, authorization: `Bearer ${key}` }),
  headers: messagesHeaders,
  controlMembers: new Set([
    ...['model', 'stream', 'messages', 'system', 'thinking', 'output_config', 'thread', 'stop_sequences'],
  ]),
  checkBody,
  outputLimits: ['max_tokens'],
  normalize,
  readAnswer: (answer, found, expected) => {
    if (isError(answer, stringMember(answer, answer.root, 'type') ?? '')) found.fail(readErrorMessage(answer) ?? '');
    recordMessage(answer, answer.root, found, expected);
    keepStop(answer, answer.root, 'stop_sequence', expected, found);
  },
  openStream: (expected): StreamDialect => ({
    readEvent: (event, type, found) => readEvent(event, type, found, expected),
    deltasLike,
  }),
  renderError,
  renderRateLimit: renderAnthropicRateLimit,
  renderErrorEvent: (error) => ({ type: 'error', data: renderError(error) }),
  keepAlive: 'event: ping\ndata: {"type":"ping"}\n\n',
};

function readEvent(event: Json, eventType: string | undefined, found: Findings, expected: ExpectedAnswer): void {
  const root = event.root;
  const type = stringMember(event, root, 'type') ?? eventType ?? '';
  if (isError(event, type)) {
    found.fail(readErrorMessage(event) ?? '');
    return;
  }
  recordVendorMembers(event, root, eventMembers, found);
  const index = numberMember(event, root, 'index') ?? 0;
  const delta = event.member(root, 'delta');
  const block = event.member(root, 'content_block') ?? delta;
  const message = presentMember(event, root, 'message');
  if (type === 'ping') found.isAlive = true;
  else if (type === 'message_start' && message !== undefined)
    recordMessage(event, message, found, { ...expected, joinsTexts: false });
  else if (type === 'content_block_stop') found.endTexts(`${index}/`);
  else if (type === 'message_delta') {
    recordTokens(event, root, found);
    keepStop(event, delta, 'stop_sequence', expected, found);
    found.endTexts('');
  } else if (type === 'message_stop') {
    found.endTexts('');
    found.ends = true;
  } else if (block !== undefined) {
    // Chat clients close a text when a tool is called.
    if (isCall(event, block)) found.endTexts(`${joined}/`);
    const addText: AddText = (kind, place, value, isGenerated) =>
      found.textDelta({
        channel: `${kind === 'text' && expected.joinsTexts ? joined : index}/${toStep(kind)}${place}`,
        family: kind,
        isGenerated,
        value,
        logprobs: undefined,
      });
    if (expected.signedReasoning) found.signedOver(block);
    const reading = { addText, isDelta: block === delta, isWhole: false, index, ...expected };
    recordBlock(event, block, found, reading);
    // Nothing is added to thinking after its signature.
    if (stringMember(event, block, 'type') === 'signature_delta') found.endTexts(`${index}/thinking`);
  }
}

function recordMessage(
  json: Json,
  message: Node,
  found: Findings,
  { signedReasoning, joinsTexts }: ExpectedAnswer,
): void {
  recordEnvelope(json, message, envelope, found);
  recordTokens(json, message, found);
  const content = json.member(message, 'content');
  if (signedReasoning && content !== undefined) found.signedOver(content);
  let calls = 0;
  for (const [index, block] of elements(json, content).entries()) {
    if (isCall(json, block)) calls += 1;
    const addText: AddText = (kind, _place, value, isGenerated) => {
      const text = { family: kind, isGenerated, value, logprobs: undefined };
      if (kind === 'text' && joinsTexts) found.textDelta({ channel: `${joined}${calls}/${kind}`, ...text });
      else found.wholeText({ channel: `${index}/${kind}`, ...text });
    };
    recordBlock(json, block, found, { addText, isDelta: false, isWhole: true, index, signedReasoning });
  }
}

/** Replaces the block's index in a channel where the client reads the texts of all blocks as one. */
const joined = 'joined';

const isCall = (json: Json, block: Node): boolean => stringMember(json, block, 'type') === 'tool_use';

/** Some upstreams report failures in another dialect's form, without a type. */
function isError(json: Json, type: string): boolean {
  return type === 'error' || presentMember(json, json.root, 'error') !== undefined;
}

/** Refuses to continue a thread. The error code makes SDKs send the full history. It was the SDK's choice, so the caller is not charged. */
function checkBody(body: Json): void {
  requireArray(body, 'messages');
  const thread = threadIn(body);
  if (thread === undefined || stringMember(body, thread, 'type') === 'create') return;
  refuseState('thread', 'messages', { details: { error_code: 'thread_unsupported_request' }, refund: true });
}

function threadIn(body: Json): Node | undefined {
  const thread = presentMember(body, body.root, 'thread');
  return thread !== undefined && body.kind(thread) === 'object' ? thread : undefined;
}

/** Leaves out a request to create a thread: such a body holds the full history. */
function normalize(body: Json): Normalization {
  return { ...normalizeThinking(body), ...(threadIn(body) !== undefined && { leaveOut: ['thread'] }) };
}

/** Rewrites `thinking: false` and the effort `none` into the standard form that disables thinking. */
function normalizeThinking(body: Json): Normalization {
  const thinking = body.member(body.root, 'thinking');
  const isFalse = thinking !== undefined && body.raw(thinking) === 'false';
  const set = { thinking: '{"type":"disabled"}' };
  const config = body.member(body.root, 'output_config');
  if (config === undefined) return isFalse ? { set } : {};
  const effort = body.member(config, 'effort');
  const drop = repeatsOf(body, config, 'output_config', 'effort');
  const isNone = effort !== undefined && stringMember(body, config, 'effort') === 'none';
  if (isNone) drop.add(effort - 1);
  return { ...((isFalse || isNone) && { set }), edits: changeMembers(body, config, { drop }) };
}

function recordTokens(json: Json, holder: Node, found: Findings): void {
  const { input, cacheRead = 0, cacheWrite = 0 } = recordUsage(json, holder, usage, found);
  // This dialect's `input_tokens` excludes cache reads and writes.
  if (input !== undefined) found.tokens('input', input + cacheRead + cacheWrite);
}

function renderError(error: GatewayError): string {
  const { nature, message, details } = error;
  const type = messagesTypes[nature];
  return JSON.stringify({ type: 'error', error: { type, message, ...(details && { details }) } });
}

/** The rate limit headers that Anthropic clients read. */
function renderAnthropicRateLimit({ limit, remaining, resetSeconds }: RateLimit, now: number): Record<string, string> {
  const name = 'anthropic-ratelimit-requests';
  return {
    [`${name}-limit`]: String(limit),
    [`${name}-remaining`]: String(remaining),
    ...(resetSeconds !== undefined && { [`${name}-reset`]: wholeSecond(now + resetSeconds * 1000) }),
  };
}

const wholeSecond = (time: number) => `${new Date(time).toISOString().slice(0, 19)}Z`;
