import { readEvents } from '../support/client-view.ts';
import { createRandom, type Random } from '../support/random.ts';
import { dialectNamed, rewriteStream, scrubber } from '../support/rewrite.ts';
import { findIdentity, upstreamIdentity } from '../support/upstream-identity.ts';

/** Makes the event that says a text, of the kind and at the place that were drawn for a stream. */
type Say = (text: string) => object;

interface Stream {
  readonly dialect: 'chat' | 'responses' | 'messages';
  readonly events: readonly object[];
  /** The whole text, if nothing ends it before its end. */
  readonly whole: string | undefined;
}

const { textModel, host, names } = upstreamIdentity;
const known = [textModel, host, ...names];

/** Rewrites so many random streams whose members, keys and types are names, and whose texts are cut anywhere. */
export function fuzzStreams(seed: number, streams: number): readonly string[] {
  const random = createRandom(seed);
  const faults: string[] = [];
  for (let count = 0; count < streams && faults.length < 5; count += 1) {
    const stream = drawStream(random);
    const lines = stream.events.map((event) => spell(random, event)).join('');
    const bytes = Buffer.from(lines);
    const cuts = Array.from({ length: random.below(3) }, () => random.below(bytes.length)).sort((a, b) => a - b);
    const { output } = rewriteStream(dialectNamed(stream.dialect), bytes, cuts);
    for (const fault of judge(stream, output))
      faults.push(`seed ${seed}, stream ${count}: ${fault}\n${lines}->\n${output}`);
  }
  return faults;
}

function drawStream(random: Random): Stream {
  const dialect = random.pick(['chat', 'responses', 'messages'] as const);
  const { say, between, ends } = tellers[dialect](random);
  const pieces = drawPieces(random);
  const isInterrupted = random.once(2);
  const events = pieces.flatMap((piece) => [
    say(piece),
    ...(isInterrupted ? Array.from({ length: random.below(4) }, () => random.pick(between)()) : []),
    ...(random.once(6) ? [say('')] : []),
  ]);
  if (!random.once(4)) events.push(...ends);
  return { dialect, events, whole: isInterrupted ? undefined : pieces.join('') };
}

interface Teller {
  readonly say: Say;
  /** What may interrupt a text. */
  readonly between: readonly (() => object)[];
  readonly ends: readonly object[];
}

