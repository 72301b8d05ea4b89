import { type Layout, layOut, lineHeight, type Rectangle } from './lay-out.ts';
import type { Arrow, Box, Picture } from './read-picture.ts';
import { type Point, routeOf } from './route.ts';

/** The colours of the pages for people, in light and dark. */
const style = `
svg { --page: #f4f5fa; --card: #fff; --line: #c9cede; --text: #171a2b; --soft: #565c75; --accent: #4f46e5; --good: #107a52; --bad: #b42318 }
@media (prefers-color-scheme: dark) {
svg { --page: #0d0f1a; --card: #161927; --line: #3a415c; --text: #e9ebf5; --soft: #a3a9c2; --accent: #8b93ff; --good: #5ed6a4; --bad: #ff9a8f }
}
text { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; fill: var(--soft) }
.title { font-size: 17px; font-weight: 650; fill: var(--text) }
.name { font-size: 14px; font-weight: 600; fill: var(--text) }
.page { fill: var(--page) }
.box { fill: var(--card); stroke: var(--line) }
.step .box { stroke: var(--accent) }
.outside .box { fill: none; stroke-dasharray: 5 4 }
.store .box { stroke: var(--text) }
.good .box { stroke: var(--good) }
.good .name { fill: var(--good) }
.bad .box { stroke: var(--bad) }
.bad .name { fill: var(--bad) }
.text .box { fill: none; stroke: none }
.arrow { fill: none; stroke: var(--soft); stroke-width: 1.25; marker-end: url(#head) }
.dashed { stroke-dasharray: 5 4 }
.head { fill: var(--soft) }
.label { paint-order: stroke; stroke: var(--page); stroke-width: 5px }
`;

/** Renders a picture as SVG, in light and dark, with its own background. */
export function drawPicture(picture: Picture): string {
  const layout = layOut(picture);
  const [width, height] = [Math.ceil(layout.width), Math.ceil(layout.height)];
  const { title, description, boxes, arrows } = picture;
  return `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title description" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
<title id="title">${escapeText(title)}</title>
<desc id="description">${escapeText(description)}</desc>
<style>${style}</style>
<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path class="head" d="M0 0.5 8 4 0 7.5z"/></marker></defs>
<rect class="page" width="100%" height="100%" rx="16"/>
<text class="title" x="24" y="42">${escapeText(title)}</text>
${boxes.map((box) => drawBox(box, layout.placeOf(box))).join('\n')}
${arrows.map((arrow) => drawArrow(arrow, layout)).join('\n')}
</svg>
`;
}

function drawBox({ kind, name, notes }: Box, { left, top, width, height }: Rectangle): string {
  const x = left + width / 2;
  const lines = [name, ...notes].map(
    (text, index) =>
      `<text ${index === 0 ? 'class="name" ' : ''}text-anchor="middle" x="${x}" y="${top + 19 + index * lineHeight}">${escapeText(text)}</text>`,
  );
  return `<g class="${kind}"><rect class="box" x="${left}" y="${top}" width="${width}" height="${height}" rx="8"/>${lines.join('')}</g>`;
}

function drawArrow(arrow: Arrow, layout: Layout): string {
  const points = routeOf(arrow, layout);
  const path = points.map(([x, y], index) => `${index === 0 ? 'M' : 'L'}${x} ${y}`).join('');
  return `<path class="arrow${arrow.dashed ? ' dashed' : ''}" d="${path}"/>${drawLabel(arrow.label, points)}`;
}

/** Places a label beside the first segment of an arrow: above it, or to its right. */
function drawLabel(label: string, [[x, y] = [0, 0], [nextX, nextY] = [0, 0]]: readonly Point[]): string {
  if (label === '') return '';
  const place =
    y === nextY
      ? `text-anchor="middle" x="${(x + nextX) / 2}" y="${y - 6}"`
      : `x="${x + 8}" y="${(y + nextY) / 2 + 4}"`;
  return `<text class="label" ${place}>${escapeText(label)}</text>`;
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const escapeText = (text: string): string => text.replace(/[&<>]/g, (character) => entities[character] ?? '');
