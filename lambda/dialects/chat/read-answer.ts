import type { Piece } from '../../json/pieces.ts';
import { elements, numberMember, presentMember, stringMember } from '../../json/read.ts';
import type { Json, Node } from '../../json/scan.ts';
import type { AnswerDialect, AnswerReader } from '../model/answer/answer-reader.ts';
import {
  type AnswerSink,
  createLengthCount,
  type Finish,
  type Literal,
  type TextKind,
  UpstreamFault,
} from '../model/answer/answer-sink.ts';
import { createTextFinder, type FindTexts, type FoundText, messageOf } from './find-texts.ts';
import { createRawReasoning } from './raw-reasoning.ts';
import { createChatCalls } from './read-calls.ts';

/** Reads chat completions from an upstream. */
export const chatAnswers: AnswerDialect = {
  open(stops) {
    const findTexts = createTextFinder();
    return {
      reasoning: createRawReasoning(findTexts),
      createReader: (sink) => createChatReader(sink, stops, findTexts),
    };
  },
};

/** Reads the chunks of a stream, or a plain answer. `stops`: the caller's stop sequences. */
function createChatReader(sink: AnswerSink, stops: ReadonlySet<string>, findTexts: FindTexts): AnswerReader {
  const choice = createChoiceReader(sink, stops, findTexts);
  let hasBegun = false;
  let isOver = false;

  function begin(): void {
    if (!hasBegun) sink.begin();
    hasBegun = true;
  }

  function finish(): readonly Piece[] {
    isOver = true;
    begin();
    return choice.finish();
  }

  return {
    readEvent(json: Json): void {
      choice.forgetText();
      if (isOver) return;
      begin();
      const choices = elements(json, json.member(json.root, 'choices'));
      for (const one of choices) choice.readDelta(json, one);
      // The usage comes last, if at all.
      if (choice.hasEnded() && choices.length === 0 && presentMember(json, json.root, 'usage') !== undefined) finish();
    },
    readAnswer(json: Json): readonly Piece[] {
      const [first, second] = elements(json, json.member(json.root, 'choices'));
      const message = first === undefined ? first : presentMember(json, first, 'message');
      if (first === undefined || message === undefined) throw new UpstreamFault('the answer has no message');
      if (second !== undefined) throw new UpstreamFault('there is a second choice');
      begin();
      choice.readMessage(json, first, message);
      return finish();
    },
    repeat: (text) => !isOver && choice.repeat(text),
    end(): void {
      if (isOver) return;
      // Some servers never send a finish reason. Then a call may be incomplete, and the client would run it.
      if (!choice.hasEnded() && !choice.callsAreClosed()) throw new TypeError('the stream ends within a call');
      finish();
    },
    get isOver() {
      return isOver;
    },
  };
}

/** Reads the only choice of an answer, whole or delta by delta. */
function createChoiceReader(sink: AnswerSink, stops: ReadonlySet<string>, findTexts: FindTexts) {
  const count = createLengthCount();
  const emit = (kind: TextKind, text: Literal, logprobs?: string): void => {
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
  let hasChoice = false;
  let end: { readonly reason: Finish; readonly stop: string | undefined } | undefined;
  let last: FoundText | undefined; // only if the last chunk held nothing else

  function readTexts(json: Json, choice: Node, message: Node | undefined): void {
    const logprobs = readLogprobs(json, choice);
    if ((numberMember(json, choice, 'index') ?? 0) !== 0) throw new UpstreamFault('there is a second choice');
    hasChoice = true;
    const texts = findTexts(json, choice, message);
    for (const { kind, node } of texts) emit(kind, json.raw(node), logprobs);
    const isAll = logprobs === undefined && presentMember(json, message, 'tool_calls') === undefined;
    if (texts.length === 1 && isAll) [last] = texts;
  }

  function readEnd(json: Json, choice: Node): void {
    const reason = stringMember(json, choice, 'finish_reason') ?? '';
    // Until the choice is finished, some servers send an empty string, others the string `null`.
    if (reason === '' || reason === 'null') return;
    last = undefined;
    end ??= { reason: toFinish(reason), stop: readStop(json, choice, stops) };
  }

  return {
    readDelta(json: Json, choice: Node): void {
      const delta = messageOf(json, choice);
      readTexts(json, choice, delta);
      calls.readDelta(json, delta);
      readEnd(json, choice);
    },
    readMessage(json: Json, choice: Node, message: Node): void {
      readTexts(json, choice, message);
      calls.readMessage(json, message);
      readEnd(json, choice);
    },
    forgetText(): void {
      last = undefined;
    },
    repeat(text: Literal): boolean {
      if (last === undefined) return false;
      if (text.length > 2) emit(last.kind, text);
      return true;
    },
    /** Whether there was a finish reason. */
    hasEnded: () => end !== undefined,
    callsAreClosed: () => calls.areClosed,
    finish(): readonly Piece[] {
      if (!hasChoice) throw new UpstreamFault('the answer has no choice');
      calls.end();
      return sink.finish(end?.reason ?? 'done', end?.stop);
    },
  };
}

/** The token probabilities of a text, on one line. Clients require members that some servers leave out or set to null. */
function readLogprobs(json: Json, choice: Node): string | undefined {
  const content = presentMember(json, presentMember(json, choice, 'logprobs'), 'content');
  if (content === undefined || json.kind(content) !== 'array' || json.next(content) === content + 1) return undefined;
  const withBytes = (token: unknown) => ({ ...Object(token), bytes: Object(token).bytes ?? [] });
  const tokens: string[] = [];
  for (const node of elements(json, content)) {
    const token = withBytes(JSON.parse(json.raw(node)));
    tokens.push(JSON.stringify({ ...token, top_logprobs: [token.top_logprobs ?? []].flat().map(withBytes) }));
  }
  return `[${tokens.join(',')}]`;
}

/** Finish reasons with which some servers report a failure. */
const failures = /^(error|abort|aborted|cancelled|network_error|insufficient_system_resource)$/;

function toFinish(reason: string): Finish {
  if (failures.test(reason)) throw new UpstreamFault('the answer was broken off');
  if (/^(length|max_tokens|model_length)$/.test(reason)) return 'length';
  return /^(content_filter|sensitive|safety|refusal)$/.test(reason) ? 'filtered' : 'done';
}

/** The caller's stop sequence at which the model stopped, if the server names it. */
function readStop(json: Json, choice: Node, stops: ReadonlySet<string>): string | undefined {
  return ['stop_reason', 'matched_stop']
    .map((name) => stringMember(json, choice, name))
    .find((stop) => stop !== undefined && stops.has(stop));
}
