import { silence, until } from '../../local/upstream/script.ts';
import { type FakeUpstream, startFakeUpstream } from '../support/fake-upstream.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { createRandom, type Random } from '../support/random.ts';
import type { SpoilStore, StoreFault } from '../support/store-proxy.ts';
import { waitUntil } from '../support/wait-until.ts';
import { createCallers, drawBudget } from './callers.ts';
import { type Case, caseIn, drawCase } from './cases.ts';
import { createClient, type Sending } from './client.ts';
import { compareTable } from './compare-table.ts';
import { createLedger, type Delivered, PRICES } from './ledger.ts';
import { createRules, type Limits, networkOf } from './rules.ts';
import { readOnOf } from './verdict.ts';
import { isForBudget, judgeWave, type Lost, type Outcome } from './wave.ts';

interface Summary {
  readonly requests: number;
  readonly waves: number;
  /** How often each response occurred: `200`, `429 quota_exceeded` … */
  readonly answers: Readonly<Record<string, number>>;
  readonly counters: number;
  /** How many budget periods were compared, and what all answers cost, in millionths. */
  readonly budgets: number;
  readonly cost: number;
  /** The cost of complete answers by what upstreams reported, and by the gateway's log. */
  readonly reported: number;
  readonly spent: number;
  readonly faults: readonly string[];
}

const day = 86_400_000;

/** Faults that the store's client recovers from if its third attempt succeeds. */
const storeFaults: readonly StoreFault[] = ['request lost', 'answer lost', 'failing', 'late'];

/** Runs random requests, some of them over a store that loses requests and responses. */
export async function runModel(seed: number, requests: number): Promise<Record<string, Summary>> {
  const random = createRandom(seed);
  const spoilStore: SpoilStore = ({ attempt }) =>
    attempt < 3 && random.once(4) ? random.pick(storeFaults) : undefined;
  const few = Math.round(requests / 10);
  const [sound, spoilt] = await Promise.all([
    runTrack(requests - few, seed * 10, 50),
    // Each request has a timeout, so a crowd must not exceed what a busy machine serves within it.
    runTrack(few, seed * 10 + 1, 10, spoilStore),
  ]);
  return { 'a store that works': sound, 'a store that loses what it is told and what it says': spoilt };
}

/** Sends random requests in waves of at most `crowd`, and checks each response, and finally each counter, against the rules. */
async function runTrack(requests: number, seed: number, crowd: number, spoilStore?: SpoilStore): Promise<Summary> {
  const random = createRandom(seed);
  const clock = { time: Date.UTC(2026, 10, 21, random.below(24), random.below(60)) };
  const limits: Limits = {
    guest: 3,
    guestWindow: random.pick(['lifetime', 'daily']),
    member: 50,
    burst: 20,
    budget: random.once(2) ? drawBudget(random) : undefined,
  };
  // Global counters are not idempotent: a store that loses responses may add twice.
  const sumsAll = spoilStore === undefined;
  const rules = createRules(limits);
  const ledger = createLedger();
  await using second = await startFakeUpstream();
  await using gateway = await startTestGateway({
    // Alternates, so that both are checked.
    engine: seed % 2 === 0 ? 'web' : 'function-url',
    environment: {
      ...settings(limits, second),
      ...(sumsAll && { SPEND_LIMIT: '1000000' }),
    },
    now: () => clock.time,
    ...(spoilStore && { spoilStore }),
  });
  const outcomes = new Map<number, Outcome>();
  const hasBudget = ({ caller }: Case) => {
    const account = rules.identify(caller, clock.time);
    return typeof account !== 'string' && account.budget !== undefined;
  };
  for (const [number, upstream] of [gateway.upstream, second].entries()) play(upstream, number, outcomes, hasBudget);
  const settled = watchEnds(gateway);
  const client = createClient(gateway.url);
  const callers = await createCallers({ keys: gateway.keys, rules, random, clock });
  const judge = judgeWave(rules, ledger);
  const answers: Record<string, number> = {};
  const faults: string[] = [];
  let sent = 0;
  let waves = 0;

  while (sent < requests && faults.length === 0) {
    if (random.once(6)) {
      await callers.administer();
      // Takes effect everywhere within a minute.
      clock.time += 60_000;
    }
    clock.time += passTime(clock.time, random);
    const size = Math.min(requests - sent, random.once(4) ? 1 : 1 + random.below(crowd));
    const someone = callers.draw();
    const crowded = random.once(2);
    const wave = Array.from({ length: size }, (_, index) =>
      drawCase(sent + index, crowded && !random.once(5) ? someone : callers.draw(), random),
    );
    for (const one of wave) outcomes.set(one.id, newOutcome(one));
    sent += size;
    waves += 1;
    await Promise.all(wave.map(({ id }) => sendCase(client, outcomes.get(id))));
    const { lost, unexplained } = await settled(sent);
    faults.push(...unexplained);
    const results = wave.flatMap(({ id }) => outcomes.get(id) ?? []);
    faults.push(...judge(results, clock.time, lost));
    outcomes.clear();
    for (const { answer } of results) {
      const said = answer ? `${answer.status} ${answer.headers['x-svc-error'] ?? ''}`.trim() : 'client left';
      const name = isForBudget(answer) ? `${said} for its budget` : said;
      answers[name] = (answers[name] ?? 0) + 1;
    }
  }
  client.close();
  const differences = await compareTable(gateway, { rules, ledger, sumsAll, time: clock.time });
  if (faults.length === 0) faults.push(...differences);
  faults.push(...gateway.faults.map(String));
  const cost = [...ledger.days().values()].reduce((sum, one) => sum + one, 0);
  const compared = { counters: rules.counted().length, budgets: ledger.accounts().length, cost };
  const { reported, unreported } = ledger.bill();
  const logged = gateway.log.reduce((sum, { cost = 0 }) => sum + Math.round(Number(cost) * 1_000_000), 0);
  return { requests: sent, waves, answers, ...compared, reported, spent: logged - unreported, faults };
}

