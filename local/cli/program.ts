import { Command, InvalidArgumentError } from 'commander';
import type { KeyIssuing } from '../../lambda/identity/issue-key.ts';
import { networkOf } from '../../lambda/identity/network.ts';
import { issue, link, list, type Outcome, revoke, show } from './commands.ts';
import { parseExpiry, parseWhole } from './parse.ts';
import type { Target, TargetOptions } from './target.ts';

export interface Surroundings extends KeyIssuing {
  readonly openTarget: (options: TargetOptions) => Promise<Target>;
  readonly print: (text: string) => void;
  /** Takes what commander writes, line ends included. */
  readonly printError: (text: string) => void;
}

interface CommonOptions extends TargetOptions {
  readonly json?: true;
}

/** The operator's commands with their arguments, options and help. */
export function createProgram({ now, randomBytes, openTarget, print, printError }: Surroundings): Command {
  const program = new Command('npm run keys --');
  program.description("Issues, shows and revokes the keys of a gateway, and links networks to members' quotas.");
  program.addHelpText('after', examples).exitOverride().helpCommand(false);
  program.configureOutput({ writeOut: (text) => print(text.trimEnd()), writeErr: printError });

  const run = async (options: CommonOptions, act: (target: Target) => Promise<Outcome>): Promise<void> => {
    await using target = await openTarget(options);
    const { json, text } = await act(target);
    print(options.json ? JSON.stringify(json) : text);
  };

  addCommand(program, 'issue', 'make a new key; it is shown this once')
    .option('--member <name>', 'whose quota it draws on; without one a new member is made up', readMember)
    .option('--label <text>', 'a note on what the key is for', readLabel)
    .option('--limit <requests>', 'a daily limit of its own, beside the quota of its member', readLimit)
    .option('--expires <when>', 'a span (12h, 30d, 2w) or a date (2027-01-31, 2027-01-31T18:00Z)', (text) =>
      checked((value) => parseExpiry(value, now()), 'a span such as 12h, 30d or 2w, or a date to come')(text),
    )
    .action(({ label, limit, expires: expiresAt, ...options }: IssueOptions & CommonOptions) => {
      const member = options.member ?? `member-${Buffer.from(randomBytes(5)).toString('hex')}`;
      return run(options, (target) => issue(target, { member, label, limit, expiresAt }, { now, randomBytes }));
    });

  addCommand(program, 'list', 'list the keys')
    .option('--member <name>', 'only those of one member, the newest first', readMember)
    .option('--page-size <keys>', 'how many at once', checkedWhole(1, 1000), 100)
    .option('--from <place>', 'where to go on, as the page before said', readPlace)
    .action(({ member, pageSize, from, ...options }: ListOptions & CommonOptions) =>
      run(options, (target) => list(target, { member, pageSize, from }, now())),
    );

  addCommand(program, 'show', 'show the limits of a key, and what is used of them')
    .argument('<id>', 'the id of the key, or the key itself')
    .action((id: string, options: CommonOptions) => run(options, (target) => show(target, id, now())));

  addCommand(program, 'revoke', 'refuse a key from now on, for ever')
    .argument('<id>', 'the id of the key, or the key itself')
    .action((id: string, options: CommonOptions) => run(options, (target) => revoke(target, id, now())));

  addCommand(program, 'link', 'let a network count as a member for a while, with any placeholder as its key')
    .argument('<network>', 'an IPv4 address, an IPv6 address or a /64', readNetwork)
    .requiredOption('--member <name>', 'whose quota it draws on', readMember)
    .option('--hours <hours>', 'for how long', checkedWhole(1, 8760), 24)
    .action((network: string, { member, hours, ...options }: LinkOptions & CommonOptions) =>
      run(options, (target) => link(target, { network, member, hours }, now())),
    );

  for (const command of [program, ...program.commands]) {
    command.showHelpAfterError(
      `Usage: ${[program.name(), command === program ? '' : command.name()].filter(Boolean).join(' ')} ${command.usage()}`,
    );
  }
  return program;
}

interface IssueOptions {
  readonly member?: string;
  readonly label?: string;
  readonly limit?: number;
  readonly expires?: number;
}

interface ListOptions {
  readonly member?: string;
  readonly pageSize: number;
  readonly from?: string;
}

interface LinkOptions {
  readonly member: string;
  readonly hours: number;
}

/** A command with the options that all of them take. */
function addCommand(program: Command, name: string, description: string): Command {
  return program
    .command(name)
    .description(description)
    .option('--json', 'print one JSON document, for programs')
    .option('--stack <name>', 'a deployed stack instead of the local gateway')
    .option('--region <region>', 'where the stack is deployed');
}

/** A reader of a text that may be wrong; what is wrong is named by commander, what it may be by `expects`. */
function checked<T>(parse: (text: string) => T | undefined, expects: string): (text: string) => T {
  return (text) => {
    const value = parse(text);
    if (value === undefined) throw new InvalidArgumentError(`It must be ${expects}.`);
    return value;
  };
}

const matching = (pattern: RegExp, expects: string) =>
  checked((text) => (pattern.test(text) ? text : undefined), expects);
const checkedWhole = (from: number, to: number) =>
  checked((text) => parseWhole(text, from, to), `a whole number from ${from} to ${to}`);

const readMember = matching(/^[\w.@:+-]{1,100}$/, '1 to 100 letters, digits and . _ @ : + -');
const readLabel = matching(/^\P{Cc}{1,200}$/u, 'a text of 1 to 200 characters');
const readPlace = matching(/^[\w-]{8,2000}$/, 'what the page before said');
const readLimit = checkedWhole(0, 1_000_000);
const readNetwork = checked(networkOf, 'an IPv4 address, an IPv6 address or a /64');

const examples = `
Without --stack the commands work on the local gateway that PORT (8787) and DATA_DIR stand for.

Examples:
  npm run keys -- issue --member ada --label laptop --expires 30d
  npm run keys -- issue --limit 1000 --stack InferenceGateway --region eu-central-1
  npm run --silent keys -- issue --json
  npm run keys -- list
  npm run keys -- show key_Zk3vQ1xWb0aT
  npm run keys -- revoke key_Zk3vQ1xWb0aT
  npm run keys -- link 203.0.113.7 --member ada

Exit codes: 0 done, 1 not done, 2 wrong usage.`;
