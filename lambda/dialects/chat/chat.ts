import { changeMembers, type Edit } from '../../json/edit.ts';
import { elements, numberMember, presentMember, stringMember } from '../../json/read.ts';
import type { Json, Node } from '../../json/scan.ts';
import type { Dialect, StreamDialect } from '../dialect.ts';
import { keepStop, readErrorMessage, recordUsage } from '../model/answer-members.ts';
import { repeatsOf, requireArray } from '../model/check-body.ts';
import { fileAt, imageAt } from '../model/content.ts';
import { type Envelope, recordEnvelope, recordVendorMembers } from '../model/envelope.ts';
import type { ExpectedAnswer } from '../model/expected-answer.ts';
import type { Findings } from '../model/findings.ts';
import { renderOpenAiError, renderOpenAiRateLimit } from '../model/openai.ts';
import { readBodies } from '../model/request-body.ts';
import { usagePlaces } from '../model/usage-places.ts';
import { deltasLike, recordPieces, recordWholeChoice } from './texts.ts';

// Some routers answer with `images`, which clients send back.
const contentMembers = ['content', 'images', 'file'];
const bodies = readBodies({
  history: 'messages',
  choices: 'n',
  stops: 'stop',
  content: { messages: contentMembers, prediction: contentMembers },
  pictures: ['image_url', 'video_url'],
  fileMember: 'file_data',
  files: {
    image_url: imageAt('image_url', 'url'),
    video_url: fileAt('video_url', 'url'),
    input_audio: fileAt('input_audio', 'data'),
    file: fileAt('file', 'file_data'),
  },
});

const usage = usagePlaces({
  input: [['prompt_tokens']],
  // Some servers put the count beside the total.
  cacheRead: [['prompt_tokens_details', 'cached_tokens'], ['prompt_cache_hit_tokens'], ['cached_tokens']],
  cacheWrite: [['prompt_tokens_details', 'cache_write_tokens']],
  output: [['completion_tokens']],
  reasoning: [['completion_tokens_details', 'reasoning_tokens']],
});

const envelope: Envelope = {
  idPrefix: 'chatcmpl-',
  members: new Set(['id', 'object', 'created', 'choices', 'usage', 'service_tier', 'citations', 'search_results']),
};

const choiceMembers = new Set(['index', 'message', 'delta', 'text', 'finish_reason', 'logprobs', 'usage', 'error']);

/** github.com/earendil-works/pi/issues/4514 */
const refusedReasoning = /Extra inputs are not permitted, field: 'messages\[\d{1,6}\]\.reasoning/;

/** OpenAI chat completions. */
export const chat: Dialect = {
  ...bodies,
  name: 'chat',
  refusedReasoning,
  endpoints: [{ path: '/v1/chat/completions' }],
  authorize: (key) => ({ authorization: `Bearer ${key}` }),
  controlMembers: new Set(['model', 'stream', 'messages', 'prediction', 'n', 'stop', 'stream_options']),
  checkBody: (body) => requireArray(body, 'messages'),
  outputLimits: ['max_completion_tokens', 'max_tokens'],
  choicesMember: 'n',
  readExpectedAnswer: (body, needsUsage) => ({
    ...bodies.readExpectedAnswer(body),
    withholdsUsage: needsUsage === true && lacksUsage(body),
  }),
  normalize: () => ({}),
  requestUsage: (body) => (lacksUsage(body) ? askForUsage(body) : []),
  readAnswer,
  openStream,
  renderError: renderOpenAiError,
  renderRateLimit: renderOpenAiRateLimit,
  renderErrorEvent: (error) => ({ data: renderOpenAiError(error) }),
  keepAlive: ': keep-alive\n\n',
};

/** Whether a body asks for a stream, but not for its usage. */
function lacksUsage(body: Json): boolean {
  const isTrue = (value: Node | undefined) => value !== undefined && body.raw(value) === 'true';
  const options = body.member(body.root, 'stream_options');
  return isTrue(body.member(body.root, 'stream')) && !isTrue(body.member(options, 'include_usage'));
}

