import { speakerAt, speakers } from '../../local/upstream/index.ts';
import { eventText, hangUp, head, json, sse, write } from '../../local/upstream/script.ts';
import type { Answer } from './fake-upstream.ts';
import { createBinding } from './message-rules.ts';
import { replyOf } from './upstream-identity.ts';

/** A tool call of the model. */
export interface Call {
  readonly tool: string;
  readonly input: object;
}

/**
 * The tool calls of each answer. Those whose tools are not offered are left out. If none is left, the round waits for the next
 * request.
 */
export type Rounds = readonly (readonly Call[])[];

interface Behaviour {
  /** The text when it has no tool to call. */
  readonly text: string;
  readonly rounds?: Rounds | undefined;
  /** Its reasoning before each answer. */
  readonly reasoningBlock?: string | undefined;
  /** The longest request that it accepts, in bytes. */
  readonly window?: number | undefined;
  /** Breaks every stream off in the middle. */
  readonly breaks?: boolean | undefined;
  /** In messages, refuses reasoning that does not follow what it originally followed. */
  readonly binds?: boolean | undefined;
}

/** What servers answer if a prompt is too long. */
const tooLong = json(400, {
  error: {
    message: "This model's maximum context length is 8192 tokens. However, your prompt has 9000 tokens.",
    type: 'BadRequestError',
    param: null,
    code: 400,
  },
});
const tooLongMessages = json(400, {
  type: 'error',
  error: { type: 'invalid_request_error', message: 'prompt is too long: 9000 tokens > 8192 maximum' },
});

/** An upstream that behaves like a model: in each dialect, plain or streamed, with text or tool calls. */
export function actAsModel({
  text,
  rounds = [],
  reasoningBlock,
  window = Number.POSITIVE_INFINITY,
  breaks = false,
  binds = false,
}: Behaviour): Answer {
  let made = 0;
  const binding = createBinding();
  return ({ path, body: bytes }) => {
    const speaker = speakerAt(path);
    if (!speaker) return json(404, { error: { message: `no such path: ${path}` } });
    if (path.endsWith('/count_tokens')) return json(200, { input_tokens: 10 });
    if (bytes.length > window) return speaker === speakers.messages ? tooLongMessages : tooLong;
    const body = JSON.parse(bytes.toString());
    const isBound = binds && speaker === speakers.messages;
    const fault = isBound ? binding.faultIn(body) : undefined;
    if (fault) return json(400, { type: 'error', error: { type: 'invalid_request_error', message: fault } });
    const { tools } = speaker.read(body);
    const calls = (rounds[made] ?? []).filter(({ tool }) => tools.some(({ name }) => name === tool));
    if (calls.length > 0) made += 1;
    const said = { kind: 'text', pieces: text.split(/(?<= )/) };
    const called = calls.map(({ tool, input }) => ({ kind: 'call', tool, pieces: [JSON.stringify(input)] }));
    const parts = [
      ...(reasoningBlock === undefined ? [] : [{ kind: 'reasoning', pieces: [reasoningBlock] }]),
      ...(called.length > 0 ? called : [said]),
    ];
    const reply = { ...replyOf(parts, body), id: `${made}` };
    if (isBound) binding.bind(body, Object(speaker.whole(reply)).content);
    if (!body.stream) return json(200, speaker.whole(reply));
    const events = speaker.events(reply);
    if (!breaks) return sse(events);
    const begun = events.slice(0, Math.floor(events.length / 2));
    return [head(200, { 'content-type': 'text/event-stream' }), ...begun.map((one) => write(eventText(one))), hangUp];
  };
}
