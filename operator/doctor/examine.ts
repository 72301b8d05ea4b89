import { CommandError } from '../command-line.ts';
import { type Finding, fail, ok, type Row, untested } from '../examination/row.ts';
import { dialectProbes } from './dialect-probes.ts';
import { examineCors } from './examine-cors.ts';
import { examineDialect } from './examine-dialect.ts';
import { examineErrors, examineTooLarge } from './examine-errors.ts';
import { examineModels, examineTokenCount } from './examine-free.ts';
import { bearer, examineKeys } from './examine-keys.ts';
import { examineQuota } from './examine-quota.ts';
import { examineRefusals } from './examine-refusals.ts';
import { examineVision } from './examine-vision.ts';
import { createNameFinder } from './find-name.ts';
import type { Acquaintance } from './greet.ts';
import type { IssueCommand } from './issue-command.ts';
import { findForeignHeader, findMissingHeader, judgeRequestIds } from './judge-headers.ts';
import { findTrace } from './judge-hiding.ts';
import type { ExpectedLimits } from './judge-limits.ts';
import { judgeSilence } from './judge-silence.ts';
import { createLedger } from './ledger.ts';
import type { Probe, Reply } from './probe.ts';

export interface Examination {
  readonly key: string;
  /** A key without quota, if there is one to try. */
  readonly spentKey?: string | undefined;
  /** The origin of a page that should be allowed. */
  readonly origin: string;
  /** How many numbers a stream is asked to write. */
  readonly length: number;
  /** Names that nobody should see. */
  readonly names: readonly string[];
  readonly limits: ExpectedLimits;
  /** Whether certainly nobody is served without a key. */
  readonly closed: boolean;
  readonly issueKey: IssueCommand;
  /** Milliseconds between keep-alives. */
  readonly keepAlive: number;
  /** Asks again if a reply says to wait for a moment. */
  waitOut(probe: Probe): Probe;
}

/** Examines everything that a client can see of a gateway. Yields each row as soon as it is known. */
export async function* examine(probe: Probe, known: Acquaintance, examination: Examination): AsyncGenerator<Row> {
  const { key, spentKey, origin, length, names, limits, closed, issueKey, keepAlive, waitOut } = examination;
  const { models, headerPrefix } = known;
  const replies: Reply[] = [];
  const streams: Reply[] = [];
  const askOnce: Probe = async (asked) => {
    const reply = await probe(asked);
    replies.push(reply);
    return reply;
  };
  const ask = waitOut(askOnce);
  const openLedger = (of?: string) => createLedger(ask, of === undefined ? {} : bearer(of), headerPrefix);
  const charged = openLedger(key);
  const guestBefore = await openLedger().read();

  yield* guarded('models', () => examineModels(ask, key, known));
  yield* guarded('keys', () => examineKeys(ask, key, known, closed));
  yield* guarded('errors', () => examineTooLarge(charged, key, known));
  for (const dialect of dialectProbes) {
    const subject = { models, key, length, ledger: charged, onStream: (stream: Reply) => streams.push(stream) };
    yield* guarded(dialect.name, () => examineDialect(dialect, subject));
  }
  yield* guarded('chat', () => examineVision(charged, key, known));
  yield { area: 'streams', check: 'silence is bridged', ...judgeSilence(streams, keepAlive) };
  yield* guarded('messages', () => examineTokenCount(ask, key, known));
  yield* guarded('errors', () => examineErrors(ask, key, known));
  yield* guarded('errors', () => examineRefusals(askOnce, spentKey, known, issueKey));
  yield* guarded('cors', () => examineCors(ask, key, known, origin));
  const accounts = { charged, createLedger: openLedger, key, origin, limits, issueKey, guestBefore };
  yield* guarded('quota', () => examineQuota(known, accounts));

  const everywhere = (area: string, check: string, find: (reply: Reply) => string | undefined): Row => ({
    area,
    check,
    ...judgeAll(replies, find),
  });
  yield everywhere('headers', 'those of every answer', (reply) => findMissingHeader(reply, headerPrefix));
  yield { area: 'headers', check: 'an id for each request', ...judgeRequestIds(replies) };
  yield everywhere('hiding', 'no foreign header', (reply) => findForeignHeader(reply, headerPrefix));
  yield everywhere('hiding', 'no trace in bodies', (reply) => findTrace(reply, models));
  if (names.length > 0) yield everywhere('hiding', 'no name anywhere', createNameFinder(names));
  else yield { area: 'hiding', check: 'no name anywhere', ...untested('name what must not appear, with --names a,b') };
}

/** A check that can't be made becomes a row too, and the others go on. */
async function* guarded(area: string, rows: () => AsyncGenerator<Row>): AsyncGenerator<Row> {
  try {
    yield* rows();
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    yield { area, check: 'can be asked', ...fail(error.message) };
  }
}

function judgeAll(replies: readonly Reply[], find: (reply: Reply) => string | undefined): Finding {
  for (const reply of replies) {
    const fault = find(reply);
    if (fault !== undefined) return fail(`${reply.title}: ${fault}`);
  }
  return ok(`in ${replies.length} replies`);
}
