import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { allDialects, dialects } from '../lambda/dialects/index.ts';
import { catalogue } from '../lambda/errors.ts';
import { keyHeaders } from '../lambda/identity/credential.ts';
import { headerNames } from '../lambda/request/headers.ts';
import { sessionHeaders } from '../lambda/upstream/conversation.ts';
import { failureClasses } from '../lambda/upstream/failure.ts';
import { dialectProbes } from '../operator/doctor/dialect-probes.ts';
import { readTables } from './docs/markdown.ts';
import { readSources } from './support/imports.ts';

// The canary is a client: it has the gateway's names in strings, as any client does.
const sources = readSources(process.cwd(), ['lambda', 'lib', 'local', 'operator', 'bin'])
  .filter(({ path }) => !path.startsWith('lambda/canary/'))
  .map(({ path, text }) => ({ path, code: text.replace(/\/\*[\s\S]*?\*\/|(?<![:'"`])\/\/.*$/gm, '') }));

/** The files whose code, without comments, matches. */
const filesWith = (pattern: RegExp, below = 'lambda/') =>
  sources.filter(({ path, code }) => path.startsWith(below) && pattern.test(code)).map(({ path }) => path);

const [places = [], vocabulary = []] = readTables(readFileSync('docs/CONTRIBUTING.md', 'utf8'));

/** The files that the table of docs/CONTRIBUTING.md names for a kind of change. */
function placesOf(change: string, name = ''): string[] {
  const [, edit = ''] = places.find(([what]) => what === change) ?? [];
  return [...edit.matchAll(/`([^`]+\/[^`]*)`/g)].map(([, path = '']) => path.replace('NAME', name));
}

test('the table names files that are there, and pages', () => {
  for (const [, edit = '', pages = ''] of places.slice(1)) {
    for (const [, path = ''] of edit.matchAll(/`([^`]+)`/g)) {
      expect([path, existsSync(path.replace('NAME', 'chat'))]).toEqual([path, true]);
    }
    expect(pages).not.toBe('');
    for (const [, page = ''] of pages.matchAll(/\]\(([^)#]+)/g)) expect(existsSync(`docs/${page}`)).toBe(true);
  }
});

test('the vocabulary names files that are there', () => {
  const paths = vocabulary.slice(1).map(([, , file = '']) => file.replaceAll('`', ''));
  expect(paths.length).toBeGreaterThan(25);
  expect(paths.filter((path) => !existsSync(path))).toEqual([]);
});

const ownHeaders = Object.values(headerNames('svc'));

test.each<[change: string, names: readonly string[]]>([
  ['a dialect', allDialects.flatMap(({ endpoints }) => endpoints.map(({ path }) => path))],
  // OpenAPI calls the last one by its scheme.
  ['a header that a key may come in', keyHeaders.map((name) => (name === 'authorization' ? 'bearer' : name))],
  ['a header that names a conversation', sessionHeaders],
  ["a header of the gateway's own", ownHeaders],
  ['an error code', Object.keys(catalogue)],
  ['a failure class', Object.keys(failureClasses)],
])('%s is on every page that the table names', (change, names) => {
  const [, , pages = ''] = places.find(([what]) => what === change) ?? [];
  const paths = [...pages.matchAll(/\]\(([^)#]+\.(?:md|json))/g)].map(([, page = '']) => `docs/${page}`);
  expect(paths.length * names.length).toBeGreaterThan(0);
  const missing = paths.flatMap((path) => {
    const text = readFileSync(path, 'utf8');
    return names.filter((name) => !mentions(text, name)).map((name) => `${path} says nothing about ${name}`);
  });
  expect(missing).toEqual([]);
});

function mentions(text: string, name: string): boolean {
  return new RegExp(`(?<![\\w/-])${name}(?![\\w/-])`, 'i').test(text);
}

describe('a dialect', () => {
  test.each(dialects.map(({ name }) => name))('%s is told from the others only where it stands itself', (name) => {
    const [own = '', names = '', index = '', translation = '', demo = ''] = placesOf('a dialect', name);
    const wire = `test/fixtures/${name}/index.json`;
    for (const path of [own, demo, wire]) expect([path, existsSync(path)]).toEqual([path, true]);
    expect(filesWith(new RegExp(`'\\./${name}/`), 'lambda/dialects/').toSorted()).toEqual([index, translation]);
    expect(filesWith(new RegExp(`'${name}'|'${name.toUpperCase()}'`), names)).toEqual([names]);
    // JSON members have the same names, and OpenTelemetry calls every conversation so.
    const isElsewhere = (path: string) => !/^lambda\/(dialects\/|report\/prometheus\.ts$)/.test(path);
    const elsewhere = filesWith(new RegExp(`'${name}'|\\b${name}(Type|Url)`, 'i'));
    expect(elsewhere.filter(isElsewhere)).toEqual([]);
  });

  test('is examined by the doctor, with a row in operator/doctor/dialect-probes.ts', () => {
    expect(dialectProbes.map(({ name }) => name)).toEqual(dialects.map(({ name }) => name));
  });

  test('has its paths to itself', () => {
    for (const { path } of allDialects.flatMap(({ endpoints }) => endpoints)) {
      expect(filesWith(new RegExp(`${path}\\b`), 'lambda/request')).toEqual([]);
      expect(filesWith(new RegExp(`${path}\\b`), 'lambda/upstream')).toEqual([]);
    }
  });
});

describe('a header', () => {
  test.each<[string, (name: string) => string, readonly string[]]>([
    [
      'a header that a key may come in',
      // Sessions and signed requests have a use of their own for the last one.
      (name) => (name === 'authorization' ? `'${name}'` : `(?<![\\w-])${name}(?![\\w-])`),
      keyHeaders,
    ],
    ['a header that names a conversation', (name) => `'${name}'`, sessionHeaders],
    ["a header of the gateway's own", (name) => `-${name.split('-')[2]}\\b`, ownHeaders],
  ])('%s', (change, patternOf, names) => {
    for (const name of names) {
      const named = filesWith(new RegExp(patternOf(name))).filter((path) => !path.startsWith('lambda/dialects/'));
      expect([name, named]).toEqual([name, placesOf(change)]);
    }
  });
});

test('an error code has its status in the catalogue, and nowhere else', () => {
  // HTTP's own: 499 only in the log, as its client has left; 408 for a body that does not arrive. The pages have their own errors.
  const numbers = filesWith(/\bstatus(Code)?: (4(?!99|08)|5)\d\d\b/).filter(
    (path) => !path.startsWith('lambda/accounts/'),
  );
  expect(numbers).toEqual(placesOf('an error code'));
});
