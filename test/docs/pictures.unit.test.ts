import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { catalogue } from '../../lambda/http/errors.ts';
import { failureClasses } from '../../lambda/upstream/failure.ts';
import { layOut } from '../../operator/pictures/lay-out.ts';
import { drawPictures } from '../../operator/pictures/pictures.ts';
import { type Box, readPicture } from '../../operator/pictures/read-picture.ts';
import { routeOf } from '../../operator/pictures/route.ts';
import { readSources } from '../support/imports.ts';
import { synthesizeWhole } from '../support/whole-template.ts';

const load = (name: string) => readPicture(readFileSync(`docs/images/${name}.picture`, 'utf8'));
const drawn = [...drawPictures()].map(([path, svg]) => ({ path, svg, name: path.replace(/^.*\/|\.svg$/g, '') }));
const kindIs =
  (kind: string) =>
  (box: Box): boolean =>
    box.kind === kind;

test('there are pictures, and each is in a document, with alternative text', () => {
  const documents = ['README.md', ...readdirSync('docs').map((name) => `docs/${name}`)].filter((path) =>
    path.endsWith('.md'),
  );
  const text = documents.map((path) => readFileSync(path, 'utf8')).join('\n');
  expect(drawn.map(({ name }) => name)).toEqual(['charge', 'event', 'request', 'stack']);
  for (const { name } of drawn)
    expect(text).toMatch(new RegExp(`!\\[[^\\]]{10,}\\]\\((docs/)?images/${name}\\.svg\\)`));
});

describe.each(drawn)('$path', ({ path, svg, name }) => {
  test('matches its source: npm run pictures redraws it', () => {
    expect(readFileSync(path, 'utf8') === svg).toBe(true);
  });

  test('has no arrow through a box, and nothing outside its background', () => {
    const picture = load(name);
    const layout = layOut(picture);
    for (const { left, top, width, height } of picture.boxes.map(layout.placeOf)) {
      expect(Math.min(left, top)).toBeGreaterThan(0);
      expect(left + width).toBeLessThan(layout.width);
      expect(top + height).toBeLessThan(layout.height);
    }
    const crossed = picture.arrows.flatMap((arrow) => {
      const points = routeOf(arrow, layout);
      const stretches = points.slice(1).map((point, index) => [points[index] ?? point, point] as const);
      return picture.boxes
        .filter((box) => box !== arrow.from && box !== arrow.to)
        .filter((box) => {
          const { left, top, width, height } = layout.placeOf(box);
          return stretches.some(
            ([[x1, y1], [x2, y2]]) =>
              Math.max(x1, x2) > left &&
              Math.min(x1, x2) < left + width &&
              Math.max(y1, y2) > top &&
              Math.min(y1, y2) < top + height,
          );
        })
        .map((box) => `${arrow.from.cell} -> ${arrow.to.cell} runs through ${box.cell}`);
    });
    expect(crossed).toEqual([]);
  });
});

