import type { Piece } from '../../bodies.ts';
import { eachMember, elements, numberMember, presentMember, stringMember } from '../../dialects/answer.ts';
import type { Json, Node } from '../../json/scan.ts';
import type { AnswerDialect, AnswerReader, RawThoughts } from '../answer/answer-reader.ts';
import {
  type AnswerSink,
  type Finish,
  type Literal,
  longestAnswer,
  type TextKind,
  UpstreamFault,
} from '../answer/answer-sink.ts';
import { toSealedText } from '../seal.ts';
import { createChatCalls } from './read-calls.ts';

/** How answers of chat are read. */
export const chatAnswers: AnswerDialect = {
  open(stops) {
    const doubles = new Set<string>();
    return { thoughts: createRawThoughts(doubles), createReader: (sink) => createChatReader(sink, stops, doubles) };
  },
};

/**
 * Reads the chunks of one chat, or its plain answer. `stops`: the texts at which the caller wants the model to stop. `doubles`: the
 * members that are known to repeat another.
 */
function createChatReader(sink: AnswerSink, stops: ReadonlySet<string>, doubles: Set<string>): AnswerReader {
  let length = 0;
  const count = (text: Literal): void => {
    length += text.length;
    if (length > longestAnswer) throw new RangeError(`the answer is longer than ${longestAnswer} characters`);
  };
  const tell = (kind: TextKind, text: Literal, logprobs?: string): void => {
    count(text);
    sink.text(kind, text, logprobs);
  };
  const calls = createChatCalls({
    call: sink.call,
    callArguments(call, text) {
      count(text);
      sink.callArguments(call, text);
    },
  });
  let hasBegun = false;
  let hasChoice = false;
  let finish: { readonly reason: Finish; readonly stop: string | undefined } | undefined;
  let isOver = false;
  let last: FoundText | undefined; // if it is all that the last chunk says

  function begin(): void {
    if (!hasBegun) sink.begin();
    hasBegun = true;
  }

  function readChoice(json: Json, choice: Node, message: Node | undefined, isWhole = false): void {
    if ((numberMember(json, choice, 'index') ?? 0) !== 0) throw new UpstreamFault('there is a second choice');
    hasChoice = true;
    const texts = readTextsOfChoice(json, choice, message, doubles);
    const logprobs = readLogprobs(json, choice);
    for (const { kind, node } of texts) tell(kind, json.raw(node), logprobs);
    const toolCalls = presentMember(json, message, 'tool_calls');
    const functionCall = presentMember(json, message, 'function_call');
    if (toolCalls !== undefined) calls.read(json, toolCalls, isWhole);
    if (functionCall !== undefined) calls.readSingle(json, functionCall);
    const reason = stringMember(json, choice, 'finish_reason') ?? '';
    // Until there is a reason, some servers send an empty text, others the word `null` as a text.
    if (reason !== '' && reason !== 'null')
      finish ??= { reason: toFinish(reason), stop: readStop(json, choice, stops) };
    else if (texts.length === 1 && logprobs === undefined && toolCalls === undefined) [last] = texts;
  }

  function finishAll(): readonly Piece[] {
    isOver = true;
    begin();
    if (!hasChoice) throw new UpstreamFault('the answer has no choice');
    calls.end();
    return sink.finish(finish?.reason ?? 'done', finish?.stop);
  }

  return {
    readEvent(json: Json): void {
      last = undefined;
      if (isOver) return;
      begin();
      const choices = elements(json, json.member(json.root, 'choices'));
      for (const choice of choices) {
        readChoice(json, choice, presentMember(json, choice, 'delta') ?? presentMember(json, choice, 'message'));
      }
      // The usage comes last, if it comes.
      if (finish && choices.length === 0 && presentMember(json, json.root, 'usage') !== undefined) finishAll();
    },
    readAnswer(json: Json): readonly Piece[] {
      const [choice, second] = elements(json, json.member(json.root, 'choices'));
      const message = choice === undefined ? choice : presentMember(json, choice, 'message');
      if (choice === undefined || message === undefined) throw new UpstreamFault('the answer has no message');
      if (second !== undefined) throw new UpstreamFault('there is a second choice');
      begin();
      readChoice(json, choice, message, true);
      return finishAll();
    },
    repeat(text: Literal): boolean {
      if (last === undefined || isOver) return false;
      if (text.length > 2) tell(last.kind, text);
      return true;
    },
    end(): void {
      if (isOver) return;
      // Some servers never say why they end. Whether a call is whole can't be known then, and a client would run it.
      if (!finish && !calls.areClosed) throw new TypeError('the stream ends within a call');
      finishAll();
    },
    /** Whether nothing more is to come: the model is through, and its tokens have been counted. */
    get isOver() {
      return isOver;
    },
  };
}

interface FoundText {
  readonly kind: TextKind;
  readonly node: Node;
}

/** Members that hold the thoughts, and those that hold the answer. Some servers send one text under two names at once. */
const thoughts = ['reasoning_content', 'reasoning', 'reasoning_details'];
const answers = ['content', 'text'];

