import { expect, test } from '@jest/globals';
import { readEvents } from '../../support/client-view.ts';
import fc from '../../support/properties.ts';
import { dialectNamed, rewriteStream, scrubber } from '../../support/rewrite.ts';
import { findIdentity, upstreamIdentity } from '../../support/upstream-identity.ts';

const { textModel, host, names } = upstreamIdentity;
const known = fc.constantFrom(textModel, host, ...names);

/** The name of a member, key or type that holds a name of the upstream's. */
const named = (word: string) =>
  fc.oneof(
    fc.constant(word),
    fc
      .tuple(known, fc.boolean(), fc.constantFrom('_', '.', '/', '-'))
      .map(([name, loud, joint]) => `${loud ? name.toUpperCase() : name}${joint}${word}`),
  );

type Hold = (text: string) => unknown;
const wrapping = fc
  .tuple(named('mood'), fc.nat({ max: 2 }), fc.constantFrom('object', 'note', 'list', 'numbered list'))
  .map(([key, index, shape]) => (inner: unknown): unknown => {
    if (shape === 'object') return { [key]: inner };
    if (shape === 'note') return { type: 'note', [key]: inner };
    return shape === 'list' ? [inner] : [{ index, [key]: inner }];
  });
/** A member that holds a text, perhaps far inside, in objects and lists. */
const memberOf = (word: string) =>
  fc.tuple(named(word), fc.array(wrapping, { maxLength: 3 })).map(([name, wrappings]) => (text: string) => ({
    [name]: wrappings.reduce<unknown>((inner, wrap) => wrap(inner), text),
  }));

/** A text of names, beginnings of names and other characters, cut anywhere, with empty pieces. */
const word = fc.oneof(
  known,
  fc.tuple(known, fc.nat()).map(([name, end]) => name.slice(0, end % name.length)),
  fc.constantFrom(' ', '. ', '-', 'x', '_', 'é', '漢', '🌩', '"', '\\', '\n'),
);
const pieces = fc
  .tuple(fc.array(word, { minLength: 1, maxLength: 6 }), fc.array(fc.nat(), { maxLength: 5 }))
  .map(([words, offsets]) => {
    const whole = words.join('');
    const cuts = offsets.map((offset) => offset % (whole.length + 1)).sort((a, b) => a - b);
    return [0, ...cuts].map((cut, at) => whole.slice(cut, cuts[at] ?? whole.length));
  });

interface Teller {
  readonly say: (text: string) => object;
  /** What may interrupt a text. */
  readonly between: readonly (() => object)[];
  readonly end: object;
}

const chat: fc.Arbitrary<Teller> = fc.tuple(memberOf('reasoning'), named('id')).map(([inside, id]) => {
  const chunk = (delta: object, finish: string | null = null) => ({
    ...{ id, object: 'chat.completion.chunk', created: 1, model: textModel },
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const call = { tool_calls: [{ index: 0, function: { name: 'f', arguments: '{}' } }] };
  const deltas = [call, { ...call, ...inside('') }, { role: 'assistant' }, { content: 'So.' }];
  return {
    say: (text) => chunk(inside(text)),
    between: deltas.map((delta) => () => chunk(delta)),
    end: chunk({}, 'stop'),
  };
});

const plain: Hold = (text) => text;
const responses: fc.Arbitrary<Teller> = fc
  .tuple(named('text'), named('id'), fc.oneof(fc.constant(plain), memberOf('stdout')), fc.boolean())
  .map(([word, id, inside, isNumbered]) => {
    let [number, part] = [0, 0];
    const event = (type: string, more: object) => ({
      ...{ type, [id]: id, output_index: 0, content_index: part },
      ...(isNumbered && { sequence_number: number++ }),
      ...more,
    });
    const say = (text: string) => event(`response.${word}.delta`, { delta: inside(text) });
    const done = () => event(`response.${word}.done`, {});
    const endOfPart = () => {
      const over = done();
      part += 1;
      return over;
    };
    const between = [done, endOfPart, () => event('response.in_progress', { response: {} })];
    return { say, between, end: { type: 'response.completed', response: { model: textModel } } };
  });

const messages: fc.Arbitrary<Teller> = fc
  .tuple(memberOf('text'), fc.oneof(fc.constant('content_block_delta'), named('event')), named('delta'), named('note'))
  .map(([inside, type, kind, note]) => {
    let index = 0;
    return {
      say: (text) => ({ type, index, delta: { type: kind, ...inside(text) } }),
      between: [() => ({ type: 'content_block_stop', index: index++ }), () => ({ type: note })],
      end: { type: 'message_stop' },
    };
  });

test.each([
  ['chat', chat],
  ['responses', responses],
  ['messages', messages],
])('streams of %s whose members, keys, types and texts are names reveal none', (dialect, tellers) => {
  const breaks = fc.array(fc.array(fc.nat(), { maxLength: 4 }), { minLength: 1 });
  const property = fc.property(
    ...([
      tellers,
      pieces,
      fc.option(breaks),
      fc.boolean(),
      fc.boolean(),
      fc.array(fc.nat(), { maxLength: 2 }),
    ] as const),
    ({ say, between, end }, told, interruptions, isEscaped, hasEnd, offsets) => {
      const events = told.flatMap((piece, at) => {
        const turns = interruptions?.[at % interruptions.length] ?? [];
        return [say(piece), ...turns.map((turn) => [...between, () => say('')][turn % (between.length + 1)]?.() ?? {})];
      });
      if (hasEnd) events.push(end);
      const bytes = Buffer.from(events.map((event) => spell(event, isEscaped)).join(''));
      const cuts = offsets.map((offset) => offset % bytes.length).sort((a, b) => a - b);
      const { output } = rewriteStream(dialectNamed(dialect), bytes, cuts);
      expect(faultsIn(events, interruptions === null ? told.join('') : '', output)).toEqual([]);
    },
  );
  fc.assert(property, { numRuns: 400 });
});

function spell(event: object, isEscaped: boolean): string {
  const text = JSON.stringify(event);
  const escaped = (name: string) => `\\u00${name.charCodeAt(0).toString(16)}${name.slice(1)}`;
  const { type } = event as { type?: string };
  return `${type === undefined ? '' : `event: ${type}\n`}data: ${isEscaped ? text.replace(/acme/gi, escaped) : text}\n\n`;
}

/** What a client sees: nobody's name in any string, key or type, nor in what it puts together; and nothing in another shape. */
function faultsIn(events: readonly object[], whole: string, output: string): string[] {
  const faults: string[] = [];
  const texts = new Map<string, string>();
  const places = new Set(events.flatMap((event) => [...strings(event)].map(([place]) => scrubber.scrub(place))));
  for (const { type = '', value } of readEvents(output)) {
    if (findIdentity(type).length > 0) faults.push(`a name in the type ${type}`);
    for (const [place, text] of strings(value)) {
      const isLabel = /(^|[.\]])(type|id|object|role|model)$/.test(place) || /id$/.test(place);
      if (findIdentity(isLabel ? `${place} ${text}` : place).length > 0) faults.push(`a name at ${place}`);
      if (!places.has(place)) faults.push(`nothing came in at ${place}`);
      if (!isLabel) texts.set(place, (texts.get(place) ?? '') + text);
    }
  }
  for (const [place, text] of texts) {
    if (findIdentity(text).length > 0) faults.push(`a name comes together at ${place}`);
  }
  const isSaid = whole === '' || [...texts.values()].includes(scrubber.scrub(whole));
  return isSaid ? faults : [...faults, 'not all was said'];
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
