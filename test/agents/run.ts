import { install } from './install.ts';
import { play } from './play.ts';
import { type Group, groups } from './scenarios.ts';
import type { Subject } from './subject.ts';
import { toCell, toRow } from './table.ts';

/**
 * `npm run agents` or `npm run agents -- codex pi`: runs the real clients from the registry with the blocks that people
 * paste, and prints what each does in each situation, as in the tables of docs/clients.md.
 */
const wanted = process.argv.slice(2);
const isWanted = ({ client }: Subject): boolean => wanted.length === 0 || wanted.includes(client);
const known = [...new Set(groups.flatMap(({ subjects }) => subjects.map(({ client }) => client)))];
const unknown = wanted.filter((client) => !known.includes(client));
if (unknown.length > 0) {
  console.error(`There is no ${unknown.join(', ')} among these: ${known.join(', ')}`);
  process.exit(2);
}

const wrong: string[] = [];

async function runGroup(group: Group): Promise<string[]> {
  const subjects = group.subjects.filter(isWanted);
  if (subjects.length === 0) return [];
  const rows: string[] = [];
  for (const subject of subjects) rows.push(await runSubject(group, subject));
  const head = toRow(['Client', 'Package', ...group.scenarios.map(({ title }) => title)]);
  return ['', `${group.title}:`, '', head, head.replace(/[^|]+/g, '---'), ...rows];
}

async function runSubject(group: Group, subject: Subject): Promise<string> {
  const { client, dialect, packages, acts } = subject;
  const name = `\`${client}\`${dialect ? `, ${dialect}` : ''}`;
  console.error(`\n${packages.join(' ')} ${dialect ?? ''}`);
  const cells: string[] = [];
  try {
    const modules = await install(subject);
    for (const scenario of group.scenarios) {
      if (scenario.act && !acts[scenario.act]) {
        cells.push('');
        continue;
      }
      const result = await play(group, subject, scenario, modules);
      cells.push(toCell(scenario, result));
      const lastLines = result.output.trimEnd().split('\n').slice(-6).join('\n');
      console.error(`${scenario.title}: ${cells.at(-1)}\n${lastLines}`);
      for (const places of result.leftOut) console.error(`left out: ${places}`);
      wrong.push(...result.faults.map((fault) => `${name}: ${scenario.title}: ${fault}`));
    }
  } catch (error) {
    console.error(error);
    wrong.push(`${name} could not be run`);
  }
  return toRow([name, `\`${packages[0]}\``, ...cells]);
}

for (const group of groups) for (const line of await runGroup(group)) console.log(line);
console.log(`\nRun on ${new Date().toISOString().slice(0, 10)}.`);
for (const one of wrong) console.error(`Not as it should be: ${one}`);
process.exitCode = wrong.length > 0 ? 1 : 0;
