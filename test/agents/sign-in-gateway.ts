import { setTimeout } from 'node:timers/promises';
import { spawnGateway } from '../local/gateway-process.ts';
import { startFakeUpstream } from '../support/fake-upstream.ts';
import { findFreePort } from '../support/find-free-port.ts';
import { identity } from '../support/gateway.ts';
import { signInOn } from '../support/identity-provider.ts';
import { actAsModel } from '../support/model.ts';
import { answer } from './scenarios.ts';

export type SignInGateway = Awaited<ReturnType<typeof startSignInGateway>>;

/** A whole gateway with its accounts function, where somebody has signed in with OIDC. */
export async function startSignInGateway() {
  await using started = new AsyncDisposableStack();
  const upstream = started.use(await startFakeUpstream());
  upstream.otherwise(actAsModel({ text: answer }));
  const PORT = String(await findFreePort());
  const url = `http://127.0.0.1:${PORT}`;
  const gateway = started.use(
    spawnGateway({
      ...{ ...identity, PORT, DEMO_OIDC: 'true', LOG_FORMAT: 'json' },
      ...{ UPSTREAM_BASE_URL: upstream.url, UPSTREAM_API_KEYS: 'upstream-key-one' },
    }),
  );
  await gateway.says(/listening on /);
  const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path} answers ${response.status}: ${await response.text()}`);
    return (await response.json()) as Record<string, unknown>;
  };

  const { body } = await signInOn(url, 'ada');
  const { token } = (body as { session: { token: string } }).session;
  const signed = { authorization: `Bearer ${token}` };

  let read = 0;
  const running = started.move();
  return {
    url,
    /** Does what a person does on the page: types a terminal's code, and approves it. */
    approve: async (code: string) => {
      await post('/cli/device/approve', { code }, signed);
    },
    /** Revokes that person's key, and waits until it is refused, which takes a minute. */
    revoke: async (key: string) => {
      const { keys } = (await post('/cli/keys', {}, signed)) as { keys: readonly { readonly id: string }[] };
      for (const { id } of keys) await post('/cli/keys/revoke', { id }, signed);
      const isRefused = async () => (await fetch(`${url}/v1/models`, { headers: { 'x-api-key': key } })).status === 401;
      while (!(await isRefused())) await setTimeout(1_000);
    },
    /** The inference requests since the last call, and how many of them were answered. */
    takeRequests: () => {
      const output = gateway.output();
      const lines = output.slice(read).split('\n');
      read = output.length;
      const requests = lines
        .filter((line) => /"message":"(answered|refused)"/.test(line))
        .map((line): Record<string, unknown> => JSON.parse(line))
        .filter(({ route }) => route !== '/v1/models');
      return { requests: requests.length, answered: requests.filter(({ status }) => status === 200).length };
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
