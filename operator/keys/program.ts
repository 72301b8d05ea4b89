import { Argument, type Command, Option } from 'commander';
import type { Budget } from '../../lambda/budget/budget-window.ts';
import type { KeyState } from '../../lambda/identity/issued-keys.ts';
import type { KeyChanges } from '../../lambda/store/store.ts';
import {
  addTargetOptions,
  createCommand,
  type Outcome,
  orElse,
  readLine,
  readWhole,
  type TargetOptions,
} from '../command-line.ts';
import { clientNames, showSetup } from '../setup.ts';
import { type Prices, read } from './arguments.ts';
import { backUp } from './backup.ts';
import { change, releaseBudget, rotate } from './changes.ts';
import { issue, link, list, memberOf, revoke, revokeAll, show, unlink } from './commands.ts';
import { createTables } from './create-tables.ts';
import { exportKeys, importKeys } from './move.ts';
import { actOn, type Surroundings } from './surroundings.ts';
import type { Target } from './target.ts';
import { showTokenUsage } from './token-usage.ts';
import { showUsage } from './usage.ts';

/** The options of all commands: an option means the same in each. */
interface Options extends TargetOptions {
  readonly member?: string;
  readonly subject?: string;
  readonly label?: string;
  readonly limit?: number;
  readonly budget?: Budget;
  readonly models?: readonly string[];
  readonly burst?: number;
  readonly expires?: number;
  readonly state?: KeyState;
  readonly overlap?: number;
  readonly release?: true;
  readonly top: number;
  readonly tokens?: true;
  readonly days?: number;
  readonly price?: Prices;
  readonly hours: number;
  readonly key?: string;
}

export function createProgram(surroundings: Surroundings): Command {
  const program = createCommand('npm run keys --', surroundings);
  program.description("Issues, shows and revokes the keys of a gateway, and links networks to members' quotas.");
  program.addHelpText('after', examples).helpCommand(false);

  const run: Run = (options, act) => actOn(surroundings, options, act);

  addKeyCommands(program, run, surroundings);
  addChangeCommands(program, run, surroundings);
  addUsageCommand(program, run, surroundings);
  addClientCommands(program, run, surroundings);
  addStoreCommands(program, run);

  for (const command of program.commands) {
    if (givesCounters.includes(command.name())) command.addHelpText('after', countsAlone);
  }
  for (const command of [program, ...program.commands]) {
    command.showHelpAfterError(
      `Usage: ${[program.name(), command === program ? '' : command.name()].filter(Boolean).join(' ')} ${command.usage()}`,
    );
  }
  return program;
}

type Run = (options: TargetOptions, act: (target: Target) => Promise<Outcome>) => Promise<void>;

function addKeyCommands(program: Command, run: Run, { now, randomBytes }: Surroundings): void {
  addCommand(program, 'issue', 'make a new key, which is shown only once')
    .option('--member <name>', 'whose quota it draws on; without one a new member is made up', read.member)
    .option('--label <text>', 'a note on what the key is for', readLine)
    .option('--limit <requests>', 'a daily limit of its own', read.limit)
    .option('--budget <amount/window>', 'a budget of its own, for a day, week or month (20/month)', read.budget)
    .option('--models <ids>', 'the only public models that it may use', read.models)
    .option('--burst <requests>', 'a limit a minute of its own', read.burst)
    .option('--expires <when>', 'a span (12h, 30d, 2w) or a date (2027-01-31, 2027-01-31T18:00Z)', read.expiry(now))
    .action(({ label, limit, budget, models, burst, expires, ...options }: Options) => {
      const member = options.member ?? `member-${Buffer.from(randomBytes(5)).toString('hex')}`;
      const own = { limit, budget: budget?.amount, budgetWindow: budget?.window, models, burst, expiresAt: expires };
      return run({ ...options, creates: true }, (target) =>
        issue(target, { member, label, ...own }, { now, randomBytes }),
      );
    });

  addCommand(program, 'list', 'list the keys, the newest first')
    .option('--member <name>', 'only those of one member', read.member)
    .addOption(subjectOption('only those of').conflicts('member'))
    .addOption(new Option('--state <state>', 'only those in this state').choices(['live', 'revoked', 'expired']))
    .option('--label <text>', 'only those with this text in their label', readLine)
    .action(({ subject, state, label, ...options }: Options) =>
      run(options, async (target) => {
        const member = subject === undefined ? options.member : await memberOf(target, subject);
        return list(target, { member, state, label }, now());
      }),
    );

  addKeyCommand(program, 'show', 'show the limits and usage of a key').action((id: string, options: Options) =>
    run(options, (target) => show(target, id, now())),
  );

  addCommand(program, 'revoke', 'refuse a key for ever, or all of a person')
    .argument('[id]', 'the id of the key, or the key itself')
    .addOption(subjectOption('all keys of'))
    .action((id: string | undefined, { subject, ...options }: Options, command: Command) => {
      if (id !== undefined && subject === undefined) return run(options, (target) => revoke(target, id, now()));
      if (id !== undefined || subject === undefined) command.error('error: revoke takes either an id or --subject');
      return run(options, async (target) => revokeAll(target, await memberOf(target, subject), now()));
    });
}

