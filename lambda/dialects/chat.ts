import { changeMembers, earlierDuplicates } from '../json/edit.ts';
import type { Json, Node } from '../json/scan.ts';
import {
  elements,
  holdsSealed,
  numberMember,
  presentMember,
  readErrorMessage,
  recordProviderFields,
  recordUsage,
  stringMember,
  type UsagePlaces,
  unreadIn,
} from './answer.ts';
import {
  conversationStart,
  fileAt,
  findFilesIn,
  findVisionContent,
  imageAt,
  keepStop,
  readExpectedAnswer,
  requireArray,
} from './body.ts';
import { deltasLike, recordPieces, recordWholeChoice } from './chat-texts.ts';
import type { Dialect, ExpectedAnswer, Normalization, StreamDialect } from './dialect.ts';
import type { Recorder } from './findings.ts';
import { renderOpenAiError } from './openai-error.ts';

const content = {
  types: ['image_url', 'video_url', 'input_image', 'input_video', 'image', 'video'],
  members: ['image_url', 'video_url'],
  files: ['file_data'],
  // Some routers answer with `images`, which clients send back.
  within: ['content', 'images', 'file'],
};
const visionRules = new Map([
  ['messages', content],
  ['prediction', content],
]);

const fileRoots = new Map([...visionRules.keys()].map((root) => [root, { within: ['content', 'images'] }]));
const files = new Map([
  ['image_url', imageAt('image_url', 'url')],
  ['video_url', fileAt('video_url', 'url')],
  ['input_audio', fileAt('input_audio', 'data')],
  ['file', fileAt('file', 'file_data')],
]);

/** OpenAI chat completions. `streamUsage`: the gateway asks every stream for its usage, even if the client does not. */
export const createChat = ({ streamUsage }: { streamUsage: boolean }): Dialect => ({
  name: 'chat',
  endpoints: [{ path: '/v1/chat/completions' }],
  authorize: (key) => ({ authorization: `Bearer ${key}` }),
  controlMembers: new Set(['model', 'stream', 'messages', 'prediction', 'n', 'stop', 'stream_options']),
  checkBody: (body) => requireArray(body, 'messages'),
  findVision: (body) => findVisionContent(body, visionRules),
  outputLimits: ['max_completion_tokens', 'max_tokens'],
  choicesMember: 'n',
  findFiles: (body, visit) => findFilesIn(body, fileRoots, files, visit),
  findConversationStart: (body) => conversationStart(body, body.member(body.root, 'messages')),
  isAccountBound: (body) => holdsSealed(body, body.member(body.root, 'messages')),
  readExpectedAnswer: (body, needsUsage) => ({
    ...readExpectedAnswer(body, { choices: 'n', stops: 'stop' }),
    withholdsUsage: (streamUsage || needsUsage === true) && lacksUsage(body),
  }),
  normalize: (body, needsUsage) => ((streamUsage || needsUsage) && lacksUsage(body) ? askForUsage(body) : {}),
  readAnswer,
  openStream,
  renderError: renderOpenAiError,
  renderErrorEvent: (error) => ({ data: renderOpenAiError(error) }),
  keepAlive: ': keep-alive\n\n',
});

/** Whether a body asks for a stream without its usage. */
function lacksUsage(body: Json): boolean {
  const isTrue = (value: Node | undefined) => value !== undefined && body.raw(value) === 'true';
  const options = body.member(body.root, 'stream_options');
  return isTrue(body.member(body.root, 'stream')) && !isTrue(body.member(options, 'include_usage'));
}

function askForUsage(body: Json): Normalization {
  const options = body.member(body.root, 'stream_options');
  if (options === undefined || body.kind(options) !== 'object')
    return { set: { stream_options: '{"include_usage":true}' } };
  const repeated = earlierDuplicates(body, options, new Set(['include_usage']));
  return { edits: changeMembers(body, options, { drop: repeated, set: { include_usage: 'true' } }) };
}

