import { preflightOf } from './answers.ts';
import { countTokensPath, messagesProbe, whoAreYou } from './dialect-probes.ts';
import { bearer, get, type ProbeRequest, post } from './probe.ts';
import type { ExpectedLimits, Figures, IssueCommand, Measurement } from './quota.ts';
import { type Finding, fail, note, ok, untested } from './report.ts';
import { type Check, type Run, shared } from './run.ts';

/** The checks of the quota, whose measurements are those of all answers so far, and of requests that cost nothing. */
export function quotaChecks(run: Run, cost: number): readonly Check[] {
  const { charged, guestBefore, issueCommand, limits } = run;
  /** Asks for one more answer if a count looks wrong. */
  const answers = shared(async () => {
    const suspect = findSuspect(charged.measurements);
    if (suspect) await charged.measure(suspect.request);
    return charged.measurements;
  });
  const guestAfter = shared(() => run.createMeter().read());
  const free = shared(() => askForFree(run));
  const figures = async () => {
    const { key, guest } = await free();
    const inAll = ({ before, stated, after }: Measurement) => [before, stated, after];
    return {
      key: [...charged.measurements.flatMap(inAll), ...key.flatMap(({ before, after }) => [before, after])],
      guest: [guestBefore, await guestAfter(), ...guest.flatMap(inAll)],
    };
  };
  /** There is nothing to measure where nobody is served without a key. */
  const ofGuests = (look: () => Promise<Finding>) => async () =>
    guestBefore.limit === 0 ? note('there are no guests') : look();
  return [
    ['each answer is charged once', async () => checkCharges(await answers(), issueCommand)],
    ['failures are refunded', async () => checkRefunds(await answers(), issueCommand)],
    ['headers agree', async () => checkStated(await answers())],
    ['a guest is counted apart', ofGuests(async () => checkGuestApart(guestBefore, await guestAfter(), cost))],
    ['nothing else for a key', async () => checkFree((await free()).key, issueCommand)],
    ['nothing else for a guest', ofGuests(async () => checkFree((await free()).guest, issueCommand))],
    ['the limit of the key', async () => checkKeyLimit((await figures()).key, (await figures()).guest, limits)],
    ['the limit of a guest', async () => checkGuestLimit((await figures()).guest, limits)],
  ];
}

/** The free requests, each sent twice: on the key's quota, and on that of this network's guest. */
async function askForFree({ createMeter, key, models: [model], origin }: Run) {
  const headers = bearer(key);
  const count = (id: string) => post(countTokensPath, headers, messagesProbe.question(id, whoAreYou));
  const ofKey: readonly ProbeRequest[] = [
    ...[get(`/v1/models/${model}`, headers), count(model), count('none'), get('/v1/none', headers)],
    { method: 'HEAD', path: '/v1/responses', headers },
  ];
  const [keyMeter, guestMeter] = [createMeter(key), createMeter()];
  for (const request of ofKey) await keyMeter.measure(request, 2);
  for (const request of [preflightOf(origin), post('/v1/responses', {}, {})]) await guestMeter.measure(request, 2);
  return { key: keyMeter.measurements, guest: guestMeter.measurements };
}

const others = (issueCommand: IssueCommand) =>
  `others use this quota too; run it with a key that has a limit of its own (${issueCommand(100)})`;
const restart = 'its window restarted meanwhile; run it again';

const taken = ({ before, after }: Measurement) => before.remaining - after.remaining;
const restarted = ({ before, after }: Measurement) => after.reset > before.reset;
const answered = (entries: readonly Measurement[]) => entries.filter(({ status }) => status === 200);

/** The quota used between one entry and the next, when nothing that costs was asked. */
function idleDrops(entries: readonly Measurement[]): readonly number[] {
  const pairs = entries.slice(1).map((entry, index) => [entries[index], entry] as const);
  return pairs.map(([last, next]) => (last?.after.remaining ?? Number.NaN) - next.before.remaining);
}

const isQuiet = (entries: readonly Measurement[]) => idleDrops(entries).every((drop) => drop === 0);

/** An answer that cost more than one: the gateway charged it twice, or somebody else was charged at the same time. */
export const findSuspect = (entries: readonly Measurement[]) => answered(entries).find((entry) => taken(entry) > 1);

/** Whether each answer cost one. The gateway gets the blame only for what happens every time. */
export function checkCharges(entries: readonly Measurement[], issueCommand: IssueCommand): Finding {
  const answers = answered(entries);
  const [last] = answers.slice(-1);
  if (!last) return untested('there was no answer that could be charged');
  const sum = answers.reduce((all, entry) => all + taken(entry), 0);
  if (Number.isNaN(sum)) return fail('the gateway does not report what is left');
  if (answers.some(restarted)) return untested(restart);
  const facts = `${sum} charged for ${answers.length} answers, ${last.after.remaining} of ${last.after.limit} left`;
  if (answers.every((entry) => taken(entry) === 1)) return ok(facts);
  if (!isQuiet(entries)) return untested(`${facts}: ${others(issueCommand)}`);
  const lacking = answers.find((entry) => taken(entry) < 1);
  if (lacking) return fail(`${facts}: ${lacking.title} is not charged`);
  const overcharged = [...Map.groupBy(answers, ({ title }) => title), ['each answer', answers] as const].find(
    ([, ofKind]) => ofKind.length > 1 && ofKind.every((entry) => taken(entry) > 1),
  );
  return overcharged
    ? fail(`${facts}: ${overcharged[0]} is charged more than once`)
    : untested(`${facts}: ${others(issueCommand)}`);
}

