import { dialectNames } from '../support/fixtures.ts';
import { createRandom, type Random } from '../support/random.ts';
import {
  type CallerPlan,
  completed,
  type Outage,
  type Plan,
  type RequestPlan,
  type StoreFault,
  type Turn,
} from './plan.ts';

/** The plan of the world with this number, in a run of this seed. Most of what may happen doesn't, in most worlds. */
export function drawPlan(seed: number): Plan {
  const random = createRandom(seed);
  const rarely = <T extends object>(times: number, draw: () => T): T | Record<string, never> =>
    random.once(times) ? draw() : {};
  const windows = createRandom(seed ^ 0x165667b1);
  const callers = Array.from({ length: 1 + random.below(3) }, () => drawCaller(random, windows));
  // Of sequences of their own, so that all else stays as it is.
  const recording = createRandom(seed ^ 0x5bd1e995);
  const place = createRandom(seed ^ 0x2c1b3c6d);
  const others = createRandom(seed ^ 0x7f4a7c15);
  const forGuests = drawForGuests(createRandom(seed ^ 0x3c6ef372));
  // One, in most worlds: whatever a single request shows is found sooner.
  const requests = Array.from({ length: 1 + random.below(1 + random.below(3)) }, () => ({
    ...drawRequest(random, callers.length),
    ...(recording.once(8) && { recorded: 1 + recording.below(1_000) }),
    ...(place.once(3) && { connection: 'kept' as const }),
    ...(others.once(12) && drawVectors(others)),
  }));
  return completed({
    seed,
    engine: random.once(3) ? 'function' : 'web',
    latency: 1 + random.below(20),
    storeLatency: 1 + random.below(20),
    callers,
    requests,
    ...rarely(8, () => ({ untilMidnight: random.below(3_000) })),
    settings: { ...rarely(2, () => drawSettings(random)), ...forGuests },
    ...rarely(3, () => ({ upstreams: 2 })),
    ...rarely(3, () => ({ keys: 2 })),
    ...rarely(3, () => ({ speaks: random.pick(['chat', 'messages'] as const) })),
    ...rarely(6, () => ({ signs: true })),
    ...rarely(6, () => ({ outages: [drawOutage(random)] })),
    ...rarely(4, () => ({ storeFaults: Array.from({ length: 1 + random.below(3) }, () => drawStoreFault(random)) })),
    ...rarely(5, () => ({ stopsAt: random.below(600), grace: random.pick([0, 50, 300]) })),
    ...rarely(20, () => ({ threads: random.pick(['dies', 'hangs'] as const) })),
    ...rarely(20, () => ({ diesAt: random.below(600) })),
    ...(place.once(3) && { store: 'sqlite' }),
  });
}

function drawCaller(random: Random, windows: Random): Partial<CallerPlan> {
  const kind = random.pick([
    'member',
    'member',
    'member',
    'guest',
    'guest',
    'own limit',
    'budget',
    'budget',
    'unknown key',
    'no key',
  ] as const);
  return {
    ...(kind !== 'member' && { kind }),
    ...(random.once(3) && { who: random.below(2) }),
    ...(kind === 'own limit' && { limit: random.below(3) }),
    ...(kind === 'budget' && random.once(3) && { budget: 500 + random.below(3_000) }),
    ...(kind === 'budget' && windows.once(3) && { budgetWindow: windows.pick(['week', 'month'] as const) }),
    ...(kind === 'member' && random.once(6) && { used: 48 + random.below(3) }),
  };
}

function drawRequest(random: Random, callers: number): Partial<RequestPlan> {
  const dialect = random.pick(dialectNames);
  const stream = !random.once(3);
  const isLong = random.once(30);
  return {
    ...(random.once(2) && { at: random.below(400) }),
    caller: random.below(callers),
    ...(dialect !== 'chat' && { dialect }),
    ...(stream && { stream }),
    ...(random.once(12) && {
      asks: random.pick(['for a count', 'for models', 'for usage', 'for nothing known'] as const),
    }),
    ...(random.once(12) && {
      wrong: random.pick(['json', 'model', 'image', 'encoding', 'no model', 'gzip cut'] as const),
    }),
    ...(random.once(8) && { gzip: true }),
    ...(random.once(8) && { pieces: random.pick(['bytes', 'odd'] as const) }),
    ...(random.once(10) && { padding: random.pick([100, 3_000, 70_000]) }),
    ...(dialect === 'chat' && random.once(6) && { choices: 2 }),
    ...(random.once(4) && { wantsUsage: true }),
    ...(random.once(8) && { leavesAfter: random.below(500) }),
    ...(random.once(12) && { leavesAt: random.below(2_000) }),
    ...(isLong && stream && { pausesAt: random.below(40_000), pauses: random.pick([50, 400, 5_000, 5_000, 40_000]) }),
    turns: Array.from({ length: 1 + random.below(3) }, () => drawTurn(random, isLong)),
  };
}

