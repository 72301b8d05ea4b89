import { GatewayError } from '../../errors.ts';
import { elements, presentMember } from '../../json/read.ts';
import type { Json } from '../../json/scan.ts';
import type { Dialect } from '../dialect.ts';
import { readErrorMessage, recordUsage } from '../model/answer-members.ts';
import { describe } from '../model/check-body.ts';
import { type Envelope, recordEnvelope, recordProviderFields } from '../model/envelope.ts';
import type { Findings } from '../model/findings.ts';
import { renderOpenAiError, renderOpenAiRateLimit } from '../model/openai.ts';
import { readBodies } from '../model/request-body.ts';
import { usagePlaces } from '../model/usage-places.ts';

const envelope: Envelope = { idPrefix: 'embd-', members: new Set(['id', 'object', 'created', 'data', 'usage']) };

const usage = usagePlaces({ input: [['prompt_tokens']] });

/** OpenAI embeddings. Answers are never streamed, and never translated. */
export const embeddings: Dialect = {
  ...readBodies({ history: 'input', content: {}, pictures: [], fileMember: 'file_data', files: {} }),
  name: 'embeddings',
  endpoints: [{ path: '/v1/embeddings', embeddings: true }],
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

/** The input is a text, its tokens, or an array of either. What an array holds is for the upstream to validate. */
function checkBody(body: Json): void {
  const input = presentMember(body, body.root, 'input');
  if (input === undefined) {
    throw new GatewayError('invalid_request', 'input is missing: send a text, or an array of texts or of tokens.');
  }
  if (body.kind(input) === 'string' || body.kind(input) === 'array') return;
  throw new GatewayError('invalid_request', `input must be a string or an array, not ${describe(body.kind(input))}.`);
}

/** Reads an answer, or a part of one, without its vectors. */
function readAnswer(answer: Json, found: Findings): void {
  if (presentMember(answer, answer.root, 'error') !== undefined) found.fail(readErrorMessage(answer) ?? '');
  recordEnvelope(answer, answer.root, envelope, found);
  recordUsage(answer, answer.root, usage, found);
  for (const one of elements(answer, answer.member(answer.root, 'data'))) recordProviderFields(answer, one, found);
}
