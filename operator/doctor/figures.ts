import type { Reply } from './probe.ts';
import type { Heard } from './run.ts';

/** The remedy if something other than this run may have changed the numbers. */
export const alone = 'if somebody else uses this key, or a day began (UTC), run it again with a key of its own';

/** Finds a contradiction in the quota and budget snapshots, within one answer or between two; undefined if all are consistent. */
export function findContradiction(replies: readonly Heard[], key: string, headerPrefix: string): string | undefined {
  for (const reply of replies) {
    const fault = findWithin(reply, headerPrefix);
    if (fault !== undefined) return `${reply.title}: ${fault}`;
  }
  // Other answers may precede authentication.
  const known = replies.filter(({ status }) => status === 200);
  const isOfKey = ({ request }: Heard) => Object.values(request.headers).some((value) => value.includes(key));
  const ofKey = known.filter(isOfKey);
  const ofGuests = known.filter((reply) => !isOfKey(reply));
  return (
    findMissingReset(ofKey, `${headerPrefix}reset`) ??
    findChange(ofKey, headerPrefix) ??
    findChange(ofGuests, headerPrefix) ??
    findStepBack(ofKey.filter(isFree), headerPrefix)
  );
}

/** No other request is running while one of these is answered. */
const isFree = ({ request }: Heard) => request.path === '/v1/models';

const textOf = ({ headers }: Reply, name: string) => headers.get(name) ?? 'missing';
const numberOf = ({ headers }: Reply, name: string) => Number(headers.get(name) ?? Number.NaN);

const kinds = ['', 'budget-'];

/** Whether the quota's headers are present is checked with the other headers of every answer. */
function findWithin(reply: Reply, headerPrefix: string): string | undefined {
  for (const kind of kinds) {
    const [limit, remaining, reset] = namesOf(headerPrefix + kind);
    const names = [limit, remaining, reset].filter((name) => reply.headers.has(name));
    const isPartOfBudget = kind === 'budget-' && names.length > 0;
    const missing = [limit, remaining, reset].find((name) => isPartOfBudget && !names.includes(name));
    if (missing !== undefined) return `${missing} is missing`;
    const odd = names.find((name) => !(name === reset ? /^\d+$/ : /^\d+(\.\d+)?$/).test(textOf(reply, name)));
    if (odd !== undefined) return `${odd} is ${textOf(reply, odd)}`;
    if (numberOf(reply, remaining) > numberOf(reply, limit)) {
      return `${remaining} is ${textOf(reply, remaining)}, though ${limit} is ${textOf(reply, limit)}`;
    }
  }
  return undefined;
}

const namesOf = (prefix: string) => [`${prefix}limit`, `${prefix}remaining`, `${prefix}reset`] as const;

/** A key's quota resets daily. A guest's may never reset. */
function findMissingReset(replies: readonly Heard[], reset: string): string | undefined {
  const without = replies.find(({ headers }) => !headers.has(reset));
  return without && `${without.title}: ${reset} is missing`;
}

/** A caller's limits don't change during a run, and neither does which of them its answers report. */
function findChange([first, ...later]: readonly Heard[], headerPrefix: string): string | undefined {
  if (!first) return undefined;
  const limits = kinds.map((kind) => `${headerPrefix}${kind}limit`);
  const reset = `${headerPrefix}reset`;
  for (const reply of later) {
    const changed =
      limits.find((name) => textOf(first, name) !== textOf(reply, name)) ??
      (first.headers.has(reset) === reply.headers.has(reset) ? undefined : reset);
    if (changed === undefined) continue;
    return `${reply.title}: ${changed} is ${textOf(reply, changed)}, and was ${textOf(first, changed)} in ${first.title}`;
  }
  return undefined;
}

/** Tolerated clock skew between machines behind one address, in seconds. */
const skew = 5;

/**
 * Until a window resets, its reset time is fixed and the remaining quota never rises: a refund only restores what earlier answers
 * never saw charged. A budget may rise, when a reservation is released after an answer's end.
 */
function findStepBack(replies: readonly Heard[], headerPrefix: string): string | undefined {
  const [, remaining, reset] = namesOf(headerPrefix);
  for (const [index, reply] of replies.slice(1).entries()) {
    const before = replies[index] ?? reply;
    const passed = (reply.sentAt - before.sentAt) / 1000;
    const isOver = (name: string) => numberOf(before, name) - passed <= skew;
    const when = `but ${Math.round(passed)} s before it was`;
    const later = [reset, `${headerPrefix}budget-reset`].find(
      (name) => !isOver(name) && numberOf(reply, name) > numberOf(before, name) - passed + skew,
    );
    if (later !== undefined)
      return `${reply.title}: ${later} is ${textOf(reply, later)}, ${when} ${textOf(before, later)}`;
    if (!isOver(reset) && numberOf(reply, remaining) > numberOf(before, remaining)) {
      const [are, were] = [textOf(reply, remaining), textOf(before, remaining)];
      return `${reply.title}: ${remaining} is ${are}, ${when} ${were}, and no window began; ${alone}`;
    }
  }
  return undefined;
}