/** Whether failures were refunded: a body too large once unpacked, any failure of the upstream. */
export function checkRefunds(entries: readonly Measurement[], issueCommand: IssueCommand): Finding {
  const failed = entries.filter(({ status }) => status === 413 || status >= 500);
  if (failed.length === 0) return untested('no charged request failed; run it while the upstream is down');
  if (failed.some(restarted)) return untested(restart);
  const kept = failed.find((entry) => taken(entry) !== 0);
  if (!kept) return ok(`${failed.length} failed`);
  return isQuiet(entries)
    ? fail(`${kept.title} answered ${kept.status}, and was charged`)
    : untested(others(issueCommand));
}

export function checkFree(entries: readonly Measurement[], issueCommand: IssueCommand): Finding {
  const idle = idleDrops(entries);
  if (idle.length > 1 && idle.every((drop) => drop > 0)) return fail('reading the quota (GET /v1/models) is charged');
  if (entries.some(restarted)) return untested(restart);
  if (entries.some((entry) => Number.isNaN(taken(entry)))) return fail('the gateway does not report what is left');
  if (entries.some(({ before, times }) => before.remaining < times))
    return untested('too little is left to see it fall');
  if (entries.every((entry) => taken(entry) === 0)) return ok(`${entries.length} kinds of requests`);
  const charged = isQuiet(entries) ? entries.find((entry) => taken(entry) >= entry.times) : undefined;
  return charged ? fail(`${charged.title} is charged`) : untested(others(issueCommand));
}

/** Whether the headers of each answer fit the quota left before and after it, even if others use it too. */
export function checkStated(entries: readonly Measurement[]): Finding {
  const answers = answered(entries).filter((entry) => !restarted(entry));
  if (answers.length === 0) return untested('there was no answer that could be compared');
  const wrong = answers.find(({ before, stated, after }) => {
    return !(stated.remaining >= after.remaining && stated.remaining <= before.remaining - 1);
  });
  if (!wrong) return ok(`in ${answers.length} answers`);
  const { title, before, stated, after } = wrong;
  return fail(
    `${title} says that ${stated.remaining} are left: ${before.remaining} were before it, ${after.remaining} after`,
  );
}

/** Whether the key's limit is a possible one. If the key has its own limit, the operator must name it. */
export function checkKeyLimit(key: readonly Figures[], guest: readonly Figures[], expected: ExpectedLimits): Finding {
  const fault = findFault(key) ?? findResetFault(key);
  if (fault !== undefined) return fail(fault);
  const limit = key[0]?.limit ?? Number.NaN;
  if (expected.key !== undefined) {
    return limit === expected.key ? ok(`${limit} a day`) : fail(`it is ${limit}, and not ${expected.key}`);
  }
  const meant = expected.member.includes(limit);
  if (guest[0]?.limit === limit && !(meant && expected.guest.includes(limit))) {
    return fail(`it is ${limit}, and a guest's too: where both are meant, say --limit ${limit}`);
  }
  if (meant) return ok(`${limit} a day`);
  return untested(
    `it is ${limit}, and a member's ${expected.member.join(' or ')}; say --limit ${limit} if that is the key's own`,
  );
}

export function checkGuestLimit(guest: readonly Figures[], { guest: expected, certain }: ExpectedLimits): Finding {
  const fault = findFault(guest);
  if (fault !== undefined) return fail(fault);
  const limit = guest[0]?.limit ?? Number.NaN;
  if (expected.includes(limit)) return ok(`${limit}`);
  const facts = `it is ${limit}, and not ${expected.join(' or ')}`;
  return certain ? fail(facts) : untested(`${facts}; name the settings with --stage`);
}

function findFault(figures: readonly Figures[]): string | undefined {
  const [first] = figures;
  if (!first || figures.some(({ limit, remaining }) => Number.isNaN(limit + remaining))) return 'there is none';
  const other = figures.find(({ limit }) => limit !== first.limit);
  if (other) return `it is ${first.limit} in one answer, and ${other.limit} in another`;
  const exceeded = figures.find(({ limit, remaining }) => remaining > limit);
  return exceeded ? `it is ${exceeded.limit}, and ${exceeded.remaining} are left` : undefined;
}

const day = 86_400;

function findResetFault(figures: readonly Figures[]): string | undefined {
  const wrong = figures.find(({ reset }) => !(reset >= 0 && reset <= day));
  if (!wrong) return undefined;
  return Number.isNaN(wrong.reset)
    ? 'nothing says when it restarts'
    : `it restarts in ${wrong.reset} s, which is more than a day`;
}

/** Whether the requests with the key were charged to it, and not to the guest of the same network. */
export function checkGuestApart(before: Figures, after: Figures, cost: number): Finding {
  const lost = before.remaining - after.remaining;
  if (lost >= cost) return fail(`the network's guest was charged ${lost} meanwhile`);
  if (before.remaining === 0)
    return untested('the guest of this network has nothing left to lose; use another network');
  return lost === 0 ? ok() : untested('others are guests in this network too; use another network');
}