/**
 * The texts of a message or a delta that are not empty, in the order in which a model produces them. `doubles` are the members that
 * have been seen to repeat another: alone, too, they say nothing new.
 */
function readTexts(json: Json, message: Node, doubles: Set<string>): readonly FoundText[] {
  const texts: FoundText[] = [];
  const read = (names: readonly string[], kind: TextKind): void => {
    let isRead = false;
    for (const name of names) {
      const value = doubles.has(name) ? undefined : presentMember(json, message, name);
      const found: FoundText[] = [];
      if (value !== undefined) readText(json, value, kind, found);
      if (isRead && found.length > 0) doubles.add(name);
      else texts.push(...found);
      isRead ||= found.length > 0;
    }
  };
  read(thoughts, 'reasoning');
  read(answers, 'text');
  read(['refusal'], 'refusal');
  return texts;
}

/** Some servers send the text of a legacy completion beside an empty delta. */
function readTextsOfChoice(json: Json, choice: Node, message: Node | undefined, doubles: Set<string>) {
  const texts = message === undefined ? [] : readTexts(json, message, doubles);
  return texts.length > 0 ? texts : readTexts(json, choice, doubles);
}

/** `doubles`: the members that repeat another. Noted here, since of two texts that are held back each leaves by itself. */
function createRawThoughts(doubles: Set<string>): RawThoughts {
  let channels: readonly string[] = []; // of the thoughts in the last event that was read
  let heard = '';
  return {
    onRead(json: Json, texts: readonly { readonly channel: string; readonly value: Node }[]): void {
      const thoughts = thoughtsIn(json, doubles);
      channels = texts.filter(({ value }) => thoughts.includes(value)).map(({ channel }) => channel);
    },
    onText(text: string, channel: string): void {
      if (channels.includes(channel)) heard += text;
    },
    take(): Literal {
      const literal = JSON.stringify(toSealedText(heard));
      heard = '';
      return literal;
    },
  };
}

/** The thoughts in a chunk or a plain answer. */
function thoughtsIn(json: Json, doubles: Set<string>): readonly Node[] {
  const [choice] = elements(json, json.member(json.root, 'choices'));
  if (choice === undefined) return [];
  const message = presentMember(json, choice, 'delta') ?? presentMember(json, choice, 'message');
  const texts = readTextsOfChoice(json, choice, message, doubles);
  return texts.filter(({ kind }) => kind === 'reasoning').map(({ node }) => node);
}

/** The members of a part that hold its text, and what that then is. */
const partTexts: Readonly<Record<string, TextKind>> = {
  ...{ text: 'text', thinking: 'reasoning', summary: 'reasoning', refusal: 'refusal' },
};

/** Finds the texts in a string, or in parts of it that say themselves what they are. */
function readText(json: Json, node: Node, kind: TextKind, texts: FoundText[]): void {
  if (json.kind(node) === 'string') {
    if (json.end(node) - json.start(node) > 2) texts.push({ kind, node });
  } else if (json.kind(node) === 'array') {
    for (const part of elements(json, node)) readText(json, part, kind, texts);
  } else {
    eachMember(json, node, (name, member) => {
      const kindOfPart = Object.hasOwn(partTexts, name) ? partTexts[name] : undefined;
      if (kindOfPart !== undefined) readText(json, member, kind === 'text' ? kindOfPart : kind, texts);
    });
  }
}

/** The token probabilities beside a text, on one line. Readers ask for members that some servers leave out, or say to be null. */
function readLogprobs(json: Json, choice: Node): string | undefined {
  const content = presentMember(json, presentMember(json, choice, 'logprobs'), 'content');
  if (content === undefined || json.kind(content) !== 'array' || json.next(content) === content + 1) return undefined;
  const withBytes = (token: unknown) => ({ ...Object(token), bytes: Object(token).bytes ?? [] });
  const tokens = elements(json, content).map((node) => {
    const token = withBytes(JSON.parse(json.raw(node)));
    return { ...token, top_logprobs: [token.top_logprobs ?? []].flat().map(withBytes) };
  });
  return JSON.stringify(tokens);
}

/** Reasons by which some servers say that they failed. */
const failures = /^(error|abort|aborted|cancelled|network_error|insufficient_system_resource)$/;

function toFinish(reason: string): Finish {
  if (failures.test(reason)) throw new UpstreamFault('the answer was broken off');
  if (/^(length|max_tokens|model_length)$/.test(reason)) return 'length';
  return /^(content_filter|sensitive|safety|refusal)$/.test(reason) ? 'filtered' : 'done';
}

/** The caller's own text at which the model stopped, if the server says so. */
function readStop(json: Json, choice: Node, stops: ReadonlySet<string>): string | undefined {
  return ['stop_reason', 'matched_stop']
    .map((name) => stringMember(json, choice, name))
    .find((stop) => stop !== undefined && stops.has(stop));
}