describe('the way of a request', () => {
  const { boxes, arrows } = load('request');

  test('has the steps of the pipeline, in their order', () => {
    const source = readFileSync('lambda/pipelines/inference.ts', 'utf8');
    const [, list = ''] = /pipeline\(\s*\[\n([\s\S]+?)\n {4}\]/.exec(source) ?? [];
    const steps = [...list.matchAll(/(\w+)\(/g)].map(([, name]) => name);
    expect(steps.length).toBeGreaterThan(5);
    expect(boxes.filter(kindIs('step')).map(({ name }) => name)).toEqual(['Engine', 'route', ...steps, 'Exchange']);
  });

  /** The first is about another endpoint, and any step may fail with the second. */
  const ofNoStep = ['model_not_found', 'internal_error'];

  test('has each refusal but model_not_found, with its status', () => {
    const shown = boxes.filter(kindIs('bad'));
    for (const { name, notes } of shown) {
      const statuses = notes.map((code) => String(catalogue[code as keyof typeof catalogue].status));
      expect([...new Set(statuses)]).toEqual(name.split(' '));
    }
    const codes = new Set(shown.flatMap(({ notes }) => notes));
    const undrawn = Object.keys(catalogue).filter((code) => !codes.has(code) && !ofNoStep.includes(code));
    expect(undrawn.map((code) => `docs/images/request.picture does not show ${code}`)).toEqual([]);
  });

  test('goes from step to step without a gap', () => {
    const way = boxes.filter(({ column }) => column === 1);
    for (const [index, box] of way.entries()) {
      if (index > 0) expect(arrows).toContainEqual(expect.objectContaining({ from: way[index - 1], to: box }));
    }
  });
});

test('the way of an event goes through existing files, which the exchange imports', () => {
  const imports = new Map(readSources(process.cwd(), ['lambda']).map((source) => [source.path, source.imports]));
  const reached = new Set<string>();
  const follow = (path: string) => {
    if (reached.has(path)) return;
    reached.add(path);
    imports.get(path)?.forEach(follow);
  };
  follow('lambda/pipelines/inference-exchange.ts');
  const files = load('event')
    .boxes.filter(kindIs('step'))
    .map(({ name }) => `lambda/${name}`);
  expect(files.filter((path) => !existsSync(path) || !reached.has(path))).toEqual([]);
});

test('the stack has the template’s kinds of resources', () => {
  const { Resources } = synthesizeWhole();
  const kinds = new Set(Object.values(Resources ?? {}).map(({ Type }) => Type));
  const notes = load('stack').boxes.flatMap((box) => box.notes.flatMap((note) => note.match(/AWS::\w+::\w+/g) ?? []));
  expect([...new Set(notes)].toSorted()).toEqual([...kinds].toSorted());
});

test('docs/images/charge.picture agrees with each class of failure', () => {
  const { boxes, arrows } = load('charge');
  const endsIn = (outcome: string) => {
    const words = arrows
      .filter(({ to }) => to.name === outcome)
      .flatMap(({ from }) => from.notes.join(' ').split(/[ ,]+/));
    return words.filter((word) => word in failureClasses).toSorted();
  };
  const classes = Object.entries(failureClasses);
  const having = (refunds: boolean) => classes.filter(([, kind]) => kind.refunds === refunds).map(([name]) => name);
  expect(endsIn('Refunded')).toEqual(having(true).toSorted());
  expect(endsIn('Stands')).toEqual(having(false).toSorted());

  const refused = boxes.find(({ name }) => name === 'Refused before the charge')?.notes[0]?.split(' ');
  const request = load('request');
  const charging = request.boxes.find(({ name }) => name === 'chargeQuota')?.row ?? 0;
  const before = request.boxes.filter(({ kind, row }) => kind === 'bad' && row <= charging);
  expect(refused).toEqual([...new Set(before.flatMap(({ name }) => name.split(' ')))].toSorted());
});

test('pictures have the colours of the pages, whose contrast is tested in a browser', () => {
  const coloursOf = (css: string, own: RegExp) =>
    [...css.matchAll(own)].map(([, name, value]) => [name, value === '#fff' ? '#ffffff' : value]);
  const names = 'page|card|text|soft|accent|good';
  const theme = readFileSync('lambda/wallet/pages/cli/theme.css', 'utf8');
  const colours = new RegExp(`--(${names}): (#[0-9a-f]+)`, 'g');
  for (const { svg } of drawn) expect(coloursOf(svg, colours)).toEqual(coloursOf(theme, colours));
});

describe('a source that is wrong', () => {
  test.each([
    ['a1 cloud Client', 'cloud is not a kind of box'],
    ['a1 -> b1', 'there is no box a1 yet'],
    ['Client: an SDK', 'neither a box nor an arrow'],
  ])('is refused: %s', (line, message) => {
    expect(() => readPicture(`Title\n\nDescription\n${line}\n`)).toThrow(message);
  });
});
