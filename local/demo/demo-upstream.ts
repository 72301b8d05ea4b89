import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { isObject } from '../../lambda/settings/json.ts';
import { embed, embeddingsPath } from '../upstream/embeddings.ts';
import { speakerAt, speakers } from '../upstream/index.ts';
import type { JsonObject } from '../upstream/json.ts';
import { eventText, head, json, pause, write } from '../upstream/script.ts';
import { startUpstream } from '../upstream/server.ts';
import { BadRequest, type Speaker } from '../upstream/speaker.ts';
import { answerPrompt } from './answer.ts';

export type DemoUpstream = Awaited<ReturnType<typeof startDemoUpstream>>;

/** The only dialects that it speaks; undefined means all. */
type DemoDialects = readonly (keyof typeof speakers)[] | undefined;

/** The settings of a gateway in front of it. */
export function settingsFor(demo: Omit<DemoUpstream, 'close'>) {
  const { dialects } = demo;
  return {
    UPSTREAM_BASE_URL: demo.url,
    UPSTREAM_API_KEYS: demo.apiKey,
    UPSTREAM_TEXT_MODEL: demo.textModel,
    UPSTREAM_VISION_MODEL: demo.visionModel,
    UPSTREAM_EMBEDDINGS_MODEL: demo.embeddingsModel,
    UPSTREAM_NAMES: demo.names.join(','),
    ...(dialects && { UPSTREAM_DIALECTS: dialects.join(',') }),
    ...(!speaks(dialects, speakers.chat) && { UPSTREAM_OUTPUT_LIMIT: '4096' }),
    ...(!speaks(dialects, speakers.messages) && { UPSTREAM_TOKENIZE_URL: `${new URL(tokenizer, demo.url)}` }),
  };
}

const speaks = (dialects: DemoDialects, speaker: Speaker): boolean =>
  dialects?.some((name) => speakers[name] === speaker) ?? true;

/** Where it counts tokens for dialects that it does not speak. */
const tokenizer = '/tokenize';

/** A fictional provider that names itself everywhere, so that the gateway has something to hide. */
const maker = {
  apiKey: 'qk-demo-4711',
  textModel: 'quillon/quill-4-text',
  visionModel: 'quillon/quill-4-vision',
  embeddingsModel: 'quillon/quill-4-embed',
  /** The names that the gateway must hide: `UPSTREAM_NAMES`. */
  names: ['Quillon', 'Quill-4'],
};
const marks = { provider: 'Quillon', system_fingerprint: 'fp_quillon_44', x_quillon: { region: 'quillon-eu-1' } };
const headers = { server: 'quillon-edge/2.4', 'x-quillon-region': 'quillon-eu-1', 'set-cookie': 'quillon_session=1' };

interface Options {
  /** Milliseconds between events, so that a person can see the answer stream. */
  readonly pace?: number;
  readonly now?: () => number;
  readonly dialects?: DemoDialects;
}

/** Starts a fake model provider, so that nobody needs an account. It speaks some or all of the three dialects, and embeddings. */
export async function startDemoUpstream({ pace = 15, now = Date.now, dialects }: Options = {}) {
  let count = 0;
  const server = await startUpstream(async ({ message }) => {
    count += 1;
    const id = `quillon${`${count}`.padStart(8, '0')}`;
    const named = { ...headers, 'x-request-id': `req_${id}` };
    const path = message.url?.split('?')[0] ?? '';
    const embeddings = path === embeddingsPath;
    const speaker = embeddings || path === tokenizer ? speakers.chat : speakerAt(path);
    const isOffered = speaker !== undefined && (embeddings || speaks(dialects, speaker));
    try {
      if (!isOffered || message.method !== 'POST') throw new BadRequest(404, `there is no ${message.method} ${path}.`);
      const { body, model } = await readRequest(message);
      if (embeddings) return json(200, { ...embed(body, model), ...marks }, named);
      const prompt = speaker.read(body);
      if (path === tokenizer)
        return json(200, { count: prompt.inputTokens, max_model_len: 131_072, tokens: [] }, named);
      if (path.endsWith('_tokens'))
        return json(200, { object: speaker.countObject, input_tokens: prompt.inputTokens }, named);
      if (speaker === speakers.messages && typeof body.max_tokens !== 'number')
        throw new BadRequest(400, 'max_tokens: this field is required.');
      const reply = { answer: answerPrompt(prompt), body, model, id, created: Math.floor(now() / 1000), marks };
      if (path.endsWith('/compact') && speaker.compact) return json(200, speaker.compact(reply), named);
      if (body.stream !== true) return json(200, speaker.whole(reply), named);
      const events = [': QUILLON PROCESSING\n\n', ...speaker.events(reply).map(eventText)];
      return [
        head(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache', ...named }),
        ...events.flatMap((event) => (pace > 0 ? [write(event), pause(pace)] : [write(event)])),
      ];
    } catch (thrown) {
      const status = thrown instanceof BadRequest ? thrown.status : 500;
      const { error } = speaker ?? speakers.chat;
      return json(status, error(status, `Quillon: ${thrown instanceof Error ? thrown.message : thrown}`), named);
    }
  });
  return { ...maker, ...server, ...(dialects && { dialects }) };
}

async function readRequest(message: IncomingMessage): Promise<{ body: JsonObject; model: string }> {
  const { headers: sent } = message;
  const key = sent['x-api-key'] ?? sent.authorization?.replace(/^Bearer /i, '');
  if (key !== maker.apiKey) throw new BadRequest(401, 'wrong key. Find yours at https://console.quillon.example/keys.');
  const body = parseBody(await text(message));
  const { textModel, visionModel, embeddingsModel } = maker;
  const known = message.url?.startsWith(embeddingsPath) ? [embeddingsModel] : [textModel, visionModel];
  const model = known.find((id) => id === body.model);
  if (model === undefined) throw new BadRequest(404, `there is no model '${body.model}'.`);
  return { body, model };
}

function parseBody(sent: string): JsonObject {
  try {
    const body: unknown = JSON.parse(sent);
    if (isObject(body)) return body;
  } catch {
    // Invalid JSON gets the same error as a body that is not an object.
  }
  throw new BadRequest(400, 'the body must be a JSON object.');
}