const newOutcome = (one: Case): Outcome => ({
  ...{ one, tries: [], answer: undefined, reported: undefined, leave: () => {} },
  left: Promise.withResolvers<unknown>(),
});

function settings(limits: Limits, second: FakeUpstream): Record<string, string> {
  return {
    GUEST_LIMIT: String(limits.guest),
    GUEST_WINDOW: limits.guestWindow,
    MEMBER_LIMIT: String(limits.member),
    BURST_LIMIT: String(limits.burst),
    PRICES,
    ...(limits.budget && {
      MEMBER_BUDGET: (limits.budget.amount / 1_000_000).toFixed(6),
      MEMBER_BUDGET_WINDOW: limits.budget.window,
    }),
    UPSTREAM_2_BASE_URL: second.url,
    UPSTREAM_2_TEXT_MODEL: 'acmecorp/thunder-8b',
    UPSTREAM_2_VISION_MODEL: 'acmecorp/thunder-8b-eyes',
    UPSTREAM_2_API_KEYS: 'upstream-key-two',
  };
}

function play(
  upstream: FakeUpstream,
  number: number,
  outcomes: Map<number, Outcome>,
  hasBudget: (one: Case) => boolean,
): void {
  upstream.otherwise(({ body }) => {
    const outcome = outcomes.get(caseIn(body));
    const planned = outcome?.one.plan[number];
    if (!outcome || !planned) return [];
    outcome.tries.push(number);
    if (planned.clientLeaves === 'asked') outcome.leave();
    const readOn = readOnOf(planned, hasBudget(outcome.one));
    // If nobody reads on, the last step is silence.
    const begun = readOn ? planned.script.filter((step) => step !== silence) : planned.script;
    const report = () => {
      outcome.reported = countsOf(readOn?.delivered ?? planned.delivered);
    };
    return readOn ? [...begun, until(outcome.left.promise), ...readOn.script, report] : [...begun, report];
  });
}

/** The token counts of an answer that an upstream sent to the end. */
function countsOf(delivered: Delivered | undefined): Delivered | undefined {
  const { input = 0, output = 0, isWhole } = delivered ?? {};
  return isWhole && input > 0 ? { input, output, isWhole } : undefined;
}

/** A preflight, from an address that no caller has. */
const preflight: Sending = {
  ...{ method: 'OPTIONS', path: '/v1/models', from: '127.0.0.1' },
  headers: { 'access-control-request-method': 'POST' },
};

/** When a client disconnects, by what has arrived of its answer. */
const moments = { answered: /./, finished: /"finish_reason":"/ };

async function sendCase(client: ReturnType<typeof createClient>, outcome: Outcome | undefined): Promise<void> {
  if (!outcome) return;
  const { one, tries } = outcome;
  const sending = client.send(one.sending, (leave, onText) => {
    outcome.leave = () => {
      leave();
      // The gateway gets this after it has noticed that the client disconnected.
      client.send(preflight).then(outcome.left.resolve, outcome.left.resolve);
    };
    for (const [moment, pattern] of Object.entries(moments)) {
      onText(pattern, () => {
        if (one.plan[tries.at(-1) ?? -1]?.clientLeaves === moment) outcome.leave();
      });
    }
  });
  outcome.answer = await sending.catch((cause) => {
    throw new Error(`case ${one.id} got no answer: ${JSON.stringify(one)}`, { cause });
  });
}

/** Some seconds, or until the next minute, the last moment of the day or midnight, or up to a day. */
function passTime(time: number, random: Random): number {
  const dice = random.below(20);
  if (dice < 12) return random.below(15_000);
  if (dice < 16) return 60_000 - (time % 60_000);
  if (dice < 18) return day - 1 - (time % day);
  return dice === 18 ? day - (time % day) : random.below(day);
}

const lostIn: Readonly<Record<string, keyof Lost>> = {
  'charge left standing': 'refunds',
  'budget left standing': 'settlements',
  'figures not read': 'reads',
};

/** Waits until this many requests have ended in the log. Returns what the store has lost meanwhile. */
function watchEnds({ log }: TestGateway) {
  let read = 0;
  let ended = 0;
  return async (requests: number) => {
    const lost: { -readonly [Name in keyof Lost]: Lost[Name] } = { refunds: 0, settlements: 0, reads: 0 };
    const unexplained: string[] = [];
    const allEnded = () => {
      for (; read < log.length; read += 1) {
        const { message, cause, ...rest } = log[read] ?? {};
        if (rest.network === networkOf(preflight.from)) continue;
        if (/^(answered|refused)$/.test(String(message))) ended += 1;
        const kind = lostIn[String(message)];
        if (kind === undefined) continue;
        lost[kind] += 1;
        // The store lost the response, or was too slow on a busy machine.
        if (!/^(NoAnswer|TooSlow)$/.test(String(cause)))
          unexplained.push(`${message}: ${cause} ${JSON.stringify(rest)}`);
      }
      return ended >= requests;
    };
    await waitUntil(allEnded, `${requests} requests have said how they ended`);
    return { lost, unexplained };
  };
}