function addChangeCommands(program: Command, run: Run, { now, randomBytes }: Surroundings): void {
  const overlap = 'how long the old key still works (1h, 2d); without it, it is revoked at once';
  addKeyCommand(
    program,
    'rotate',
    'replace a key by a new one for the same member, with the same label, expiry and limits',
  )
    .option('--overlap <span>', overlap, read.span)
    .action((id: string, { overlap, ...options }: Options) =>
      run(options, (target) => rotate(target, id, overlap, { now, randomBytes })),
    );

  /** Adds a command that sets one of a key's own settings, or removes it if given the word for that. */
  const addChange = <T>(
    [name, description]: readonly [name: string, description: string],
    argument: readonly [name: string, description: string, read: (word: string) => T | null],
    toChanges: (value: T | undefined) => KeyChanges,
  ) =>
    addKeyCommand(program, name, description)
      .argument(...argument)
      .action((id: string, value: T | null, options: Options) =>
        run(options, (target) => change(target, id, toChanges(value ?? undefined), now())),
      );
  addChange(
    ['limit', 'give a key its own daily limit, or none'],
    ['<requests>', 'a number, or none', orElse('none', read.limit)],
    (limit) => ({ limit }),
  );
  const when = 'a span (12h, 30d, 2w), a date (2027-01-31, 2027-01-31T18:00Z), or never';
  addChange(
    ['expire', 'change when a key expires'],
    ['<when>', when, orElse('never', read.expiry(now))],
    (expiresAt) => ({ expiresAt, renewable: undefined }),
  );
  addChange(
    ['models', 'restrict a key to some public models'],
    ['<models>', 'public models separated by commas, or all', orElse('all', read.models)],
    (models) => ({ models }),
  );
  addChange(
    ['burst', 'give a key its own limit a minute, or the default again'],
    ['<requests>', 'a number, or default', orElse('default', read.burst)],
    (burst) => ({ burst }),
  );

  const budgetText = 'give a key its own budget, or none; or give back what its budget lost';
  addKeyCommand(program, 'budget', budgetText)
    .argument('[amount/window]', 'an amount for a day, week or month (50/month), or none', orElse('none', read.budget))
    .option('--release', 'give back reservations of requests that were lost with their process')
    .action((id: string, budget: Budget | null | undefined, { release, ...options }: Options, command: Command) => {
      if ((budget === undefined) !== (release === true)) {
        command.error('error: a budget takes an amount, none, or --release');
      }
      const changes = { budget: budget?.amount, budgetWindow: budget?.window };
      return run(options, (target) =>
        release ? releaseBudget(target, id, now()) : change(target, id, changes, now()),
      );
    });
}

