import { gzipSync } from 'node:zlib';
import { speakers } from '../../local/upstream/index.ts';
import { asObject, type JsonObject } from '../../local/upstream/json.ts';
import { eventText } from '../../local/upstream/script.ts';
import type { Part, Reply } from '../../local/upstream/speaker.ts';
import { type DialectName, dialectNames, loadFixtures } from '../support/fixtures.ts';
import { createRandom } from '../support/random.ts';
import type { Turn } from './plan.ts';

/** What no client may learn: conspicuous, so that it is found. */
export const hidden = {
  textModel: 'acmecorp/thunder-70b-instruct',
  visionModel: 'acmecorp/thunder-eyes',
  vectorsModel: 'acmecorp/thunder-embed',
  hosts: ['api.acmecorp.example', 'spare.acmecorp.example'],
  names: ['AcmeCorp', 'Thunder', 'acme'],
  keys: ['sk-upstream-key-one-of-many', 'sk-upstream-key-two-of-many', 'sk-upstream-key-three-of-few'],
};

/** How the same reads without them, written a second time. Words stand between spaces here. */
export const withoutNames = (text: string): string => text.replace(longNames, 'svc').replace(shortName, 'svc');

const longNames =
  /acmecorp\/thunder-70b-instruct|acmecorp\/thunder-eyes|(api|spare)\.acmecorp\.example|acmecorp|thunder/gi;
/** As a word, which may end where a capital follows. */
const shortName = /(?<![A-Za-z_])[Aa]cme(?![a-z_])/g;

const words = [
  ...['stone', 'rain', 'gläsern', '水が', 'a "quoted"', 'line\nbreak', '🙂', 'back\\slash', '{', 'data:', '[DONE]'],
  ...['AcmeCorp', 'thunder', 'THUNDER', 'acme', 'Acme', 'api.acmecorp.example', 'acmecorp/thunder-70b-instruct'],
];

const recordings = Object.fromEntries(
  dialectNames.map((name) => [name, loadFixtures(name).filter((one) => one.kind === 'stream')]),
) as Record<DialectName, Extract<ReturnType<typeof loadFixtures>[number], { kind: 'stream' }>[]>;

/** The recorded stream of a turn. */
const recordingOf = ({ fixture }: Turn, dialect: DialectName) =>
  fixture > 0 ? recordings[dialect][fixture % recordings[dialect].length] : undefined;

export interface Spoken {
  readonly parts: readonly Part[];
  readonly usage: { readonly input: number; readonly output: number };
}

/** What an upstream says in a turn. */
export function speak(turn: Turn, choices: number): Spoken {
  const random = createRandom(turn.speech);
  const long = turn.wordSize > 0 ? ` ${'y'.repeat(turn.wordSize)}` : '';
  const say = () => {
    const said = Array.from({ length: turn.words }, () => random.pick(words) + long);
    return cutAnywhere(said.join(' '), turn.words, random.below);
  };
  const text = (choice: number): Part => ({ kind: 'text', pieces: say(), choice });
  const parts: Part[] = [
    ...(turn.reasons ? [{ kind: 'reasoning', pieces: say() }] : []),
    ...Array.from({ length: choices }, (_, choice) => text(choice)),
    ...(turn.calls ? [{ kind: 'call', tool: 'find_acme', pieces: ['{"pl', 'ace":"AcmeCorp', ' 5"}'] }] : []),
  ];
  return { parts, usage: { input: 11 + random.below(90), output: 3 + random.below(50) } };
}

/** The vectors of a turn. */
export function speakVectors(turn: Turn): Spoken {
  const { below } = createRandom(turn.speech);
  const numbers = () => Array.from({ length: 1 + below(4) + Math.ceil(turn.wordSize / 5) }, () => below(1_000) / 1_000);
  const vector = () => {
    if (turn.reasons) return JSON.stringify(Buffer.from(numbers()).toString('base64'));
    return JSON.stringify(turn.calls ? [numbers(), numbers()] : numbers());
  };
  const pieces = Array.from({ length: turn.words }, vector);
  const tokens = 11 + below(90);
  const told = { usage: [String(tokens)], zeros: ['0'], nothing: [] }[turn.reports];
  return {
    parts: [
      { kind: 'vectors', pieces },
      { kind: 'tokens', pieces: told },
    ],
    usage: { input: tokens, output: 0 },
  };
}

