import { readFileSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSignInSnippets } from '../../operator/setup.ts';
import { agents } from './agents.ts';
import { install, installBusybox } from './install.ts';
import { type Home, makeHome, type Outcome, runTask } from './run-task.ts';
import { answer } from './scenarios.ts';
import { type SignInGateway, startSignInGateway } from './sign-in-gateway.ts';
import { type Played, type Subject, textOf } from './subject.ts';

/** The clients that run a command to get their key. */
export const signingIn = agents.filter(({ client }) => ['claude-code', 'codex', 'opencode'].includes(client));

export const shells = ['dash', 'bash --posix', 'busybox sh'] as const;

const minute = 60_000;
const keyFileOf = (gatewayUrl: string) => `.config/svc/key-${new URL(gatewayUrl).host}`;
const noKey = 'No key that works yet: run this in a terminal first';

/** A client without a key, then with the key that its terminal got, then after that was revoked. */
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
  await gateway.revoke(readFileSync(join(home.path, keyFileOf(gateway.url)), 'utf8').trim());
  await ask('with a revoked key', keepsKey ? 'The API key is unknown' : noKey);
  return { cells, faults };
}

/** Runs a command in a terminal, and approves it once it shows a code. */
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

/** The same with login.sh alone, in a shell: busybox has only its own tools and curl. */
export async function playShell(shell: (typeof shells)[number]): Promise<Played> {
  await using gateway = await startSignInGateway();
  await using home = await makeHome('/nowhere');
  const script = await (await fetch(`${gateway.url}/cli/login.sh`)).text();
  const tools = shell === 'busybox sh' ? await makeBusyboxTools(home) : undefined;
  const command = tools === undefined ? `${shell} login.sh` : `PATH=${tools} ${tools}/${shell} login.sh`;
  const run = () => runTask({ files: { 'work/login.sh': script }, command }, home, { timeLimit: minute });

  const without = await run();
  const signedIn = await signInTerminal(gateway, home, command);
  const key = /ltk_[\w-]+/.exec(signedIn.output)?.[0];
  const again = await run();
  await writeFile(join(home.path, keyFileOf(gateway.url)), `${key}gone\n`);
  const dead = await run();
  const seen = [
    without.code === 1 && without.output.includes(noKey),
    signedIn.code === 0 && key !== undefined,
    again.code === 0 && again.output === `${key}\n`,
    dead.code === 1 && dead.output.includes(noKey),
  ];
  return {
    cells: seen.map((isRight) => (isRight ? 'yes' : 'no')),
    faults: seen.every(Boolean) ? [] : [JSON.stringify({ without, signedIn, again, dead })],
  };
}

/** A folder with only busybox, under its tools' names, and curl. */
async function makeBusyboxTools(home: Home): Promise<string> {
  const busybox = await installBusybox();
  const tools = join(home.path, 'tools');
  await mkdir(tools);
  for (const name of ['busybox', 'sh', 'cat', 'dirname', 'mkdir', 'mv', 'sed', 'sleep']) {
    await symlink(busybox, join(tools, name));
  }
  await symlink('/usr/bin/curl', join(tools, 'curl'));
  return tools;
}