/** Never conflicts with edits that drop earlier repetitions: the last member of the body always stays. */
function askForUsage(body: Json): readonly Edit[] {
  const options = body.member(body.root, 'stream_options');
  if (options === undefined || body.kind(options) !== 'object')
    return changeMembers(body, body.root, { set: { stream_options: '{"include_usage":true}' } });
  const drop = repeatsOf(body, options, 'stream_options', 'include_usage');
  return changeMembers(body, options, { drop, set: { include_usage: 'true' } });
}

function readAnswer(answer: Json, found: Findings, expected: ExpectedAnswer): void {
  if (presentMember(answer, answer.root, 'error') !== undefined) found.fail(readErrorMessage(answer) ?? '');
  recordTopLevel(answer, found);
  for (const choice of elements(answer, answer.member(answer.root, 'choices'))) {
    recordVendorMembers(answer, choice, choiceMembers, found);
    recordChoiceError(answer, choice, found);
    recordWholeChoice(answer, choice, indexOf(answer, choice), found);
    keepStops(answer, choice, expected, found);
  }
}

/** Records everything but the choices. Some servers leave out the model, which clients expect. */
function recordTopLevel(json: Json, found: Findings): void {
  recordEnvelope(json, json.root, envelope, found);
  found.lacksModel = found.models.length === 0 && json.member(json.root, 'choices') !== undefined;
  recordUsage(json, json.root, usage, found);
}

function openStream(expected: ExpectedAnswer): StreamDialect {
  const open = new Set<number>();
  const finished = new Set<number>();

  const readChoice = (event: Json, choice: Node, found: Findings): void => {
    recordVendorMembers(event, choice, choiceMembers, found);
    recordChoiceError(event, choice, found);
    const index = indexOf(event, choice);
    recordPieces(event, choice, index, found);
    if (isFinished(event, choice)) {
      // Some servers report the usage here.
      recordUsage(event, choice, usage, found);
      found.endTexts(`${index}/`);
      keepStops(event, choice, expected, found);
      finished.add(index);
      open.delete(index);
    } else if (!finished.has(index)) {
      open.add(index);
    }
  };

  return {
    readDone: () => {
      if (open.size + finished.size === 0) throw new Error('the answer has no choice');
    },
    readEvent: (event, type, found) => {
      if (type === 'error' || presentMember(event, event.root, 'error') !== undefined) {
        found.fail(readErrorMessage(event) ?? '');
        return;
      }
      if (type === 'ping') found.isAlive = true;
      recordTopLevel(event, found);
      const choices = elements(event, event.member(event.root, 'choices'));
      if (expected.withholdsUsage) withholdUsage(event, choices.length, found);
      for (const choice of choices) readChoice(event, choice, found);
      if (finished.size > 0 && finished.size >= expected.choices && open.size === 0) found.mayEnd = true;
    },
    deltasLike,
  };
}

function indexOf(json: Json, choice: Node): number {
  return numberMember(json, choice, 'index') ?? 0;
}

/** Some servers name the stop sequence at which the model stopped in one of these members. */
function keepStops(json: Json, choice: Node, expected: ExpectedAnswer, found: Findings): void {
  for (const name of ['stop_reason', 'matched_stop']) keepStop(json, choice, name, expected, found);
}

/** Until the choice is finished, some servers send an empty string as the reason, others the string `null`. */
function isFinished(json: Json, choice: Node): boolean {
  const reason = presentMember(json, choice, 'finish_reason');
  return reason !== undefined && !/^"(null)?"$/.test(json.raw(reason));
}

/** Some routers report the failure of their own upstream inside a choice. */
function recordChoiceError(json: Json, choice: Node, found: Findings): void {
  const error = presentMember(json, choice, 'error');
  if (error !== undefined) found.fail(stringMember(json, error, 'message') ?? '');
}

/** When asked for usage, servers send it in a last chunk without choices, and a null `usage` in every chunk before. */
function withholdUsage(event: Json, choices: number, found: Findings): void {
  if (choices === 0 && presentMember(event, event.root, 'usage') !== undefined) found.isWithheld = true;
  for (const key of event.keys(event.root)) if (event.string(key) === 'usage') found.drop(event.root, key);
}
