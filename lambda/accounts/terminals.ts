import { createHmac, type KeyObject } from 'node:crypto';
import { GatewayError } from '../errors.ts';
import type { MemberStore } from '../tables/members.ts';
import type { TerminalStore, WaitingTerminal } from '../tables/terminals.ts';
import type { ShownTerminal } from './answers.ts';
import { isTooManyKeys, type Keyring } from './keyring.ts';
import type { Limits } from './limits.ts';
import { AccountsError, type AccountsRequest, badRequest } from './request.ts';

/** How long a terminal waits for its person: milliseconds. */
const lifetime = 10 * 60_000;
/** Seconds between two questions of a terminal. */
const interval = 5;
/** What a clock and a network may take off it, in milliseconds. */
const leeway = 500;
/** How often one user code may be looked up. */
const triesPerCode = 5;
/** Without vowels, so that no words come up, and without letters that look alike. */
const letters = 'BCDFGHJKLMNPQRSTVWXZ';

export type Terminals = ReturnType<typeof createTerminals>;

interface Dependencies {
  readonly store: TerminalStore;
  readonly keyring: Keyring;
  readonly wasSignedOut: MemberStore['wasSignedOut'];
  readonly limits: Limits;
  /** Derives the key that codes are hashed with. */
  readonly subkey: (label: string) => Promise<KeyObject>;
  readonly deviceKeyDays: number;
  readonly now: () => number;
  readonly randomBytes: (size: number) => Buffer;
  /** Told of every key that a terminal gets. */
  readonly onKey: (request: AccountsRequest, keyId: string) => void;
}

/** Signing in a terminal: https://www.rfc-editor.org/rfc/rfc8628 */
export function createTerminals(dependencies: Dependencies) {
  const { store, keyring, wasSignedOut, limits, subkey, deviceKeyDays, now, randomBytes, onKey } = dependencies;
  const hash = async (code: string): Promise<string> =>
    createHmac('sha256', await subkey('terminal codes'))
      .update(code)
      .digest('base64url');
  const token = () => randomBytes(8).toString('hex');

  /** Guesses are counted before anything is looked up, and a code that was right is taken off again. */
  const lookUp = async (typed: string, networkId: string): Promise<WaitingTerminal> => {
    const guess = await limits.count('codes', networkId);
    const found = await store.findByUserCode(await hash(readUserCode(typed)), triesPerCode);
    if (!found || found.expiresAt <= now() || found.decision) throw unknownCode();
    await guess.undo();
    return found;
  };

  return {
    /** Gives a terminal its codes. */
    async begin(networkId: string) {
      await limits.count('terminals', networkId);
      const askedAt = now();
      const deviceCode = randomBytes(32).toString('base64url');
      const terminal = { device: await hash(deviceCode), networkId, askedAt, expiresAt: askedAt + lifetime };
      for (;;) {
        const userCode = createUserCode(randomBytes);
        const isFree = await store.put(await hash(userCode), terminal, askedAt);
        if (isFree) return { deviceCode, userCode: showCode(userCode), expiresIn: lifetime / 1000, interval };
      }
    },

    /** The key of a terminal that was let in; throws what the RFC says until then. */
    async redeem(deviceCode: string, request: AccountsRequest) {
      const time = now();
      const device = await hash(deviceCode);
      const found = await store.poll(device, time);
      if (!found) throw new AccountsError('invalid_grant', 'This device code is not known. Ask for a new one.');
      if (found.expiresAt <= time) throw new AccountsError('expired_token', 'The code has expired. Ask for a new one.');
      const { decision, decidedAt = 0, member } = found;
      const isEnded = member !== undefined && (await wasSignedOut(member, decidedAt));
      if (decision === 'denied' || isEnded)
        throw new AccountsError('access_denied', 'The person has not let this terminal in.');
      if (decision !== 'approved' || member === undefined) {
        const isTooSoon = found.polledAt !== undefined && time - found.polledAt < interval * 1000 - leeway;
        if (isTooSoon) throw new AccountsError('slow_down', `Ask every ${interval} seconds at most.`);
        throw new AccountsError('authorization_pending', 'Nobody has let this terminal in yet.');
      }
      const isFirst = await store.take(device, time, token());
      if (!isFirst) throw new AccountsError('invalid_grant', 'This device code has been used. Ask for a new one.');
      const most = deviceKeyDays * 86_400_000;
      const { key, record } = await keyring
        .issue(member, { label: 'terminal', expiresAt: time + most })
        .catch(refuseWithoutSlot);
      onKey(request, record.id);
      return { key, expiresIn: Math.floor(((record.expiresAt ?? time + most) - time) / 1000) };
    },

    async find(typed: string, networkId: string): Promise<ShownTerminal> {
      const { networkId: its, askedAt } = await lookUp(typed, networkId);
      return { sameNetwork: its === networkId, age: Math.floor((now() - askedAt) / 1000) };
    },

    async approve(typed: string, networkId: string, member: string): Promise<void> {
      const { device } = await lookUp(typed, networkId);
      await keyring.requireFreeSlot(member);
      const grant = await limits.countGrant(networkId, member);
      if (await store.decide(device, member, now(), token())) return;
      await grant.undo();
      throw unknownCode();
    },

    async deny(typed: string, networkId: string): Promise<void> {
      const { device } = await lookUp(typed, networkId);
      if (!(await store.decide(device, undefined, now(), token()))) throw unknownCode();
    },
  };
}

/** Eight letters, each as likely as the others. */
function createUserCode(randomBytes: (size: number) => Buffer): string {
  let code = '';
  while (code.length < 8) {
    for (const byte of randomBytes(8)) if (byte < 240 && code.length < 8) code += letters[byte % letters.length];
  }
  return code;
}

const showCode = (code: string): string => `${code.slice(0, 4)}-${code.slice(4)}`;

/** People type in lower case, with blanks, or without the dash. */
function readUserCode(typed: string): string {
  const code = typed.toUpperCase().replace(/[\s-]/g, '');
  if (code.length === 8 && [...code].every((letter) => letters.includes(letter))) return code;
  throw badRequest('That is no code of a terminal: it has eight letters, such as BCDF-GHJK.');
}

function unknownCode(): GatewayError {
  const message =
    'No terminal waits with this code. It may be mistyped, used or expired: look at the terminal, or start there again.';
  return new GatewayError('not_found', message);
}

function refuseWithoutSlot(error: unknown): never {
  throw isTooManyKeys(error) ? new AccountsError('access_denied', (error as Error).message) : error;
}
