import type { Figure } from '../figures.ts';
import type { Results } from '../results.ts';
import { quantile } from '../statistics.ts';
import type { SubjectName } from '../subject.ts';
import { renderOrigin } from './table.ts';

const width = 860;
const left = 300;
const right = 70;
const lane = 16;
const gap = 22;
const colours = { bare: '#8a8f98', bareDynamoDb: '#c98a1b', gateway: '#2563a8' } as const;
type Lane = keyof typeof colours;

/** Draws every figure: each sample as a mark, the median as a bar, one row per subject. */
export function plot(figures: readonly Figure[], results: Results): string {
  const parts: string[] = [];
  let y = 64;
  for (const figure of figures) {
    const lanes = samplesOf(figure, results);
    if (lanes.every(([, numbers]) => numbers.length < 2)) continue;
    const most = Math.max(...lanes.flatMap(([, numbers]) => numbers));
    const x = (value: number) => left + (Math.max(0, value) / most) * (width - left - right);
    parts.push(text(left - 12, y + lane * 1.5, `${figure.title}${figure.unit && `, ${figure.unit}`}`, 'end'));
    for (const [subject, numbers] of lanes) {
      parts.push(...drawLane(numbers, x, y, colours[subject]));
      y += lane;
    }
    y += gap;
  }
  const legend = Object.entries(colours).map(
    ([name, colour], index) =>
      `<rect x="${left + index * 150}" y="30" width="12" height="12" fill="${colour}"/>${text(left + 18 + index * 150, 40, name === 'bareDynamoDb' ? 'bare + DynamoDB' : name)}`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${y}" viewBox="0 0 ${width} ${y}" font-family="sans-serif" font-size="12">`,
    `<rect width="100%" height="100%" fill="#fff"/>`,
    text(16, 20, renderOrigin(results).replaceAll('`', '')),
    ...legend,
    ...parts,
    '</svg>\n',
  ].join('\n');
}

function samplesOf({ measurement, sample, gateway = 'gateway' }: Figure, results: Results): [Lane, number[]][] {
  const numbers = (subject: SubjectName) => results.samples[measurement]?.[subject]?.[sample] ?? [];
  return [
    ['bare', numbers('bare')],
    ['bareDynamoDb', numbers('bareDynamoDb')],
    ['gateway', numbers(gateway)],
  ];
}

function drawLane(numbers: readonly number[], x: (value: number) => number, y: number, colour: string): string[] {
  if (numbers.length === 0) return [];
  const middle = y + lane / 2;
  const [low, median, high] = [0.25, 0.5, 0.75].map((share) => quantile(numbers, share)) as [number, number, number];
  const marks = numbers.map(
    (value) => `<circle cx="${x(value).toFixed(1)}" cy="${middle}" r="2.5" fill="${colour}" fill-opacity="0.4"/>`,
  );
  return [
    `<line x1="${left}" x2="${width - right}" y1="${middle}" y2="${middle}" stroke="#eceef1"/>`,
    `<rect x="${x(low).toFixed(1)}" y="${y + 4}" width="${Math.max(1, x(high) - x(low)).toFixed(1)}" height="${lane - 8}" fill="${colour}" fill-opacity="0.25"/>`,
    ...marks,
    `<rect x="${(x(median) - 1).toFixed(1)}" y="${y + 1}" width="2" height="${lane - 2}" fill="${colour}"/>`,
    text(width - right + 8, middle + 4, median >= 100 ? median.toFixed(0) : median.toPrecision(3)),
  ];
}

function text(x: number, y: number, content: string, anchor = 'start'): string {
  return `<text x="${x}" y="${y}" text-anchor="${anchor}" fill="#22262b">${content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</text>`;
}
