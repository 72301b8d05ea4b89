import { createHmac, type KeyObject, randomBytes, randomInt } from 'node:crypto';
import { GatewayError } from '../errors.ts';
import type { AccountsConfig } from '../settings/config.ts';
import { createToken } from '../store/counters.ts';
import type { DeviceFlowStore, PendingDevice } from '../store/sign-in.ts';
import type { AccountsLog } from './accounts-log.ts';
import type { Keyring } from './keyring.ts';
import { accountsError, badRequest, isNotSignedIn, isTooManyKeys } from './page-errors.ts';
import type { Limits } from './page-limits.ts';
import { type Endpoints, readText, type WithForm, type WithInput } from './page-request.ts';
import { createAgentSnippets } from './pages/cli/snippets-agents.js';
import { deviceFlowPaths, type Site } from './site.ts';

/** How long a device waits for approval, in milliseconds. */
const lifetime = 10 * 60_000;
/** The polling interval, in seconds. */
const interval = 5;
/** Tolerated jitter of the polling interval, in milliseconds. */
const leeway = 500;
/** How often one user code may be looked up. */
const triesPerCode = 5;
/** No vowels, so that codes spell no words, and no letters that look alike. */
const letters = 'BCDFGHJKLMNPQRSTVWXZ';

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';

interface Dependencies {
  readonly deviceFlow: DeviceFlowStore;
  readonly service: AccountsConfig['service'];
  readonly deviceKeyDays: number;
  readonly subkey: (label: string) => Promise<KeyObject>;
  readonly keyring: Keyring;
  readonly limits: Limits;
  readonly log: AccountsLog;
  readonly now: () => number;
}

/** OAuth's device flow, for signing in from a terminal: https://www.rfc-editor.org/rfc/rfc8628 */
export function createDeviceFlow(dependencies: Dependencies): Endpoints {
  /** Codes are stored hashed, so that they are useless to someone who can read the table. */
  const hash = async (code: string): Promise<string> =>
    createHmac('sha256', await dependencies.subkey('terminal codes'))
      .update(code)
      .digest('base64url');

  return {
    forDevices: {
      [deviceFlowPaths.begin]: createBegin(dependencies, hash),
      [deviceFlowPaths.token]: createRedeem(dependencies, hash),
    },
    ...createDecisions(dependencies, hash),
    facts: {
      [deviceFlowPaths.metadata]: async ({ site }) => describeServer(site),
      [deviceFlowPaths.opencode]: async ({ site }) => describeForOpencode(site, dependencies.service),
    },
  };
}

type Hash = (code: string) => Promise<string>;

/** Issues a device code and a user code. */
function createBegin({ deviceFlow, service, limits, now }: Dependencies, hash: Hash) {
  return async (request: WithForm) => {
    checkClient(request, service.serviceName);
    const { network, site } = request;
    await limits.count('terminals', network.id);
    const askedAt = now();
    const deviceCode = randomBytes(32).toString('base64url');
    const pending = { device: await hash(deviceCode), networkId: network.id, askedAt, expiresAt: askedAt + lifetime };
    let userCode = createUserCode();
    while (!(await deviceFlow.put(await hash(userCode), pending, askedAt))) userCode = createUserCode();
    return {
      device_code: deviceCode,
      user_code: `${userCode.slice(0, 4)}-${userCode.slice(4)}`,
      verification_uri: `${site.pageUrl}/device`,
      expires_in: lifetime / 1000,
      interval,
    };
  };
}

/** Gives an approved device its key; until then, throws the errors of the RFC. */
function createRedeem({ deviceFlow, service, deviceKeyDays, keyring, log, now }: Dependencies, hash: Hash) {
  /** Who has approved the device, and when. */
  const readApproval = async (device: string, time: number) => {
    const found = await deviceFlow.find(device);
    if (!found) throw accountsError('invalid_grant', 'This device code is not known. Ask for a new one.');
    if (found.expiresAt <= time) throw accountsError('expired_token', 'The code has expired. Ask for a new one.');
    const { decision, decidedAt = 0, approvedBy: member } = found;
    if (decision === 'denied') throw notLetIn();
    if (member !== undefined) return { member, signedInAt: decidedAt };
    const isTooSoon = found.polledAt !== undefined && time - found.polledAt < interval * 1000 - leeway;
    if (isTooSoon) throw accountsError('slow_down', `Ask every ${interval} seconds at most.`);
    // Only a known code that is not polled too soon causes a write, so that polling can't flood the table.
    await deviceFlow.notePoll(device, time);
    throw accountsError('authorization_pending', 'Nobody has let this terminal in yet.');
  };

  return async (request: WithForm) => {
    checkClient(request, service.serviceName);
    if (readField(request, 'grant_type') !== deviceGrant) {
      throw accountsError('unsupported_grant_type', `grant_type must be ${deviceGrant}.`);
    }
    const device = await hash(readField(request, 'device_code'));
    const time = now();
    const approval = await readApproval(device, time);
    const isFirst = await deviceFlow.take(device, time, createToken());
    if (!isFirst) throw accountsError('invalid_grant', 'This device code has been used. Ask for a new one.');
    const most = time + deviceKeyDays * 86_400_000;
    const { key, record } = await keyring.issue(approval, { label: 'terminal', expiresAt: most }).catch(explain);
    log.done('granted', request, { keyId: record.id });
    const expiresIn = Math.floor(((record.expiresAt ?? most) - time) / 1000);
    return { access_token: key, token_type: 'Bearer', expires_in: expiresIn };
  };
}