/** Cuts a text into so many pieces at most, never between the halves of a character. */
function cutAnywhere(text: string, pieces: number, below: (limit: number) => number): string[] {
  const place = () => {
    const at = below(text.length);
    return (text.codePointAt(at - 1) ?? 0) > 0xffff ? at - 1 : at;
  };
  const cuts = Array.from({ length: pieces - 1 }, place).sort((a, b) => a - b);
  return [0, ...cuts].map((start, at) => text.slice(start, cuts[at] ?? text.length)).filter((piece) => piece !== '');
}

export const joined = ({ parts }: Spoken, kind: string, choice = 0): string =>
  parts
    .filter((part) => part.kind === kind && (part.choice ?? 0) === choice)
    .flatMap(({ pieces }) => pieces)
    .join('');

/** An answer as it stands on the wire. */
export interface WireAnswer {
  readonly type: string;
  /** Whole events, or the one text. */
  readonly pieces: readonly Buffer[];
  /** How many of them make the answer complete; more than there are if it never is. */
  readonly completeAt: number;
  readonly isRecorded?: true;
}

/** As upstreams tell more than they should. */
const failureText =
  'AcmeCorp is out of thunder at api.acmecorp.example, 10.0.0.7:8000, for sk-upstream-key-one-of-many (req_011CSHoEeqs5C35K2UUqR7Fy, https://help.example/e)';

/** The event in which an upstream says that it fails, after so many others. */
function failureEvent(dialect: DialectName, number: number): string {
  if (dialect === 'chat') return eventText({ data: { error: { code: 502, message: failureText } } });
  if (dialect === 'messages') {
    const error = { type: 'overloaded_error', message: failureText };
    return eventText({ event: 'error', data: { type: 'error', error } });
  }
  const response = {
    id: 'resp_x1',
    object: 'response',
    status: 'failed',
    output: [],
    error: { code: 'server_error', message: failureText },
  };
  return eventText({
    event: 'response.failed',
    data: { type: 'response.failed', sequence_number: number, response },
  });
}

/** What an upstream of this dialect writes in its turn. */
export function writeAnswer(turn: Turn, dialect: DialectName, body: JsonObject, spoken: Spoken): WireAnswer {
  const speaker = speakers[dialect];
  const type = 'application/json';
  const whole = (text: string, complete = false): WireAnswer => ({
    type,
    pieces: [Buffer.from(text)],
    completeAt: complete ? 1 : 2,
  });
  if (turn.says === 'nothing') return { type, pieces: [], completeAt: 1 };
  if (turn.says === 'garbage') return whole('{"choices":[{"mess');
  if (turn.says === 'a page') return { ...whole('<h1>AcmeCorp</h1>'), type: 'text/html' };
  if (turn.status !== 200 || turn.says === 'an error') {
    return whole(JSON.stringify(speaker.error(turn.status === 200 ? 500 : turn.status, `${failureText}: too long`)));
  }
  const [{ kind }] = spoken.parts as [Part];
  if (kind === 'vectors') return writeVectors(turn, body, spoken);
  const recording = body.stream === true ? recordingOf(turn, dialect) : undefined;
  if (recording) return playback(recording);
  const reply = replyOf(turn, dialect, body, spoken);
  if (body.stream !== true) return whole(JSON.stringify(speaker.whole(reply)), true);
  const events = withReports(turn, speaker.events(reply).map(eventText));
  const isEnd = (event: string) => /"finish_reason":"|message_stop|response\.(completed|incomplete)/.test(event);
  // A choice more than was asked for may stay away.
  const end = turn.says === 'one choice more' ? events.findIndex(isEnd) : events.findLastIndex(isEnd);
  const midway = Math.max(1, end - 1);
  const kept = turn.says === 'no end' ? events.filter((event) => !isEnd(event) && !/\[DONE\]\n/.test(event)) : events;
  const told = turn.says === 'a failure midway' ? [...kept.slice(0, midway), failureEvent(dialect, midway)] : kept;
  const sent = [...Array.from({ length: turn.comments }, () => ': acme is thinking\n\n'), ...told];
  return {
    type: 'text/event-stream',
    pieces: sent.map((event) => Buffer.from(event)),
    completeAt: told === events ? turn.comments + end + 1 : sent.length + 1,
  };
}