const tellers: Readonly<Record<Stream['dialect'], (random: Random) => Teller>> = {
  chat(random) {
    const inside = drawMember(random, 'reasoning');
    const id = drawName(random, 'id');
    const chunk = (delta: object, finish: string | null = null) => ({
      ...{ id, object: 'chat.completion.chunk', created: 1, model: textModel },
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
    const call = { tool_calls: [{ index: 0, function: { name: 'f', arguments: '{}' } }] };
    const between = [call, { ...call, ...inside('') }, { role: 'assistant' }, { content: 'So.' }];
    return {
      say: (text) => chunk(inside(text)),
      between: between.map((delta) => () => chunk(delta)),
      ends: [chunk({}, 'stop')],
    };
  },
  responses(random) {
    const family = `response.${drawName(random, 'text')}`;
    const id = { [drawName(random, 'id')]: drawName(random, 'id') };
    const inside = random.once(2) ? (text: string) => text : drawMember(random, 'stdout');
    const isNumbered = random.once(2);
    let number = 0;
    let part = 0;
    const event = (type: string, more: object) => ({
      ...{ type, ...id, output_index: 0, content_index: part },
      ...(isNumbered && { sequence_number: number++ }),
      ...more,
    });
    const say: Say = (text) => event(`${family}.delta`, { delta: inside(text) });
    const done = () => event(`${family}.done`, {});
    const endOfPart = () => {
      const over = done();
      part += 1;
      return over;
    };
    const between = [() => say(''), done, endOfPart, () => event('response.in_progress', { response: {} })];
    return { say, between, ends: [{ type: 'response.completed', response: { model: textModel } }] };
  },
  messages(random) {
    const inside = drawMember(random, 'text');
    const type = random.once(2) ? 'content_block_delta' : drawName(random, 'event');
    const kind = drawName(random, 'delta');
    const note = { type: drawName(random, 'note') };
    let index = 0;
    const say: Say = (text) => ({ type, index, delta: { type: kind, ...inside(text) } });
    const stop = () => ({ type: 'content_block_stop', index: index++ });
    return { say, between: [() => say(''), stop, () => note], ends: [{ type: 'message_stop' }] };
  },
};

function drawName(random: Random, word: string): string {
  if (random.once(4)) return word;
  const name = random.once(3) ? random.pick(known).toUpperCase() : random.pick(known);
  return random.pick([`${name}_${word}`, `${name}.${word}`, `${word}/${name}`, `${name}-${word}`]);
}

/** A member that holds a text, perhaps far inside, in objects and lists. */
function drawMember(random: Random, word: string): (text: string) => Record<string, unknown> {
  const name = drawName(random, word);
  let inside: (text: string) => unknown = (text) => text;
  for (let depth = random.below(4); depth > 0; depth -= 1) {
    const within = inside;
    const key = drawName(random, random.pick(['thoughts', 'mood', '']));
    const index = random.below(3);
    inside = random.pick<typeof inside>([
      (text) => ({ [key]: within(text) }),
      (text) => ({ type: 'note', [key]: within(text) }),
      (text) => [within(text)],
      (text) => [{ index, [key]: within(text) }],
    ]);
  }
  return (text) => ({ [name]: inside(text) });
}

/** A text of names, beginnings of names and other characters, cut anywhere, with empty pieces. */
function drawPieces(random: Random): string[] {
  const fillers = [' ', '. ', '-', 'x', '_', 'é', '漢', '🌩', '"', '\\', '\n'];
  const parts = Array.from({ length: 1 + random.below(6) }, () => {
    const name = random.pick(known);
    return random.pick([name, name.slice(0, random.below(name.length)), random.pick(fillers), random.pick(fillers)]);
  });
  const whole = parts.join('');
  const cuts = Array.from({ length: random.below(6) }, () => random.below(whole.length + 1)).sort((a, b) => a - b);
  return [0, ...cuts].map((cut, at) => whole.slice(cut, cuts[at] ?? whole.length));
}

function spell(random: Random, event: object): string {
  const text = JSON.stringify(event);
  const data = random.once(8)
    ? text.replace(/acme/gi, (name) => `\\u00${name.charCodeAt(0).toString(16)}${name.slice(1)}`)
    : text;
  const { type } = event as { type?: string };
  return `${type === undefined || random.once(4) ? '' : `event: ${type}\n`}data: ${data}\n\n`;
}

/** What a client sees: nobody's name in any string, key or type, nor in what it puts together; and nothing in another shape. */
function judge({ events, whole }: Stream, output: string): string[] {
  const seen = readEvents(output);
  const faults: string[] = [];
  const texts = new Map<string, string>();
  const places = new Set(events.flatMap((event) => [...strings(event)].map(([place]) => scrubber.scrub(place))));
  for (const { type = '', value } of seen) {
    if (findIdentity(type).length > 0) faults.push(`a name in the type ${type}`);
    for (const [place, text] of strings(value)) {
      const isLabel = /(^|[.\]])(type|id|object|role|model)$/.test(place) || /id$/.test(place);
      if (findIdentity(isLabel ? `${place} ${text}` : place).length > 0) faults.push(`a name at ${place}`);
      if (!places.has(place)) faults.push(`nothing came in at ${place}`);
      if (!isLabel) texts.set(place, (texts.get(place) ?? '') + text);
    }
  }
  for (const [place, text] of texts)
    if (findIdentity(text).length > 0) faults.push(`a name comes together at ${place}`);
  const said = [...texts.values()];
  if (whole !== undefined && whole !== '' && !said.includes(scrubber.scrub(whole))) faults.push('not all was said');
  return faults;
}

/** Every string by its place, in which an element of a list is `[INDEX]`. */
function* strings(value: unknown, place = ''): Generator<[place: string, text: string]> {
  if (typeof value === 'string') yield [place, value];
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    const step = Array.isArray(value) ? `[${Object(member).index ?? name}]` : `.${name}`;
    yield* strings(member, place + step);
  }
}