/** The endpoints for a person who has typed a user code. */
function createDecisions(
  { deviceFlow, keyring, limits, now }: Dependencies,
  hash: Hash,
): Pick<Endpoints, 'forAnyone' | 'forMembers'> {
  /** Counts each guess before looking it up, and undoes the count if the code is right. */
  const lookUp = async ({ input, network }: WithInput): Promise<PendingDevice> => {
    const typed = readText(input, 'code');
    const undo = await limits.count('codes', network.id);
    const found = await deviceFlow.findByUserCode(await hash(readUserCode(typed)), triesPerCode);
    if (!found || found.expiresAt <= now() || found.decision) throw unknownCode();
    await undo();
    return found;
  };

  return {
    forAnyone: {
      /** Called before sign-in, so that nobody signs in for a mistyped code. */
      async 'device/find'(request) {
        const { networkId, askedAt } = await lookUp(request);
        return { sameNetwork: networkId === request.network.id, age: Math.floor((now() - askedAt) / 1000) };
      },
    },

    forMembers: {
      async 'device/approve'(request) {
        const { network, member } = request;
        const { device } = await lookUp(request);
        await keyring.requireFreeSlot(member);
        const undo = await limits.countGrant(network.id, member);
        if (await deviceFlow.decide(device, member, now(), createToken())) return {};
        await undo();
        throw unknownCode();
      },

      async 'device/deny'(request) {
        const { device } = await lookUp(request);
        if (await deviceFlow.decide(device, undefined, now(), createToken())) return {};
        throw unknownCode();
      },
    },
  };
}

/** https://www.rfc-editor.org/rfc/rfc8414 */
function describeServer({ baseUrl }: Site) {
  return {
    issuer: baseUrl,
    device_authorization_endpoint: baseUrl + deviceFlowPaths.begin,
    token_endpoint: baseUrl + deviceFlowPaths.token,
    grant_types_supported: [deviceGrant],
    response_types_supported: [],
    token_endpoint_auth_methods_supported: ['none'],
  };
}

/** Read by `opencode auth login URL`: the command that prints a key, the variable for it, and opencode's own config. */
function describeForOpencode({ baseUrl, pageUrl }: Site, service: AccountsConfig['service']) {
  const { serviceName, gatewayUrl = baseUrl, contextWindow } = service;
  const env = `${serviceName.toUpperCase().replaceAll('-', '_')}_API_KEY`;
  const snippets = createAgentSnippets({ gatewayUrl, serviceName, key: `{env:${env}}`, contextWindow });
  const config = snippets.find(({ id }) => id === 'opencode')?.blocks[0]?.text ?? '{}';
  return { auth: { command: ['sh', '-c', `curl -fsS ${pageUrl}/login.sh | sh`], env }, config: JSON.parse(config) };
}

function checkClient(request: WithForm, serviceName: string): void {
  const clientId = `${serviceName}-terminal`;
  if (readField(request, 'client_id') === clientId) return;
  throw accountsError('invalid_client', `client_id must be ${clientId}.`);
}

function readField({ form }: WithForm, name: string): string {
  const value = form.get(name);
  if (value) return value;
  throw badRequest(`${name} is missing.`);
}

const createUserCode = (): string => Array.from({ length: 8 }, () => letters[randomInt(letters.length)]).join('');

/** Accepts lower case, spaces, and no dash. */
function readUserCode(typed: string): string {
  const code = typed.toUpperCase().replace(/[\s-]/g, '');
  if (code.length === 8 && [...code].every((letter) => letters.includes(letter))) return code;
  throw badRequest('That is no code of a terminal: it has eight letters, such as BCDF-GHJK.');
}

function unknownCode(): GatewayError {
  const message =
    'No terminal is waiting with this code. It may be mistyped, used or expired: check the terminal, or start over there.';
  return new GatewayError('not_found', message);
}

const notLetIn = () => accountsError('access_denied', 'The person has not let this terminal in.');

/** Explains in OAuth's terms why an approved device gets no key. */
function explain(error: unknown): never {
  if (isNotSignedIn(error)) throw notLetIn();
  throw isTooManyKeys(error) ? accountsError('access_denied', error.message) : error;
}
