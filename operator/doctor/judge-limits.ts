import { type Finding, fail, ok, untested } from '../examination/row.ts';
import type { Figures } from './figures.ts';

/** The limits to expect. */
export interface ExpectedLimits {
  /** The key's own limit, if the operator has named one. */
  readonly key?: number | undefined;
  readonly member: readonly number[];
  readonly guest: readonly number[];
  /** Whether these are certainly the settings of the stage examined. */
  readonly certain: boolean;
}

/** Whether the key's limit is a possible one. If the key has its own limit, the operator must name it. */
export function judgeKeyLimit(key: readonly Figures[], guest: readonly Figures[], expected: ExpectedLimits): Finding {
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

/** Whether callers without a key are shown the guests' limit. */
export function judgeGuestLimit(guest: readonly Figures[], { guest: expected, certain }: ExpectedLimits): Finding {
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

/** Keys have a daily window. */
function findResetFault(figures: readonly Figures[]): string | undefined {
  const wrong = figures.find(({ reset }) => !(reset >= 0 && reset <= day));
  if (!wrong) return undefined;
  return Number.isNaN(wrong.reset)
    ? 'nothing says when it restarts'
    : `it restarts in ${wrong.reset} s, which is more than a day`;
}
