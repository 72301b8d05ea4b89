import { agents } from './agents.ts';
import { frameworks } from './frameworks.ts';
import { install } from './install.ts';
import { play } from './play.ts';
import { scenarios } from './scenarios.ts';
import { toCell, toRow } from './table.ts';

/**
 * `npm run agents` or `npm run agents -- codex pi`: runs the real clients from the registry with the blocks that people
 * paste, and prints what each does in each situation, as in the table of docs/clients.md.
 */
const wanted = process.argv.slice(2);
const subjects = [...agents, ...frameworks].filter(({ client }) => wanted.length === 0 || wanted.includes(client));
if (subjects.length === 0) {
  console.error(`None of these: ${[...agents, ...frameworks].map(({ client }) => client).join(', ')}`);
  process.exit(2);
}

const rows: string[] = [];
const wrong: string[] = [];
for (const subject of subjects) {
  console.error(`\n${subject.packages.join(' ')}`);
  const cells: string[] = [];
  try {
    const modules = await install(subject);
    for (const scenario of scenarios) {
      const result = await play(subject, scenario, modules);
      cells.push(toCell(scenario, result));
      console.error(`${scenario.title}: ${cells.at(-1)}\n${result.output.trimEnd().split('\n').slice(-6).join('\n')}`);
      if (!result.isRight) wrong.push(`${subject.client}: ${scenario.title}`);
    }
  } catch (error) {
    console.error(error);
    wrong.push(`${subject.client} could not be run`);
  }
  rows.push(toRow([`\`${subject.client}\``, `\`${subject.packages[0]}\``, ...cells]));
}
const head = toRow(['Client', 'Package', ...scenarios.map(({ title }) => title)]);
console.log([head, head.replace(/[^|]+/g, '---'), ...rows].join('\n'));
console.log(`\nRun on ${new Date().toISOString().slice(0, 10)}.`);
for (const one of wrong) console.error(`Not as it should be: ${one}`);
process.exitCode = wrong.length > 0 ? 1 : 0;
