import { speakerAt } from '../../local/upstream/index.ts';
import { eventText, hangUp, head, json, sse, write } from '../../local/upstream/script.ts';
import type { Answer } from './fake-upstream.ts';
import { replyOf } from './upstream-identity.ts';

interface Behaviour {
  /** What it says when it has no tool to call. */
  readonly text: string;
  /** Tools to call, each once per conversation: the first one offered is called. */
  readonly calls?: readonly { readonly tool: string; readonly input: object }[];
  /** Breaks every stream off after the first words. */
  readonly breaks?: boolean;
}

/** An upstream that behaves like a model: in each dialect, plain or streamed, with text or a tool call. */
export function actAsModel({ text, calls = [], breaks = false }: Behaviour): Answer {
  return ({ path, body: bytes }) => {
    const speaker = speakerAt(path);
    if (!speaker) return json(404, { error: { message: `no such path: ${path}` } });
    if (path.endsWith('/count_tokens')) return json(200, { input_tokens: 10 });
    const body = JSON.parse(bytes.toString());
    const { tools, hasCalled } = speaker.read(body);
    const call = hasCalled ? undefined : calls.find(({ tool }) => tools.some(({ name }) => name === tool));
    const part = call
      ? { kind: 'call', tool: call.tool, pieces: [JSON.stringify(call.input)] }
      : { kind: 'text', pieces: text.split(/(?<= )/) };
    const reply = replyOf([part], body);
    if (!body.stream) return json(200, speaker.whole(reply));
    const events = speaker.events(reply);
    if (!breaks) return sse(events);
    const begun = events.slice(0, Math.floor(events.length / 2));
    return [head(200, { 'content-type': 'text/event-stream' }), ...begun.map((one) => write(eventText(one))), hangUp];
  };
}