/** An answer of vectors, in a piece for each. */
function writeVectors({ says, calls }: Turn, { model }: JsonObject, { parts }: Spoken): WireAnswer {
  const [vectors = [], [tokens] = []] = parts.map(({ pieces }) => pieces);
  const told = tokens !== undefined && { usage: { prompt_tokens: Number(tokens), total_tokens: Number(tokens) } };
  const rest = JSON.stringify({ model, provider: 'AcmeCorp', system_fingerprint: 'fp_thunder', ...told });
  const texts = vectors.map(
    (vector, index) =>
      `${index > 0 ? ',' : ''}{"object":"embedding","index":${index},"embedding":${vector}${calls ? ',"provider":"AcmeCorp"' : ''}}`,
  );
  const pieces = ['{"object":"list","data":[', ...texts, `],${rest.slice(1)}`];
  const kept = says === 'no end' || says === 'a failure midway' ? pieces.slice(0, -1) : pieces;
  return { type: 'application/json', pieces: kept.map((text) => Buffer.from(text)), completeAt: pieces.length };
}

function replyOf(turn: Turn, dialect: DialectName, body: JsonObject, { parts, usage }: Spoken): Reply {
  const { input, output } = turn.reports === 'zeros' ? { input: 0, output: 0 } : usage;
  const [first] = parts.filter(({ kind }) => kind === 'text');
  const told = {
    'one choice less': parts.filter(({ choice = 0 }) => choice === 0),
    'one choice more': [...parts, ...(first && dialect === 'chat' ? [{ ...first, choice: 7 }] : [])],
  }[turn.says as string];
  return {
    answer: {
      parts: told ?? parts,
      end: turn.calls ? 'calls' : 'stop',
      usage: { input, output, reasoning: 0 },
    },
    body,
    model: asObject(body).model as string,
    id: 'x1',
    created: 1_790_000_000,
    marks: { provider: 'AcmeCorp', system_fingerprint: 'fp_thunder' },
  };
}

/** Some report nothing of what they used. */
function withReports({ reports }: Turn, events: readonly string[]): readonly string[] {
  return reports === 'nothing' ? events.filter((event) => !/"choices":\[\]/.test(event)) : events;
}

/** What was recorded, in events where it has the usual line ends. */
function playback({ bytes, terminal }: (typeof recordings)['chat'][number]): WireAnswer {
  const pieces = bytes
    .toString('latin1')
    .split(/(?<=\n\n)/)
    .map((piece) => Buffer.from(piece, 'latin1'));
  return {
    ...{ type: 'text/event-stream', pieces, isRecorded: true as const },
    completeAt: terminal === 'end' ? pieces.length : pieces.length + 1,
  };
}

/** The bytes as they leave: cut or joined, and framed as HTTP. */
export function toWire(turn: Turn, { type, pieces }: WireAnswer): readonly Buffer[] {
  const encoded = turn.framing === 'gzip' ? [gzipSync(Buffer.concat(pieces))] : pieces;
  const length = encoded.reduce((sum, { length }) => sum + length, 0);
  const framing = {
    chunked: 'transfer-encoding: chunked',
    gzip: 'transfer-encoding: chunked\r\ncontent-encoding: gzip',
    length: `content-length: ${length}`,
    'too long': `content-length: ${length + 7}`,
    end: 'connection: close',
  }[turn.framing];
  const retry = turn.retryAfter > 0 ? `\r\nretry-after: ${turn.retryAfter}` : '';
  const head = `HTTP/1.1 ${turn.status} Thunder\r\ncontent-type: ${type}\r\nserver: AcmeCorp\r\nx-request-id: acme-1\r\nset-cookie: acme=1\r\n${framing}${retry}\r\n\r\n`;
  const isChunked = turn.framing === 'chunked' || turn.framing === 'gzip';
  const chunk = (bytes: Buffer) =>
    Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
  // An empty chunk would be the last.
  const filled = encoded.filter((bytes) => bytes.length > 0);
  return [Buffer.from(head), ...(isChunked ? [...filled.map(chunk), Buffer.from('0\r\n\r\n')] : encoded)];
}

/** So many bytes come one by one; the gateway reads each in a turn of its own. */
const stretch = 300;

/** The same bytes in other pieces. */
export function recut(
  bytes: readonly Buffer[],
  pieces: Turn['pieces'],
  below: (limit: number) => number,
): readonly Buffer[] {
  if (pieces === 'events') return bytes;
  const all = Buffer.concat(bytes);
  if (pieces === 'joined') return [all];
  const cut: Buffer[] = [];
  const from = pieces === 'bytes' ? below(all.length) : Number.POSITIVE_INFINITY;
  for (let at = 0; at < all.length; ) {
    const odd = 1 + below(Math.ceil(all.length / 3));
    const size = at < from ? Math.min(odd, from - at) : at < from + stretch ? 1 : odd;
    cut.push(all.subarray(at, at + size));
    at += size;
  }
  return cut;
}
