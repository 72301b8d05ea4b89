import { GatewayError } from '../errors.ts';
import { elements, presentMember } from '../json/read.ts';
import type { Json } from '../json/scan.ts';
import { readErrorMessage, recordUsage } from './answer.ts';
import { readBodies } from './body.ts';
import type { Dialect } from './dialect.ts';
import { type Envelope, recordEnvelope, recordProviderFields } from './envelope.ts';
import type { Findings } from './findings.ts';
import { renderOpenAiError } from './openai-error.ts';
import { renderOpenAiRateLimit } from './rate-limit.ts';
import { describe } from './refusals.ts';
import { chatUsage } from './usage-places.ts';

const envelope: Envelope = { idPrefix: 'embd-', members: new Set(['id', 'object', 'created', 'data', 'usage']) };

/** OpenAI embeddings. Nothing but vectors, and no conversation. */
export const embeddings: Dialect = {
  ...readBodies({ history: 'input', content: {}, pictures: [], fileMember: 'file_data', files: {} }),
  name: 'embeddings',
  endpoints: [{ path: '/v1/embeddings', makesVectors: true }],
  authorize: (key) => ({ authorization: `Bearer ${key}` }),
  controlMembers: new Set(['model', 'input']),
  checkBody,
  outputLimits: [],
  normalize: () => ({}),
  readAnswer,
  openStream: () => {
    throw new TypeError('vectors do not come in events');
  },
  renderError: renderOpenAiError,
  renderRateLimit: renderOpenAiRateLimit,
  renderErrorEvent: (error) => ({ data: renderOpenAiError(error) }),
  keepAlive: '',
};

/** A text, texts, the tokens of one, or those of several. What else stands in an array is the upstream's to judge. */
function checkBody(body: Json): void {
  const input = presentMember(body, body.root, 'input');
  if (input === undefined) {
    throw new GatewayError('invalid_request', 'input is missing: send a text, or an array of texts or of tokens.');
  }
  if (body.kind(input) === 'string' || body.kind(input) === 'array') return;
  throw new GatewayError('invalid_request', `input must be a string or an array, not ${describe(body.kind(input))}.`);
}

/** Reads an answer without its vectors, or a part of one. */
function readAnswer(answer: Json, found: Findings): void {
  if (presentMember(answer, answer.root, 'error') !== undefined) found.fail(readErrorMessage(answer) ?? '');
  recordEnvelope(answer, answer.root, envelope, found);
  recordUsage(answer, answer.root, chatUsage, found);
  for (const one of elements(answer, answer.member(answer.root, 'data'))) recordProviderFields(answer, one, found);
}