/** Many, now and then, for a client that does not read at once. */
function drawVectors(random: Random): Partial<RequestPlan> {
  const slowly = () => ({
    pausesAt: random.below(40_000),
    pauses: random.pick([400, 5_000, 40_000]),
    turns: [drawTurn(random, true)],
  });
  return { asks: 'for vectors', ...(random.once(12) && slowly()) };
}

const failures = [400, 401, 402, 403, 404, 408, 413, 422, 429, 500, 502, 503, 529];

function drawTurn(random: Random, isLong: boolean): Partial<Turn> {
  return {
    speech: random.below(1_000_000),
    words: isLong ? 16 + random.below(4) : 1 + random.below(8),
    ...(isLong && { wordSize: 40_000 }),
    ...(random.once(5) && { status: random.pick(failures) }),
    ...(random.once(3) && { thinks: random.pick([0, 1, 300, 2_000, 17_000]) }),
    ...(random.once(3) && { gap: random.pick([0, 1, 100, 9_000]) }),
    ...(random.once(7) && {
      says: random.pick([
        'nothing',
        'garbage',
        'a page',
        'an error',
        'a failure midway',
        'no end',
        'one choice less',
        'one choice more',
      ] as const),
    }),
    ...(random.once(8) && { fixture: 1 + random.below(1_000) }),
    ...(random.once(8) && { comments: 1 + random.below(3) }),
    ...(random.once(4) && { reasons: true }),
    ...(random.once(5) && { calls: true }),
    ...(random.once(6) && { reports: random.pick(['zeros', 'nothing'] as const) }),
    ...(random.once(3) && { pieces: random.pick(['joined', 'bytes', 'odd'] as const) }),
    ...(random.once(5) && { framing: random.pick(['length', 'end', 'too long', 'gzip'] as const) }),
    ...(random.once(5) && { stopsAfter: random.below(12), stops: random.pick(['end', 'reset', 'silence'] as const) }),
    ...(isLong &&
      random.once(2) && { gap: 60, stopsAfter: 14 + random.below(4), stops: random.pick(['end', 'reset'] as const) }),
    ...(random.once(10) && { retryAfter: random.below(100) }),
    ...(random.once(8) && { closes: true }),
  };
}

function drawForGuests(random: Random): Record<string, string> {
  return {
    ...(random.once(6) && { GUEST_WINDOW: 'daily' }),
    ...(random.once(8) && { GUEST_DAILY_LIMIT: random.pick(['1', '2']) }),
  };
}

const drawOutage = (random: Random): Outage => ({
  upstream: random.below(2),
  from: random.below(300),
  until: random.pick([300, 600, 100_000]),
  how: random.pick(['refused', 'silent'] as const),
});

const drawStoreFault = (random: Random): StoreFault => ({
  call: random.below(8),
  kind: random.pick(['lost before', 'lost after', 'failing', 'throttled', 'slow'] as const),
  tries: 1 + random.below(3),
});

/** None changes what is promised; together with the rest they decide when and in which words. */
function drawSettings(random: Random): Record<string, string> {
  return {
    ...(random.once(2) && { REQUEST_TIMEOUT: random.pick(['2', '20']) }),
    ...(random.once(2) && { UPSTREAM_IDLE_TIMEOUT: random.pick(['1', '8']) }),
    ...(random.once(2) && { KEEP_ALIVE_INTERVAL: random.pick(['0.2', '5']) }),
    ...(random.once(3) && { UPSTREAM_FIRST_EVENT_TIMEOUT: '1' }),
    ...(random.once(3) && { REFUND_REFUSALS: 'true' }),
    ...(random.once(3) && { UPSTREAM_STREAM_USAGE: 'true' }),
    ...(random.once(4) && { DAILY_LIMIT: random.pick(['1', '5']) }),
    ...(random.once(4) && { SPEND_LIMIT: '100' }),
    ...(random.once(4) && { BURST_LIMIT: random.pick(['1', '2']) }),
    ...(random.once(4) && { UPSTREAM_CALLER_IDS: 'hash' }),
    ...(random.once(5) && { GUEST_LIMIT: random.pick(['0', '1']) }),
    ...(random.once(5) && { RATE_LIMIT_HEADERS: 'true' }),
  };
}
