import { type Finding, fail, ok, untested } from '../examination/row.ts';
import type { IssueCommand } from './issue-command.ts';
import type { Entry } from './ledger.ts';

const others = (issueKey: IssueCommand) =>
  `others use this quota too; run it with a key that has a limit of its own (${issueKey(100)})`;
const began = 'its window restarted meanwhile; run it again';

const taken = ({ before, after }: Entry) => before.remaining - after.remaining;
const beganAnew = ({ before, after }: Entry) => after.reset > before.reset;
const answered = (entries: readonly Entry[]) => entries.filter(({ status }) => status === 200);

/** The quota used between one entry and the next, when nothing that costs was asked. */
function idleDrops(entries: readonly Entry[]): readonly number[] {
  const pairs = entries.slice(1).map((entry, index) => [entries[index], entry] as const);
  return pairs.map(([last, next]) => (last?.after.remaining ?? Number.NaN) - next.before.remaining);
}

const isQuiet = (entries: readonly Entry[]) => idleDrops(entries).every((drop) => drop === 0);

/** An answer that cost more than one: the gateway charged it twice, or somebody else was charged at the same time. */
export const findSuspect = (entries: readonly Entry[]) => answered(entries).find((entry) => taken(entry) > 1);

/** Whether each answer cost one. The gateway gets the blame only for what happens every time. */
export function judgeCharges(entries: readonly Entry[], issueKey: IssueCommand): Finding {
  const answers = answered(entries);
  const [last] = answers.slice(-1);
  if (!last) return untested('there was no answer that could be charged');
  const sum = answers.reduce((all, entry) => all + taken(entry), 0);
  if (Number.isNaN(sum)) return fail('the gateway does not report what is left');
  if (answers.some(beganAnew)) return untested(began);
  const facts = `${sum} charged for ${answers.length} answers, ${last.after.remaining} of ${last.after.limit} left`;
  if (answers.every((entry) => taken(entry) === 1)) return ok(facts);
  if (!isQuiet(entries)) return untested(`${facts}: ${others(issueKey)}`);
  const lacking = answers.find((entry) => taken(entry) < 1);
  if (lacking) return fail(`${facts}: ${lacking.title} is not charged`);
  const guilty = [...Map.groupBy(answers, ({ title }) => title), ['each answer', answers] as const].find(
    ([, ofKind]) => ofKind.length > 1 && ofKind.every((entry) => taken(entry) > 1),
  );
  return guilty ? fail(`${facts}: ${guilty[0]} is charged more than once`) : untested(`${facts}: ${others(issueKey)}`);
}

/** Whether failures were refunded: a body too large once unpacked, any failure of the upstream. */
export function judgeGivenBack(entries: readonly Entry[], issueKey: IssueCommand): Finding {
  const failed = entries.filter(({ status }) => status === 413 || status >= 500);
  if (failed.length === 0) return untested('no charged request failed; run it while the upstream is down');
  if (failed.some(beganAnew)) return untested(began);
  const kept = failed.find((entry) => taken(entry) !== 0);
  if (!kept) return ok(`${failed.length} failed`);
  return isQuiet(entries) ? fail(`${kept.title} answered ${kept.status}, and was charged`) : untested(others(issueKey));
}

/** Whether requests cost nothing, each asked several times. */
export function judgeFree(entries: readonly Entry[], issueKey: IssueCommand): Finding {
  const idle = idleDrops(entries);
  if (idle.length > 1 && idle.every((drop) => drop > 0)) return fail('reading the quota (GET /v1/models) is charged');
  if (entries.some(beganAnew)) return untested(began);
  if (entries.some((entry) => Number.isNaN(taken(entry)))) return fail('the gateway does not report what is left');
  if (entries.some(({ before, times }) => before.remaining < times))
    return untested('too little is left to see it fall');
  if (entries.every((entry) => taken(entry) === 0)) return ok(`${entries.length} kinds of requests`);
  const charged = isQuiet(entries) ? entries.find((entry) => taken(entry) >= entry.times) : undefined;
  return charged ? fail(`${charged.title} is charged`) : untested(others(issueKey));
}

/** Whether the headers of each answer fit the quota left before and after it, even if others use it too. */
export function judgeTold(entries: readonly Entry[]): Finding {
  const answers = answered(entries).filter((entry) => !beganAnew(entry));
  if (answers.length === 0) return untested('there was no answer that could be compared');
  const wrong = answers.find(({ before, told, after }) => {
    return !(told.remaining >= after.remaining && told.remaining <= before.remaining - 1);
  });
  if (!wrong) return ok(`in ${answers.length} answers`);
  const { title, before, told, after } = wrong;
  return fail(
    `${title} says that ${told.remaining} are left: ${before.remaining} were before it, ${after.remaining} after`,
  );
}
