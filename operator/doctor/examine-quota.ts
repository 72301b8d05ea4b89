import { type Finding, fail, note, ok, type Row, untested } from '../examination/row.ts';
import { cost, countTokensPath, messagesProbe, whoAreYou } from './dialect-probes.ts';
import { preflightOf } from './examine-cors.ts';
import { bearer } from './examine-keys.ts';
import type { Figures } from './figures.ts';
import type { Acquaintance } from './greet.ts';
import type { IssueCommand } from './issue-command.ts';
import { type ExpectedLimits, judgeGuestLimit, judgeKeyLimit } from './judge-limits.ts';
import { findSuspect, judgeCharges, judgeFree, judgeGivenBack, judgeTold } from './judge-quota.ts';
import type { Entry, Ledger } from './ledger.ts';
import type { Ask } from './probe.ts';

interface Accounts {
  /** Holds what was charged. */
  readonly charged: Ledger;
  createLedger(key?: string): Ledger;
  readonly key: string;
  readonly origin: string;
  readonly limits: ExpectedLimits;
  readonly issueKey: IssueCommand;
  /** The guest's figures before anything was asked. */
  readonly guestBefore: Figures;
}

/** Checks what each request cost. Asks for one more answer if a count looks wrong. */
export async function* examineQuota(known: Acquaintance, accounts: Accounts): AsyncGenerator<Row> {
  const { charged, createLedger, key, origin, limits, issueKey, guestBefore } = accounts;
  const row = (check: string, finding: Finding): Row => ({ area: 'quota', check, ...finding });
  const suspect = findSuspect(charged.entries);
  if (suspect) await charged.record(suspect.ask);
  yield row('each answer is charged once', judgeCharges(charged.entries, issueKey));
  yield row('failures are refunded', judgeGivenBack(charged.entries, issueKey));
  yield row('headers agree', judgeTold(charged.entries));

  const [ofKey, ofGuest] = [createLedger(key), createLedger()];
  const guestAfter = await ofGuest.read();
  const noGuests = guestBefore.limit === 0 ? note('there are no guests') : undefined;
  yield row('a guest is counted apart', noGuests ?? judgeApart(guestBefore, guestAfter));
  await recordFree(ofKey, ofGuest, key, known, origin);
  yield row('nothing else for a key', judgeFree(ofKey.entries, issueKey));
  yield row('nothing else for a guest', noGuests ?? judgeFree(ofGuest.entries, issueKey));

  const keyFigures = [...charged.entries.flatMap(figuresOf), ...readingsOf(ofKey.entries)];
  const guestFigures = [guestBefore, guestAfter, ...ofGuest.entries.flatMap(figuresOf)];
  yield row('the limit of the key', judgeKeyLimit(keyFigures, guestFigures, limits));
  yield row('the limit of a guest', judgeGuestLimit(guestFigures, limits));
}

const readingsOf = (entries: readonly Entry[]) => entries.flatMap(({ before, after }) => [before, after]);
const figuresOf = ({ before, told, after }: Entry) => [before, told, after];

const twice = 2;

/** The free requests, each sent twice: on the key's quota, and on that of this network's guest. */
async function recordFree(ofKey: Ledger, ofGuest: Ledger, key: string, known: Acquaintance, origin: string) {
  const [model] = known.models;
  const headers = bearer(key);
  const count = (id: string): Ask => {
    return { method: 'POST', path: countTokensPath, headers, body: messagesProbe.question(id, whoAreYou) };
  };
  const free: readonly Ask[] = [
    { method: 'GET', path: `/v1/models/${model}`, headers },
    count(model),
    count('none'),
    { method: 'GET', path: '/v1/none', headers },
    { method: 'HEAD', path: '/v1/responses', headers },
  ];
  for (const ask of free) await ofKey.record(ask, twice);
  for (const ask of [preflightOf(origin), { method: 'POST', path: '/v1/responses', body: {} } as const]) {
    await ofGuest.record(ask, twice);
  }
}

function judgeApart(before: Figures, after: Figures): Finding {
  const taken = before.remaining - after.remaining;
  if (taken >= cost) return fail(`the network's guest was charged ${taken} meanwhile`);
  if (before.remaining === 0)
    return untested('the guest of this network has nothing left to lose; use another network');
  return taken === 0 ? ok() : untested('others are guests in this network too; use another network');
}
