import { Argument, Command, Option } from 'commander';
import { install } from './install.ts';
import { play, type Result } from './play.ts';
import { type Group, groups, type Scenario } from './scenarios.ts';
import { playShell, playSignIn, shells, signingIn } from './sign-in.ts';
import type { Played, Subject } from './subject.ts';

const nameOf = ({ client, as }: Subject): string => `\`${client}\`${as ? `, ${as}` : ''}`;

async function playScenarios(group: Group, subject: Subject, only: string | undefined): Promise<Played> {
  const modules = await install(subject);
  const cells: string[] = [];
  const faults: string[] = [];
  for (const scenario of group.scenarios) {
    if (only !== undefined && scenario.title !== only) {
      cells.push('');
      continue;
    }
    const isFor = scenario.act === undefined || subject.acts[scenario.act] !== undefined;
    const result = isFor ? await play(group, subject, scenario, modules) : undefined;
    cells.push(result ? toCell(scenario, result) : '');
    if (!result) continue;
    faults.push(...result.faults.map((fault) => `${scenario.title}: ${fault}`));
    const lastLines = result.output.trimEnd().split('\n').slice(-6).join('\n');
    console.error(`${scenario.title}: ${cells.at(-1)}\n${lastLines}`);
    for (const places of result.leftOut) console.error(`left out: ${places}`);
  }
  return { cells, faults };
}

/** The number of requests, how many were charged, and the time if a person would notice it. */
function toCell({ breaks }: Scenario, { requests, charged, seconds, code, streamed }: Result): string {
  if (breaks && !streamed) return 'no stream';
  const span = seconds >= 5 ? ` in ${Math.round(seconds)} s` : '';
  return `${requests}/${charged}${span}${code === null ? ', still trying' : ''}`;
}

interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly {
    /** Selects it on the command line. */
    readonly client: string;
    /** Its first cells. */
    readonly names: readonly string[];
    play(only?: string): Promise<Played>;
  }[];
}

/** A Markdown table. */
function showTable({ title, columns }: Table, rows: readonly (readonly string[])[]): string {
  const head = toLine(columns);
  return [`${title}:`, '', head, head.replace(/[^|]+/g, '---'), ...rows.map(toLine), ''].join('\n');
}

const toLine = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

const tables: readonly Table[] = [
  ...groups.map((group) => ({
    title: group.title,
    columns: ['Client', 'Package', ...group.scenarios.map(({ title }) => title)],
    rows: group.subjects.map((subject) => ({
      client: subject.client,
      names: [nameOf(subject), `\`${subject.packages[0]}\``],
      play: (only?: string) => playScenarios(group, subject, only),
    })),
  })),
  {
    title: 'With a key by a sign-in',
    columns: ['Client', 'Package', 'No key yet', 'Signed in', 'Its key revoked'],
    rows: signingIn.map((subject) => ({
      client: subject.client,
      names: [nameOf(subject), `\`${subject.packages[0]}\``],
      play: () => playSignIn(subject),
    })),
  },
  {
    title: '`login.sh`, by the shell that runs it',
    columns: ['Shell', 'Ends without a terminal', 'Signs in', 'Gives its key again', 'Gives no dead key'],
    rows: shells.map((shell) => ({ client: 'login.sh', names: [`\`${shell}\``], play: () => playShell(shell) })),
  },
];

const clients = [...new Set(tables.flatMap(({ rows }) => rows.map(({ client }) => client)))];
const titles = [...new Set(groups.flatMap(({ scenarios }) => scenarios.map(({ title }) => title)))];
const command = new Command('npm run agents --')
  .description(
    'Runs real clients from the registry with the blocks that people paste, and prints what each does in each situation, which docs/clients.md sums up.',
  )
  .addArgument(new Argument('[client...]', 'only these (default: all, in half an hour)').choices(clients))
  .addOption(new Option('--scenario <title>', 'only this one, and no sign-in').choices(titles))
  .parse();
const wanted = command.args;

const { scenario: only } = command.opts<{ scenario?: string }>();

const wrong: string[] = [];
for (const table of only === undefined ? tables : tables.slice(0, groups.length)) {
  const rows = table.rows.filter(({ client }) => wanted.length === 0 || wanted.includes(client));
  const played: string[][] = [];
  for (const { names, play: playRow } of rows) {
    console.error(`\n${names.join(' ')}`);
    try {
      const { cells, faults } = await playRow(only);
      played.push([...names, ...cells]);
      wrong.push(...faults.map((fault) => `${names[0]}: ${fault}`));
    } catch (error) {
      console.error(error);
      wrong.push(`${names[0]} could not be run`);
    }
  }
  if (rows.length > 0) console.log(showTable(table, played));
}
console.log(`Run on ${new Date().toISOString().slice(0, 10)}.`);
for (const one of wrong) console.error(`Not as it should be: ${one}`);
process.exitCode = wrong.length > 0 ? 1 : 0;
