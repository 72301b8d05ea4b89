import { changeMembers, earlierDuplicates } from '../json/edit.ts';
import type { Json, Node } from '../json/scan.ts';
import {
  elements,
  holdsSealed,
  markEnvelope,
  numberMember,
  presentMember,
  readErrorMessage,
  stringMember,
  tokensMember,
  unreadIn,
} from './answer.ts';
import { findVisionContent, openingOf, passStop, readAsked, requireArray } from './body.ts';
import { markPieces, markWholeChoice, tellAfter } from './chat-texts.ts';
import type { Asked, Dialect, Marks, Normalization, StreamDialect } from './dialect.ts';
import { openAiErrorFields, renderOpenAiError } from './openai-error.ts';

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

/** OpenAI chat completions. `streamUsage`: the gateway asks every stream for its usage, even if the client does not. */
export const createChat = ({ streamUsage }: { streamUsage: boolean }): Dialect => ({
  name: 'chat',
  endpoints: [
    {
      path: '/v1/chat/completions',
      upstreamPath: '/chat/completions',
      address: 'chat',
      charged: true,
      optional: false,
      streams: true,
    },
  ],
  authorize: (key) => ({ authorization: `Bearer ${key}` }),
  controlMembers: new Set(['model', 'stream', 'messages', 'prediction', 'n', 'stop', 'stream_options']),
  checkBody: (body) => requireArray(body, 'messages'),
  findVision: (body) => findVisionContent(body, visionRules),
  findOpening: (body) => openingOf(body, body.member(body.root, 'messages')),
  isAccountBound: (body) => holdsSealed(body, body.member(body.root, 'messages')),
  readAsked: (body) => ({
    ...readAsked(body, { choices: 'n', stops: 'stop' }),
    withholdsUsage: streamUsage && isStream(body) && !asksForUsage(body),
  }),
  normalize: (body) => (streamUsage && isStream(body) && !asksForUsage(body) ? askForUsage(body) : {}),
  readAnswer,
  openStream,
  renderError: renderOpenAiError,
  renderErrorEvent: (error) => ({ data: JSON.stringify({ error: openAiErrorFields(error) }) }),
  keepAlive: ': keep-alive\n\n',
});

const isMember = (json: Json, object: Node, name: string, raw: string): boolean => {
  const value = json.member(object, name);
  return value !== undefined && json.raw(value) === raw;
};
const isStream = (body: Json) => isMember(body, body.root, 'stream', 'true');

function asksForUsage(body: Json): boolean {
  const options = body.member(body.root, 'stream_options');
  return options !== undefined && isMember(body, options, 'include_usage', 'true');
}

function askForUsage(body: Json): Normalization {
  const options = body.member(body.root, 'stream_options');
  if (options === undefined || body.kind(options) !== 'object')
    return { set: { stream_options: '{"include_usage":true}' } };
  const repeated = earlierDuplicates(body, options, new Set(['include_usage']));
  return { edits: changeMembers(body, options, { drop: repeated, set: { include_usage: 'true' } }) };
}

function readAnswer(answer: Json, marks: Marks, asked: Asked): void {
  if (presentMember(answer, answer.root, 'error') !== undefined) marks.fail(readErrorMessage(answer) ?? '');
  markEnvelope(answer, answer.root, marks);
  markUsage(answer, answer.root, marks);
  for (const choice of elements(answer, answer.member(answer.root, 'choices'))) {
    markEnvelope(answer, choice, marks);
    markChoiceError(answer, choice, marks);
    markWholeChoice(answer, choice, indexOf(answer, choice), marks);
    passStops(answer, choice, asked, marks);
  }
}

