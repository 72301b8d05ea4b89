import type { Answer } from '../fake-upstream.ts';
import { eventText, hangUp, head, json, sse, write } from '../upstream-script.ts';
import { chat } from './chat.ts';
import { messages } from './messages.ts';
import { responses } from './responses.ts';
import type { Telling, Turn } from './turn.ts';

interface Behaviour {
  /** What it says when it has no tool to call. */
  readonly text: string;
  /** Tools to call, each once per conversation: the first one offered is called. */
  readonly calls?: readonly { readonly tool: string; readonly input: object }[];
  /** Breaks every stream off after the first words. */
  readonly breaks?: boolean;
}

const tellings: readonly [path: RegExp, Telling][] = [
  [/\/chat\/completions$/, chat],
  [/\/responses$/, responses],
  [/\/messages$/, messages],
];

/** An upstream that behaves like a model: in each dialect, plain or streamed, with text or a tool call. */
export function actAsModel({ text, calls = [], breaks = false }: Behaviour): Answer {
  return ({ path, body: bytes }) => {
    if (path.endsWith('/count_tokens')) return json(200, { input_tokens: 10 });
    const telling = tellings.find(([pattern]) => pattern.test(path))?.[1];
    if (!telling) return json(404, { error: { message: `no such path: ${path}` } });
    const body = JSON.parse(bytes.toString());
    const offered = telling.toolsOf(body);
    const call = telling.hasResult(body) ? undefined : calls.find(({ tool }) => offered.includes(tool));
    const turn: Turn = call ?? { text };
    if (!body.stream) return json(200, telling.answer(turn));
    const events = telling.stream(turn);
    if (!breaks) return sse(events);
    const begun = events.slice(0, Math.floor(events.length / 2));
    return [head(200, { 'content-type': 'text/event-stream' }), ...begun.map((one) => write(eventText(one))), hangUp];
  };
}
