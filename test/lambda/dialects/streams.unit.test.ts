import { describe, expect } from '@jest/globals';
import type { Dialect } from '../../../lambda/dialects/dialect.ts';
import { type ClientEvent, joinTexts, parsePython, readComments, readEvents } from '../../support/client-view.ts';
import { dialectNames, loadFixtures, type StreamFixture } from '../../support/fixtures.ts';
import { dialectNamed, rewriteStream, scrubber } from '../../support/rewrite.ts';
import { testRows } from '../../support/test-rows.ts';
import { findIdentity } from '../../support/upstream-identity.ts';

const decode = (bytes: Uint8Array) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
const valuesOf = (events: readonly ClientEvent[]) => events.map(({ value }) => value);

/** Everything at a key of this name, at any depth, in order. */
function findAll(value: unknown, key: string): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [
    ...(name === key ? [member] : []),
    ...findAll(member, key),
  ]);
}

/** The numbers in a value, in order, without costs: everything in a usage that does not reveal the provider. */
function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value];
  if (typeof value !== 'object' || value === null) return [];
  const members = Object.entries(value).filter(([name]) => !/^cost(_details)?$/.test(name));
  return members.flatMap(([, member]) => numbersIn(member));
}

const isPing = ({ type, value }: ClientEvent) => type === 'ping' || Object(value).type === 'ping';

/** The shape of every event of a dialect, including the gateway's own. */
const assertValid: Record<string, (event: ClientEvent) => void> = {
  chat({ data, value }) {
    if (data === '[DONE]') return;
    expect(value).toMatchObject({ object: 'chat.completion.chunk', model: 'svc', choices: expect.any(Array) });
    for (const choice of Object(value).choices) {
      expect(choice).toMatchObject({ index: expect.any(Number), delta: expect.any(Object) });
      expect(choice).toHaveProperty('finish_reason');
    }
  },
  responses({ type, data, value }) {
    if (data === '[DONE]') return;
    expect(value).toMatchObject({ type: expect.any(String), sequence_number: expect.any(Number) });
    expect([undefined, Object(value).type]).toContain(type);
    if (!/output_text\.delta$/.test(Object(value).type)) return;
    const place = { output_index: expect.any(Number), content_index: expect.any(Number) };
    expect(value).toMatchObject({ ...place, item_id: expect.any(String), delta: expect.any(String) });
    expect(value).toHaveProperty('logprobs');
  },
  messages({ type, value }) {
    const { type: kind, delta, index } = Object(value);
    expect([undefined, kind]).toContain(type);
    if (kind !== 'content_block_delta') return;
    expect(typeof index).toBe('number');
    const member = { text_delta: 'text', thinking_delta: 'thinking', input_json_delta: 'partial_json' }[
      delta.type as string
    ];
    if (member) expect(delta).toEqual({ type: delta.type, [member]: expect.any(String) });
  },
};

interface Walk {
  readonly dialect: Dialect;
  readonly fixture: StreamFixture;
  /** What the upstream sent, and what the client reads. */
  readonly given: readonly ClientEvent[];
  readonly events: readonly ClientEvent[];
  readonly rewritten: ReturnType<typeof rewriteStream>;
}

function isTheSameHoweverItIsCut({ dialect, fixture: { bytes }, rewritten }: Walk): void {
  for (let first = 0; first < 7; first += 1) {
    const cuts = [...bytes.keys()].filter((at) => at % 7 === first);
    expect(rewriteStream(dialect, bytes, cuts).output).toBe(rewritten.output);
  }
}

function leavesWithTheByteThatCompletesIt({ dialect, fixture, given, events, rewritten }: Walk): void {
  const { bytes, plainError } = fixture;
  const { pieces, output } = rewriteStream(dialect, bytes, [...bytes.keys()].slice(1));
  expect(output).toBe(rewritten.output);
  const text = decode(bytes);
  let [expected, left, at] = [0, 0, 0];
  for (const event of given) {
    // Nothing follows once a stream has failed or ended.
    if (plainError || Object(event.value).error || (expected > 0 && left === events.length)) break;
    const end = Buffer.byteLength(text.slice(0, event.end).replace(/((\r\n|\r|\n)(\r\n|\r|\n))[\r\n]*$/, '$1'));
    left += readEvents(pieces.slice(at, end).join('')).length;
    at = end;
    if (!(isPing(event) && expected === 0)) expected += 1;
    expect(left).toBeGreaterThanOrEqual(expected);
  }
}

function endsAsTheUpstreamEnded({ fixture: { terminal, plainError }, rewritten: { output, rewriter } }: Walk): void {
  expect(rewriter.started).toBe(!plainError);
  expect(rewriter.ended).toBe(terminal === 'end');
  expect(rewriter.failure?.kind).toBe(terminal === 'failure' ? 'reported' : undefined);
  if (plainError) expect(output).toBe('');
}

