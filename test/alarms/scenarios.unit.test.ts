import { expect, test } from '@jest/globals';
import { type Alarm, type Figures, readAlarms, statesOf } from '../support/alarms.ts';
import { synthesizeStack } from '../support/stack.ts';

const { template, stack } = synthesizeStack();
const alarms = readAlarms(template.toJSON());

/** The gateway's own metrics, each with the same value this many times. */
const own = (count: number, values: Readonly<Record<string, number>>): Figures =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [`${stack.stackName} ${name}`, Array(count).fill(value)]),
  );
/** Metrics that Lambda counts for the gateway's function. */
const lambda = (count: number, ...names: readonly string[]): Figures =>
  Object.fromEntries(names.map((name) => [`AWS/Lambda ${name} FunctionName=GatewayFunction`, Array(count).fill(1)]));

function together(...all: readonly Figures[]): Figures {
  const labels = new Set(all.flatMap((one) => Object.keys(one)));
  return Object.fromEntries([...labels].map((label) => [label, all.flatMap((one) => one[label] ?? [])]));
}

const nothing: Figures = {};
const answered = (count: number, firstByte = 800) => own(count, { UpstreamFailedTries: 0, TimeToFirstByte: firstByte });
/** Answered in the end, each after a failed attempt. */
const answeredBySecond = (count: number, failure: string) =>
  together(answered(count), own(count, { UpstreamFailedTries: 1, [`UpstreamFailures Class=${failure}`]: 1 }));
const failed = (count: number, failure = 'unreachable') =>
  together(
    own(count, { UpstreamFailedTries: 1, [`UpstreamFailures Class=${failure}`]: 1, ErrorAnswers: 1 }),
    lambda(count, 'Url5xxCount'),
  );
const scanned = (count: number) => together(own(count, { ErrorAnswers: 1 }), lambda(count, 'Url4xxCount'));
const turnedAway = (count: number) => lambda(count, 'Url4xxCount');

interface Scenario {
  /** The data points of each period of the incident, repeated; and of the time before and after. */
  readonly trouble: readonly Figures[];
  readonly otherwise: readonly Figures[];
  /** In periods of five minutes. */
  readonly lasts?: number;
  /** The alarms that ring, with the period of the incident in which they start to. All others stay silent. */
  readonly rings: Readonly<Record<string, number>>;
}

const [busy, quiet, rare] = [[answered(300)], [answered(5)], [answered(1), nothing]];