function openStream(asked: Asked): StreamDialect {
  const open = new Set<number>();
  const finished = new Set<number>();

  const readChoice = (event: Json, choice: Node, marks: Marks): void => {
    markEnvelope(event, choice, marks);
    markChoiceError(event, choice, marks);
    const index = indexOf(event, choice);
    markPieces(event, choice, index, marks);
    if (isFinished(event, choice)) {
      // Some servers report the usage here.
      markUsage(event, choice, marks);
      marks.close(`${index}/`);
      passStops(event, choice, asked, marks);
      finished.add(index);
      open.delete(index);
    } else if (!finished.has(index)) {
      open.add(index);
    }
  };

  return {
    doneEnds: true,
    readEvent: (event, type, marks) => {
      if (type === 'error' || presentMember(event, event.root, 'error') !== undefined) {
        marks.fail(readErrorMessage(event) ?? '');
        return;
      }
      if (type === 'ping') marks.alive();
      markEnvelope(event, event.root, marks);
      markUsage(event, event.root, marks);
      const spoken = elements(event, event.member(event.root, 'choices'));
      if (asked.withholdsUsage) withholdUsage(event, spoken.length, marks);
      for (const choice of spoken) readChoice(event, choice, marks);
      if (finished.size > 0 && finished.size >= asked.choices && open.size === 0) marks.mayEnd();
    },
    unread: (event) => [
      ...unreadIn(event, event.root, readOfEvent),
      ...unreadIn(event, event.member(event.root, 'usage'), readOfUsage),
    ],
    tellAfter,
  };
}

function indexOf(json: Json, choice: Node): number {
  return numberMember(json, choice, 'index') ?? 0;
}

/** Members in which some servers name the text at which they stopped. */
function passStops(json: Json, choice: Node, asked: Asked, marks: Marks): void {
  for (const name of ['stop_reason', 'matched_stop']) passStop(json, choice, name, asked, marks);
}

/** Until there is a reason, some servers send an empty text, others the word `null` as a text. */
function isFinished(json: Json, choice: Node): boolean {
  const reason = presentMember(json, choice, 'finish_reason');
  return reason !== undefined && !/^"(null)?"$/.test(json.raw(reason));
}

/** Some routers report the failure of their own upstream inside a choice. */
function markChoiceError(json: Json, choice: Node, marks: Marks): void {
  const error = presentMember(json, choice, 'error');
  if (error !== undefined) marks.fail(stringMember(json, error, 'message') ?? '');
}

function markUsage(json: Json, holder: Node, marks: Marks): void {
  const usage = presentMember(json, holder, 'usage');
  if (usage === undefined) return;
  markEnvelope(json, usage, marks);
  const prompt = json.member(usage, 'prompt_tokens_details');
  const completion = json.member(usage, 'completion_tokens_details');
  const places = {
    input: tokensAt(json, usage, 'prompt_tokens'),
    // Some servers put it beside the total.
    cacheRead:
      tokensAt(json, prompt, 'cached_tokens') ??
      tokensAt(json, usage, 'prompt_cache_hit_tokens') ??
      tokensAt(json, usage, 'cached_tokens'),
    cacheWrite: tokensAt(json, prompt, 'cache_write_tokens'),
    output: tokensAt(json, usage, 'completion_tokens'),
    reasoning: tokensAt(json, completion, 'reasoning_tokens'),
  };
  const counts = Object.entries(places).map(([kind, at]) => [kind, at === undefined ? at : Number(json.raw(at))]);
  marks.usage(Object.fromEntries(counts), places);
}

function tokensAt(json: Json, object: Node | undefined, name: string): Node | undefined {
  return tokensMember(json, object, name) === undefined ? undefined : json.member(object ?? 0, name);
}

/** What is read of an event, and of a usage. */
const readOfEvent = new Set(['choices', 'error', 'model', 'usage']);
const readOfUsage = new Set([
  ...['model', 'prompt_tokens', 'prompt_tokens_details', 'prompt_cache_hit_tokens', 'cached_tokens'],
  ...['completion_tokens', 'completion_tokens_details'],
]);

/** Servers that are asked for usage send a last chunk with nothing else, and a null `usage` in each one before. */
function withholdUsage(event: Json, choices: number, marks: Marks): void {
  if (choices === 0 && presentMember(event, event.root, 'usage') !== undefined) marks.withhold();
  for (const key of event.keys(event.root)) if (event.string(key) === 'usage') marks.drop(event.root, key);
}
