import type { Goal } from '../figures.ts';
import type { Results, Row } from '../results.ts';

const titles = ['figure', 'unit', 'bare', 'bare + DynamoDB', 'gateway', 'to bare', 'to bare + DynamoDB', 'goal'];

/** The figures as a Markdown table that is also readable in a terminal. */
export function renderTable(rows: readonly Row[], withGoals: boolean): string {
  const cells = rows.map((row) => cellsOf(row, withGoals));
  const all = [titles, ...cells];
  const widths = titles.map((_, column) => Math.max(...all.map((line) => line[column]?.length ?? 0)));
  const pad = (line: readonly string[]) =>
    `| ${line.map((text, column) => (column < 2 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0))).join(' | ')} |`;
  const rule = `| ${widths.map((width, column) => '-'.repeat(width - (column < 2 ? 0 : 1)) + (column < 2 ? '' : ':')).join(' | ')} |`;
  return [pad(titles), rule, ...cells.map(pad)].join('\n');
}

/** Why some of these figures differ from run to run. */
export function renderSpreads(rows: readonly Row[]): string {
  const lines = rows.flatMap(({ figure: { title, spread } }) => (spread === undefined ? [] : `- ${title}: ${spread}.`));
  return lines.length === 0 ? '' : `\nThree runs in a row may differ by more than 8 %:\n\n${lines.join('\n')}\n`;
}

/** Where, when and with what the figures were measured. */
export function renderOrigin({ command, at, machine, versions }: Results): string {
  const what = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return `\`${command}\`, ${at.slice(0, 10)}, ${machine}\n${what.join(', ')}`;
}

function cellsOf({ figure, values, ratios, met }: Row, withGoals: boolean): string[] {
  const mark = met === undefined || !withGoals ? '' : met ? ' ✓' : ' ✗';
  return [
    figure.title,
    figure.unit,
    number(values.bare),
    number(values.bareDynamoDb),
    number(values.gateway),
    ratio(ratios.bare),
    ratio(ratios.bareDynamoDb),
    figure.goal ? describeGoal(figure.goal, figure.unit) + mark : '',
  ];
}

function describeGoal(goal: Goal, unit: string): string {
  const bound = 'atMost' in goal ? `≤ ${goal.atMost}` : `≥ ${goal.atLeast}`;
  return goal.to === 'nothing' ? `${bound} ${unit}` : `${bound} × ${goal.to === 'bare' ? 'bare' : 'bare + DynamoDB'}`;
}

function ratio(value: number): string {
  return Number.isNaN(value) ? '' : value.toFixed(2);
}

/** Rounds to three significant digits. */
function number(value: number): string {
  if (Number.isNaN(value)) return '';
  const digits = value === 0 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(digits, 3));
}
