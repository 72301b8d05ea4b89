import { usualMemory } from './assumptions.ts';
import { containersFor, containersMonth, lambdaMonth } from './model.ts';

const [width, height] = [760, 440];
const frame = { left: 80, right: 120, top: 56, bottom: 56 };
const [fewest, most] = [1e4, 1e8];
const [cheapest, dearest] = [1, 1e5];
const lines = [
  { seconds: 2, colour: '#1b7f5c' },
  { seconds: 10, colour: '#2563a8' },
  { seconds: 60, colour: '#b4472f' },
] as const;

/** What Lambda and containers cost a month, by requests a month and length of streams; both axes are logarithmic. */
export function plotCosts(): string {
  const title = `Dollars a month by requests a month: Lambda (${usualMemory} MB) and containers`;
  const parts = [
    `<title>${title}</title>`,
    '<rect width="100%" height="100%" fill="#fff"/>',
    text(frame.left, 24, title, 'start', 15),
    text(
      frame.left,
      42,
      'solid: Lambda · dashed: Fargate, as many containers as the busiest time takes, with a load balancer',
      'start',
      11,
    ),
  ];
  for (let power = 1; power <= dearest; power *= 10) {
    parts.push(rule(frame.left, y(power), width - frame.right, y(power)));
    parts.push(text(frame.left - 8, y(power) + 4, `$${power.toLocaleString('en-US')}`, 'end'));
  }
  for (let power = fewest; power <= most; power *= 10) {
    parts.push(rule(x(power), frame.top, x(power), height - frame.bottom));
    const name = power < 1e6 ? `${power / 1e3} thousand` : `${power / 1e6} million`;
    parts.push(text(x(power), height - frame.bottom + 18, name, 'middle'));
  }
  parts.push(text((frame.left + width - frame.right) / 2, height - 12, 'requests a month', 'middle'));
  for (const { seconds, colour } of lines) {
    const lambda = (requests: number) => lambdaMonth(requests, seconds);
    const containers = (requests: number) => containersMonth(containersFor(requests, seconds));
    parts.push(curve(lambda, colour, ''), curve(containers, colour, '5 4'));
    const label = `streams of ${seconds === 60 ? '1 min' : `${seconds} s`}`;
    const end = Math.min(most, lastWithin(lambda));
    parts.push(`<g fill="${colour}">${text(x(end) + 6, y(lambda(end)) + 4, label, 'start')}</g>`);
  }
  const style = 'font-family="system-ui, sans-serif" font-size="12" fill="#333"';
  const size = `role="img" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} ${style}>\n${parts.join('\n')}\n</svg>\n`;
}

function curve(cost: (requests: number) => number, colour: string, dashes: string): string {
  const points: string[] = [];
  for (let step = 0; step <= 400; step += 1) {
    const requests = fewest * (most / fewest) ** (step / 400);
    const dollars = cost(requests);
    if (dollars >= cheapest && dollars <= dearest) points.push(`${fixed(x(requests))},${fixed(y(dollars))}`);
  }
  const dash = dashes === '' ? '' : ` stroke-dasharray="${dashes}"`;
  return `<polyline points="${points.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"${dash}/>`;
}

/** Where the line of a proportional cost leaves the frame. */
function lastWithin(cost: (requests: number) => number): number {
  return dearest / (cost(1e6) / 1e6);
}

function x(requests: number): number {
  const share = Math.log(requests / fewest) / Math.log(most / fewest);
  return frame.left + share * (width - frame.left - frame.right);
}

function y(dollars: number): number {
  const share = Math.log(dollars / cheapest) / Math.log(dearest / cheapest);
  return height - frame.bottom - share * (height - frame.top - frame.bottom);
}

function rule(x1: number, y1: number, x2: number, y2: number): string {
  return `<line x1="${fixed(x1)}" y1="${fixed(y1)}" x2="${fixed(x2)}" y2="${fixed(y2)}" stroke="#ddd"/>`;
}

function text(at: number, line: number, content: string, anchor: 'start' | 'middle' | 'end', size = 12): string {
  return `<text x="${fixed(at)}" y="${fixed(line)}" text-anchor="${anchor}" font-size="${size}">${content}</text>`;
}

const fixed = (value: number): string => String(Math.round(value * 10) / 10);
