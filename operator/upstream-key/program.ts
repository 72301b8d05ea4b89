import type { Command } from 'commander';
import { plainJson } from '../../local/plain-text.ts';
import { createCommand, type Outcome, type Terminal } from '../command-line.ts';
import { count, renderTable } from '../table.ts';
import { addParts, knownKind, removePart, type Shown, showMember } from './members.ts';
import type { Store } from './store.ts';

interface Options {
  readonly stack?: string;
  readonly region?: string;
  readonly file?: string;
  readonly json?: true;
}

export interface Surroundings extends Terminal {
  readonly readInput: () => Promise<string>;
  /** Opens a stack's secret or a host's file. */
  readonly openStore: (options: Options) => Promise<Store>;
}

export function createUpstreamKeyProgram(surroundings: Surroundings): Command {
  const { openStore, print, readInput } = surroundings;
  const program = createCommand('npm run upstream-key --', surroundings);
  program.description('Adds, removes and lists what upstreams are called with: single keys, while all others stay.');
  program.addHelpText('after', examples).helpCommand(false);

  const addCommand = (name: string, description: string): Command =>
    program
      .command(name)
      .description(description)
      .option('--stack <name>', 'the deployed stack whose upstreams these are')
      .option('--region <region>', 'where the stack is deployed')
      .option('--file <file>', 'or the file of environment variables of a host')
      .option('--json', 'print one JSON document, for programs');

  const run = async (options: Options, command: Command, act: (store: Store) => Promise<Outcome>) => {
    if ((options.stack === undefined) === (options.file === undefined)) {
      command.error('error: pass --stack, or --file for a host that has its keys in a file of environment variables');
    }
    if (options.region !== undefined && options.stack === undefined)
      command.error('error: --region belongs to --stack');
    const { json, text } = await act(await openStore(options));
    print(options.json ? plainJson(json) : text);
  };

  addCommand('add', 'add what comes on standard input: keys to a list, or headers to others')
    .argument('[member]', 'which list', 'UPSTREAM_API_KEYS')
    .action((member: string, options: Options, command: Command) =>
      run(options, command, async (store) => {
        knownKind(member);
        const input = await readInput();
        const outcome = await store.edit((members) => addParts(members, member, input));
        const said = outcome.added.length > 0 ? `Added ${outcome.added.join(', ')}.` : 'It was there already.';
        const after = outcome.added.length > 0 ? ` ${store.afterwards}` : '';
        return { json: outcome, text: `${said} ${describe(outcome)}${after}` };
      }),
    );

  addCommand('remove', 'remove one key or header')
    .argument('<member>', 'from which list')
    .argument('[which]', "a key's fingerprint or a header's name; needed where there are several")
    .action((member: string, which: string | undefined, options: Options, command: Command) =>
      run(options, command, async (store) => {
        const outcome = await store.edit((members) => removePart(members, member, which));
        const said = `Removed ${outcome.removed ?? member}. ${describe(outcome)} ${store.afterwards}`;
        return { json: outcome, text: `${said} Then revoke it at the upstream.` };
      }),
    );

  addCommand('list', 'list the names of what there is, with fingerprints in place of keys').action(
    (options: Options, command: Command) =>
      run(options, command, async (store) => {
        const members = await store.read();
        const shown = Object.keys(members).map((member) => showMember(members, member));
        const rows = shown.map(({ member, one, parts }) => [
          member,
          one === undefined ? 'not read by the gateway' : count(parts.length, one),
          parts.join(', '),
        ]);
        const text = rows.length > 0 ? renderTable(['MEMBER', 'HOLDS', 'WHICH'], rows) : 'There is nothing.';
        return { json: { members: shown }, text };
      }),
  );

  for (const command of [program, ...program.commands]) command.showHelpAfterError('(--help says more)');
  return program;
}

function describe({ member, one = 'part', parts }: Shown): string {
  if (parts.length > 0) return `${member} holds ${count(parts.length, one)}: ${parts.join(', ')}.`;
  return one === 'key' ? `${member} holds none: without one its upstream is not used.` : `${member} holds none.`;
}

const examples = `
A value comes on standard input, or is asked for in a terminal, where it is not shown. None is ever printed: a key's fingerprint is the
first 12 digits of its SHA-256, by which you know one that you have: printf %s "$KEY" | sha256sum

Examples:
  npm run upstream-key -- list --stack InferenceGateway-prod
  npm run upstream-key -- add --stack InferenceGateway-prod
  npm run upstream-key -- remove UPSTREAM_API_KEYS 3f9a1c20d4e7 --stack InferenceGateway-prod
  npm run upstream-key -- add UPSTREAM_2_HEADERS --stack InferenceGateway-prod < headers.json
  npm run upstream-key -- add --file /etc/gateway.env < new-key.txt

Exit codes: 0 done, 1 not done, 2 wrong usage.`;