const scenarios: Readonly<Record<string, Scenario>> = {
  'nobody at all': { trouble: [nothing], otherwise: [nothing], rings: {} },
  'a quiet night': { trouble: [answered(1), ...Array(5).fill(nothing)], otherwise: rare, rings: {} },
  'a busy day on which little goes wrong': {
    trouble: [
      together(answered(285), answered(5, 40_000), failed(2), answeredBySecond(1, 'limited'), scanned(100)),
      together(answered(285), answered(5, 40_000), failed(1), failed(1, 'missing'), scanned(100)),
    ],
    otherwise: busy,
    rings: {},
  },
  'the upstream is down, one request a minute': {
    ...{ trouble: [failed(5)], otherwise: quiet },
    rings: { UpstreamFailing: 2, UpstreamDown: 3 },
  },
  'the upstream is down, one request in ten minutes': {
    ...{ trouble: [failed(1), nothing], otherwise: rare },
    rings: { UpstreamDown: 5 },
  },
  'the upstream is down for three minutes within one period': {
    ...{ lasts: 1, trouble: [together(answered(120), failed(180))], otherwise: busy },
    rings: {},
  },
  'the upstream is down for three minutes between two periods': {
    ...{ lasts: 2, trouble: [together(answered(210), failed(90))], otherwise: busy },
    rings: { UpstreamFailing: 2 },
  },
  'one try in nine fails, sixty requests a minute': {
    ...{ trouble: [together(answered(264), failed(33))], otherwise: busy },
    rings: { UpstreamFailing: 2 },
  },
  'the first upstream is dead, the second serves, sixty requests a minute': {
    ...{ trouble: [answeredBySecond(300, 'unreachable')], otherwise: busy },
    rings: { UpstreamFailing: 2, UpstreamDown: 3 },
  },
  'one key of two is refused, the other serves, one request in ten minutes': {
    ...{ trouble: [answeredBySecond(1, 'credentials'), nothing], otherwise: rare },
    rings: { UpstreamCredentialsRefused: 1, UpstreamDown: 5 },
  },
  'the first upstream limits one request of sixty, the second serves': {
    ...{ trouble: [together(answered(295), answeredBySecond(5, 'limited'))], otherwise: busy },
    rings: { UpstreamLimited: 2 },
  },
  'the model is gone, one request a minute': {
    ...{ trouble: [failed(5, 'missing')], otherwise: quiet },
    rings: { UpstreamMissing: 2, UpstreamFailing: 2, UpstreamDown: 3 },
  },
  'the upstream is slow, one request a minute': {
    ...{ trouble: [answered(5, 45_000)], otherwise: quiet },
    rings: { UpstreamSlow: 3 },
  },
  'the table loses its answers': {
    ...{ lasts: 1, trouble: [together(answered(300), own(20, { ChargesLeftStanding: 1 }))], otherwise: busy },
    rings: { ChargesLeftStanding: 1 },
  },
  'one charge is left standing': {
    ...{ lasts: 1, trouble: [together(answered(5), own(1, { ChargesLeftStanding: 1 }))], otherwise: quiet },
    rings: {},
  },
  'the secret can’t be read, one request in five minutes': {
    ...{ trouble: [together(answered(1), own(1, { SecretsNotRefreshed: 1 }))], otherwise: [answered(1)] },
    rings: { SecretsNotRefreshed: 3 },
  },
  'AWS refuses every request, one a minute': { trouble: [turnedAway(5)], otherwise: quiet, rings: { UrlFailing: 2 } },
  'AWS refuses one request a minute, and scanners': {
    ...{ trouble: [together(scanned(500), turnedAway(5))], otherwise: [scanned(500)] },
    rings: { UrlFailing: 2 },
  },
  'the gateway is stopped on purpose, sixty requests a minute': {
    ...{ trouble: [together(own(300, { ErrorAnswers: 1 }), lambda(300, 'Url5xxCount'))], otherwise: busy },
    rings: {},
  },
  'the function does not start, one request a minute': {
    ...{ trouble: [lambda(5, 'Errors', 'Url5xxCount')], otherwise: quiet },
    rings: { FunctionErrors: 1, UrlFailing: 2 },
  },
  'Lambda throttles a third of sixty requests a minute': {
    ...{ trouble: [together(answered(200), lambda(100, 'Throttles', 'Url4xxCount'))], otherwise: busy },
    rings: { FunctionThrottled: 1, UrlFailing: 2 },
  },
};

const over = (pattern: readonly Figures[], periods: number): Figures[] =>
  Array.from({ length: periods }, (_, index) => pattern[index % pattern.length] ?? nothing);

/** The period of the incident in which it starts to ring; undefined if it does not. It must start once, and stop. */
function ringsIn(alarm: Alarm, { trouble, otherwise, lasts = 18 }: Scenario): number | string | undefined {
  const before = 24;
  const states = statesOf(alarm, [...over(otherwise, before), ...over(trouble, lasts), ...over(otherwise, before)]);
  const changes = states.flatMap((state, index) => (state === (states[index - 1] ?? false) ? [] : [index]));
  if (changes.length === 0) return undefined;
  const [first = 0] = changes;
  return changes.length === 2 && first >= before ? first + 1 - before : `changes in the periods ${changes}`;
}

test.each(Object.entries(scenarios))('%s', (_what, scenario) => {
  const rung = alarms.map((alarm) => [alarm.name, ringsIn(alarm, scenario)] as const);
  expect(Object.fromEntries(rung.filter(([, period]) => period !== undefined))).toEqual(scenario.rings);
});

const inScenarios = new Set(Object.values(scenarios).flatMap(({ rings }) => Object.keys(rings)));
const others = alarms.filter(({ name }) => !inScenarios.has(name));

test('each other alarm rings at its threshold and not below, and at once: otherwise it needs a scenario', () => {
  const wrong = others.filter((alarm) => {
    const [watched, ...more] = Object.values(alarm.watched);
    const steady = (value: number) => ({
      ...{ trouble: [{ [watched?.label ?? '']: [value] }], otherwise: [nothing] },
      rings: {},
    });
    const isPatient = alarm.times > 1 && alarm.seconds > 60;
    const atThreshold = ringsIn(alarm, steady(alarm.threshold));
    return isPatient || more.length > 0 || atThreshold !== alarm.times || ringsIn(alarm, steady(alarm.threshold - 1));
  });
  expect(wrong).toEqual([]);
});
