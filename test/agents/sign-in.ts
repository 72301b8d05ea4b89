import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSignInSnippets } from '../../operator/setup.ts';
import { agents } from './agents.ts';
import { install } from './install.ts';
import { type Home, makeHome, type Outcome, runTask } from './run-task.ts';
import { answer } from './scenarios.ts';
import { type SignInGateway, startSignInGateway } from './sign-in-gateway.ts';
import { type Played, type Subject, textOf } from './subject.ts';

/** The clients that get their key by a command. */
export const signingIn = agents.filter(({ client }) => ['claude-code', 'codex', 'opencode'].includes(client));

const minute = 60_000;
const keyFile = '.config/svc/key';
const noKey = 'No key that works yet: run this in a terminal first';

/** A client without a key, then with the one that its terminal got, then after that was revoked. */
export async function playSignIn(subject: Subject): Promise<Played> {
  const modules = await install(subject);
  await using gateway = await startSignInGateway();
  await using home = await makeHome(modules);
  const access = { gatewayUrl: gateway.url, appUrl: gateway.url, serviceName: 'svc', contextWindow: 1_000_000 };
  const snippet = createSignInSnippets(access).find(({ id }) => id === subject.client);
  if (!snippet) throw new Error(`there is no block for ${subject.client}`);
  const [signIn = '', start = ''] = textOf(snippet, 'Terminal').split('\n');
  const blocks = snippet.blocks.map((block) => (block.title === 'Terminal' ? { ...block, text: start } : block));
  const task = subject.task({ ...snippet, blocks }, undefined);
  const environment = subject.quiet;
  const keepsKey = subject.client === 'opencode';

  const cells: string[] = [];
  const faults: string[] = [];
  const ask = async (when: string, words: string) => {
    gateway.takeRequests();
    const { output } = await runTask(task, home, { environment, timeLimit: 2 * minute });
    const { requests, answered } = gateway.takeRequests();
    cells.push(`${requests}/${answered}`);
    if (!output.includes(words)) faults.push(`${when} it does not say: ${words}, but:\n${output}`);
  };
  // Before its sign-in it has no settings either.
  if (keepsKey) cells.push('');
  else await ask('without a key', noKey);
  const { code, output } = await signInTerminal(gateway, home, signIn, environment);
  if (code !== 0 || output.includes('ltk_')) faults.push(`the sign-in ends with ${code}:\n${output}`);
  await ask('signed in', answer);
  await gateway.revoke(readFileSync(join(home.path, keyFile), 'utf8').trim());
  await ask('with a revoked key', keepsKey ? 'The API key is unknown' : noKey);
  return { cells, faults };
}

/** Runs a command in a terminal, and lets that in once it shows a code. */
async function signInTerminal(
  gateway: SignInGateway,
  home: Home,
  command: string,
  environment?: Subject['quiet'],
): Promise<Outcome> {
  let approval: Promise<void> | undefined;
  const outcome = await runTask({ files: {}, command }, home, {
    environment,
    timeLimit: minute,
    watchTerminal: (shown) => {
      const code = /Type {2}(\S+)\s/.exec(shown)?.[1];
      if (code !== undefined) approval ??= gateway.approve(code);
    },
  });
  await approval;
  return outcome;
}