function readAnswer(answer: Json, record: Recorder, expected: ExpectedAnswer): void {
  if (presentMember(answer, answer.root, 'error') !== undefined) record.fail(readErrorMessage(answer) ?? '');
  recordProviderFields(answer, answer.root, record);
  recordUsage(answer, answer.root, usagePlaces, record);
  for (const choice of elements(answer, answer.member(answer.root, 'choices'))) {
    recordProviderFields(answer, choice, record);
    recordChoiceError(answer, choice, record);
    recordWholeChoice(answer, choice, indexOf(answer, choice), record);
    keepStops(answer, choice, expected, record);
  }
}

function openStream(expected: ExpectedAnswer): StreamDialect {
  const open = new Set<number>();
  const finished = new Set<number>();

  const readChoice = (event: Json, choice: Node, record: Recorder): void => {
    recordProviderFields(event, choice, record);
    recordChoiceError(event, choice, record);
    const index = indexOf(event, choice);
    recordPieces(event, choice, index, record);
    if (isFinished(event, choice)) {
      // Some servers report the usage here.
      recordUsage(event, choice, usagePlaces, record);
      record.endTexts(`${index}/`);
      keepStops(event, choice, expected, record);
      finished.add(index);
      open.delete(index);
    } else if (!finished.has(index)) {
      open.add(index);
    }
  };

  return {
    doneEnds: true,
    readEvent: (event, type, record) => {
      if (type === 'error' || presentMember(event, event.root, 'error') !== undefined) {
        record.fail(readErrorMessage(event) ?? '');
        return;
      }
      if (type === 'ping') record.alive();
      recordProviderFields(event, event.root, record);
      recordUsage(event, event.root, usagePlaces, record);
      const choices = elements(event, event.member(event.root, 'choices'));
      if (expected.withholdsUsage) withholdUsage(event, choices.length, record);
      for (const choice of choices) readChoice(event, choice, record);
      if (finished.size > 0 && finished.size >= expected.choices && open.size === 0) record.mayEnd();
    },
    unread: (event) => [
      ...unreadIn(event, event.root, readOfEvent),
      ...unreadIn(event, event.member(event.root, 'usage'), readOfUsage),
    ],
    deltasLike,
  };
}

function indexOf(json: Json, choice: Node): number {
  return numberMember(json, choice, 'index') ?? 0;
}

/** Members in which some servers name the text at which they stopped. */
function keepStops(json: Json, choice: Node, expected: ExpectedAnswer, record: Recorder): void {
  for (const name of ['stop_reason', 'matched_stop']) keepStop(json, choice, name, expected, record);
}

/** Until there is a reason, some servers send an empty text, others the word `null` as a text. */
function isFinished(json: Json, choice: Node): boolean {
  const reason = presentMember(json, choice, 'finish_reason');
  return reason !== undefined && !/^"(null)?"$/.test(json.raw(reason));
}

/** Some routers report the failure of their own upstream inside a choice. */
function recordChoiceError(json: Json, choice: Node, record: Recorder): void {
  const error = presentMember(json, choice, 'error');
  if (error !== undefined) record.fail(stringMember(json, error, 'message') ?? '');
}

const usagePlaces: UsagePlaces = {
  input: [['prompt_tokens']],
  // Some servers put it beside the total.
  cacheRead: [['prompt_tokens_details', 'cached_tokens'], ['prompt_cache_hit_tokens'], ['cached_tokens']],
  cacheWrite: [['prompt_tokens_details', 'cache_write_tokens']],
  output: [['completion_tokens']],
  reasoning: [['completion_tokens_details', 'reasoning_tokens']],
};

/** What is read of an event, and of a usage. */
const readOfEvent = new Set(['choices', 'error', 'model', 'usage']);
const readOfUsage = new Set(['model', ...Object.values(usagePlaces).flatMap((places) => places.map(([name]) => name))]);

/** Servers that are asked for usage send a last chunk with nothing else, and a null `usage` in each one before. */
function withholdUsage(event: Json, choices: number, record: Recorder): void {
  if (choices === 0 && presentMember(event, event.root, 'usage') !== undefined) record.withhold();
  for (const key of event.keys(event.root)) if (event.string(key) === 'usage') record.drop(event.root, key);
}