function isValid({ dialect, fixture: { plainError }, events, rewritten: { rewriter } }: Walk): void {
  for (const event of events) assertValid[dialect.name]?.(event);
  const sequence = valuesOf(events).flatMap((value) => Object(value).sequence_number ?? []);
  expect(sequence).toEqual(sequence.map((_, index) => index));
  if (sequence.length > 0) expect(rewriter.nextSequence()).toBe(sequence.length);
  expect(new Set(findAll(valuesOf(events), 'model'))).toEqual(new Set(events.length > 0 && !plainError ? ['svc'] : []));
}

function revealsNobody({ fixture: { bytes }, events, rewritten: { output } }: Walk): void {
  if (bytes.length > 0) expect(findIdentity(decode(bytes))).not.toEqual([]);
  expect(findIdentity(output)).toEqual([]);
  for (const text of joinTexts(valuesOf(events)).values()) expect(findIdentity(text)).toEqual([]);
  expect(new Set(readComments(output))).toEqual(new Set(readComments(output).length > 0 ? [': keep-alive'] : []));
  for (const key of ['provider', 'system_fingerprint', 'native_finish_reason', 'x_acmecorp']) {
    expect(findAll(valuesOf(events), key)).toEqual([]);
  }
}

/** A stream that ended has all ciphertext and calls. One that failed may be cut short. */
function leavesWhatProgramsRead({ fixture: { terminal }, given, events }: Walk): void {
  const exempt = (all: readonly ClientEvent[]) =>
    [...joinTexts(valuesOf(all))].filter(([, text]) => text.includes('EXEMPT'));
  if (terminal === 'end') expect(exempt(events)).toEqual(exempt(given));
}

function keepsEveryCountOfTokens({ fixture: { terminal }, given, events, rewritten: { usage } }: Walk): void {
  const counts = (all: readonly ClientEvent[]) =>
    valuesOf(all)
      .flatMap((value) => findAll(value, 'usage'))
      .filter((one) => one !== null)
      .map(numbersIn);
  if (terminal === 'failure' || counts(given).length === 0) return;
  expect(counts(events)).toEqual(counts(given));
  if (terminal === 'end') expect(usage).toMatchObject({ input: expect.any(Number), output: expect.any(Number) });
}

/** Skips fixtures with a name that is split across two blocks, which scrubbing each block by itself would not find. */
function saysAllThatWasSaid({ fixture: { name, terminal }, given, events }: Walk): void {
  if (terminal === 'failure' || /^(halves|starts-with)/.test(name)) return;
  const said = (all: readonly ClientEvent[]) =>
    [...joinTexts(valuesOf(all))].filter(([path]) => /(content|refusal|reasoning|delta|text|thinking)$/.test(path));
  const hide = (text: string) => (text.includes('EXEMPT') ? text : scrubber.scrub(text));
  expect(said(events)).toEqual(said(given).map(([path, text]) => [path, hide(text)]));
}

const written = /^(content|refusal|reasoning|reasoning_content|delta|text|thinking|summary|transcript)$/;

/** When names in generated text are shown, that text arrives unchanged, and nothing else reveals the provider. */
function hidesAllButTheText({ dialect, fixture: { bytes, terminal }, given }: Walk): void {
  const { output } = rewriteStream(dialect, bytes, [], {}, { showsGenerated: true });
  const events = valuesOf(readEvents(output));
  const said = (all: readonly unknown[]) =>
    [...joinTexts(all)].filter(([path]) => written.test(lastStep(path)) && !path.includes('annotations'));
  if (terminal !== 'failure') expect(said(events)).toEqual(said(valuesOf(given)));
  const others = JSON.stringify(events, (key, value) =>
    key === 'logprobs' || (written.test(key) && typeof value === 'string') ? undefined : value,
  );
  expect(findIdentity(others)).toEqual([]);
}

const lastStep = (path: string) => path.slice(path.lastIndexOf('.') + 1);

describe.each(dialectNames)('a stream of %s is rewritten well:', (name) => {
  const dialect = dialectNamed(name);
  const fixtures = loadFixtures(name).filter((one): one is StreamFixture => one.kind === 'stream');

  testRows(fixtures.map((one) => [one.name, one] as const))('each recorded stream', (_, fixture) => {
    const rewritten = rewriteStream(dialect, fixture.bytes);
    const given = readEvents(decode(fixture.bytes), parsePython);
    const walk = { dialect, fixture, given, events: readEvents(rewritten.output), rewritten };
    isTheSameHoweverItIsCut(walk);
    leavesWithTheByteThatCompletesIt(walk);
    endsAsTheUpstreamEnded(walk);
    isValid(walk);
    revealsNobody(walk);
    leavesWhatProgramsRead(walk);
    keepsEveryCountOfTokens(walk);
    saysAllThatWasSaid(walk);
    hidesAllButTheText(walk);
  });
});