function addUsageCommand(program: Command, run: Run, { now, pause }: Surroundings): void {
  addCommand(program, 'usage', 'show who used and spent how much, the highest first; reads the whole quota table')
    .option('--top <rows>', 'how many to show', readWhole(1, 1000), 20)
    .option('--tokens', 'tokens instead of requests, by key and by member, from the log')
    .option('--days <days>', 'how far back the tokens are counted; 7 without it', readWhole(1, 3653))
    .option('--price <prices>', 'what a million tokens cost: in,out,cache-read,cache-write, in dollars', read.prices)
    .action(({ top, tokens, days, price, ...options }: Options, command: Command) => {
      if (!tokens && (days ?? price) !== undefined) command.error('error: --days and --price need --tokens');
      return run(options, (target) =>
        tokens
          ? showTokenUsage(target, { top, days: days ?? 7, prices: price }, now())
          : showUsage(target, top, now(), pause),
      );
    });
}

function addClientCommands(program: Command, run: Run, { now }: Surroundings): void {
  addCommand(program, 'link', 'let a network count as a member for a while, with any word as its key')
    .argument('<network>', 'an IPv4 address, an IPv6 address or a /64', read.network)
    .requiredOption('--member <name>', 'whose quota it draws on', read.member)
    .option('--hours <hours>', 'for how long', readWhole(1, 8760), 24)
    .action((network: string, { member, hours, ...options }: Options & { member: string }) =>
      run(options, (target) => link(target, network, { member, hours }, now())),
    );

  addCommand(program, 'unlink', 'end the link of a network to a member')
    .argument('<network>', 'an IPv4 address, an IPv6 address or a /64', read.network)
    .action((network: string, options: Options) => run(options, (target) => unlink(target, network, now())));

  addCommand(program, 'setup', 'print what to paste into a client')
    .addArgument(new Argument('<client>', 'which client').choices(clientNames))
    .option('--key <key>', 'the key to fill in', read.key)
    .action((client: string, { key, ...options }: Options) =>
      run(options, async (target) => showSetup(target, client, key)),
    );
}

function addStoreCommands(program: Command, run: Run): void {
  addCommand(program, 'export', 'print all keys, as hashes, for `import` into another gateway’s store').action(
    (options: Options) => run(options, exportKeys),
  );
  addCommand(program, 'import', 'take over the keys of an export, which then work as before')
    .argument('<file>', 'what `export` has printed')
    .action((file: string, options: Options) =>
      run({ ...options, creates: true }, (target) => importKeys(target, file)),
    );
  addCommand(program, 'backup', 'copy all that DATA_DIR holds into a file, while the gateway runs')
    .argument('<file>', 'a new file')
    .action((file: string, options: Options) => run(options, (target) => backUp(target, file)));
  addCommand(program, 'create-tables', 'make those of the two DynamoDB tables that are missing').action(
    (options: Options) => run(options, createTables),
  );
}

/** For people who sign in through OIDC. */
const subjectOption = (whose: string) =>
  new Option('--subject <sub>', `${whose} a person, by the provider's \`sub\` for them`).argParser(read.subject);

/** A command with the options that all share. */
function addCommand(program: Command, name: string, description: string): Command {
  return addTargetOptions(program.command(name).description(description));
}

/** A command that takes one key. */
const addKeyCommand = (program: Command, name: string, description: string): Command =>
  addCommand(program, name, description).argument('<id>', 'the id of the key, or the key itself');

const givesCounters = ['issue', 'limit', 'burst', 'budget'];
const countsAlone = `
A key with a limit, budget or burst of its own shares none of its member’s: what it was not given is the default, in full.`;

const examples = `
Without --stack the commands work on the gateway of this machine named by PORT (8787), or DATA_DIR, or KEYS_TABLE and QUOTA_TABLE.

Examples:
  npm run keys -- issue --member ada --label laptop --expires 30d
  npm run keys -- issue --limit 1000 --stack InferenceGateway-prod --region eu-central-1
  npm run keys -- revoke key_Zk3vQ1xWb0aT
  npm run keys -- rotate key_Zk3vQ1xWb0aT --overlap 1d
  npm run keys -- budget key_Zk3vQ1xWb0aT 50/month
  npm run keys -- usage --tokens --days 30 --price 3,15,0.3,3.75 --stack InferenceGateway-prod
  npm run keys -- link 203.0.113.7 --member ada

Exit codes: 0 done, 1 not done, 2 wrong usage.`;
