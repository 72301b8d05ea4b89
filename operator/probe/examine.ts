import { CommandError } from '../command-error.ts';
import { type Finding, fail, note, type Row, untested } from '../examination/row.ts';
import { type AskOnce, askArtifact, type Reply } from './ask.ts';
import { inventAddress } from './forgeries.ts';
import { judgeCountedAddress, judgeSeenAddress } from './judge-address.ts';
import { judgeAnsweredBodies, judgeReceivedBodies } from './judge-bodies.ts';
import { judgeCredentials } from './judge-credentials.ts';
import { judgeDeparture } from './judge-departure.ts';
import { judgeSilence } from './judge-silence.ts';
import { judgeThrottle } from './judge-throttle.ts';
import { secretHeader } from './terms.ts';

export interface Examination {
  /** The secret of dist/probe; without it the gateway itself is examined. */
  readonly secret: string | undefined;
  /** How many seconds dist/probe is silent. */
  readonly silence: number;
  /** How many requests to send at once, so that the platform refuses some. */
  readonly throttle: number | undefined;
  readonly now: () => number;
  readonly wait: (milliseconds: number) => Promise<void>;
  readonly random: () => number;
  /** Called before a step that takes long. */
  readonly progress: (text: string) => void;
}

const needsArtifact = untested('only dist/probe can tell: see docs/engines.md');
const needsNumber = untested('--throttle 500 sends 500 requests at once, best with a low rateLimit');

/** Yields each finding as it is made. */
export function examine(ask: AskOnce, examination: Examination): AsyncGenerator<Row> {
  return examination.secret === undefined
    ? examineGateway(ask, examination)
    : examineArtifact(withSecret(ask, examination.secret), examination);
}

async function* examineGateway(ask: AskOnce, { throttle, random, progress }: Examination): AsyncGenerator<Row> {
  const prefix = prefixOf(await ask({ path: '/v1/models', headers: { 'x-api-key': 'guest' } }));
  yield row('address', 'a forged address', () => judgeCountedAddress(ask, prefix, inventAddress(random)));
  progress('sending bodies of up to 32 MiB');
  yield row('bodies', 'without a key', () => judgeAnsweredBodies(ask, prefix));
  yield row('silence', 'before and in an answer', () => needsArtifact);
  yield row('client', 'its leaving is heard', () => needsArtifact);
  yield row('signing', 'credentials', () => needsArtifact);
  const isOwn = ({ headers }: Reply) => headers[`${prefix}limit`] !== undefined;
  const options = { path: '/v1/models', headers: { 'x-api-key': 'guest' }, isOwn };
  yield row('throttle', 'its shape', () => (throttle ? judgeThrottle(ask, throttle, options) : needsNumber));
}

async function* examineArtifact(ask: AskOnce, examination: Examination): AsyncGenerator<Row> {
  const { silence, throttle, now, wait, random, progress } = examination;
  const reply = await ask({ path: '/request' });
  if (reply.status !== 200) {
    const remedy = 'Without --secret and PROBE_SECRET, the gateway itself is examined.';
    throw new CommandError(`there is no dist/probe, or it has another secret: it answered ${reply.status}. ${remedy}`);
  }
  yield row('request', 'what arrives', () => describeRequest(ask));
  yield row('address', 'a forged address', () => judgeSeenAddress(ask, inventAddress(random)));
  progress('sending bodies of up to 32 MiB');
  yield row('bodies', 'whole', () => judgeReceivedBodies(ask));
  progress(`waiting through two silences of ${silence} s`);
  yield row('silence', 'before an answer', () => judgeSilence(ask, silence, 'head'));
  yield row('silence', 'in an answer', () => judgeSilence(ask, silence, 'end'));
  const name = `stay-${Math.floor(random() * 1e9)}`;
  yield row('client', 'its leaving is heard', () => judgeDeparture(ask, name, { now, wait }));
  yield row('signing', 'credentials', () => judgeCredentials(ask));
  // Last, because the platform may go on refusing for a while.
  const options = { path: '/request', headers: {}, isOwn: ({ status, text }: Reply) => status === 200 && text !== '' };
  yield row('throttle', 'its shape', () => (throttle ? judgeThrottle(ask, throttle, options) : needsNumber));
}

async function describeRequest(ask: AskOnce): Promise<Finding> {
  const { headers, httpVersion } = await askArtifact<{ headers: string[]; httpVersion: string }>(ask, {
    path: '/request',
  });
  return note(`HTTP/${httpVersion} with ${headers.join(', ')}`);
}

/** A check that can't be made counts as a failure, and the others go on. */
async function row(area: string, check: string, judge: () => Finding | Promise<Finding>): Promise<Row> {
  try {
    return { area, check, ...(await judge()) };
  } catch (error) {
    if (error instanceof CommandError) return { area, check, ...fail(error.message) };
    throw error;
  }
}

function withSecret(ask: AskOnce, secret: string): AskOnce {
  return (one) => ask({ ...one, headers: { ...one.headers, [secretHeader]: secret } });
}

/** The prefix of the gateway's own headers. */
function prefixOf({ status, headers }: Reply): string {
  const name = Object.keys(headers).find((header) => /^x-[a-z0-9-]+-remaining$/.test(header));
  if (name !== undefined) return name.slice(0, -'remaining'.length);
  throw new CommandError(`there is no gateway: GET /v1/models answered ${status} without its headers`);
}
