import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { createDialects } from '../../lambda/dialects/index.ts';
import { messagesTypes } from '../../lambda/dialects/messages.ts';
import { openAiTypes, renderOpenAiError } from '../../lambda/dialects/openai-error.ts';
import { catalogue, type ErrorCode, GatewayError } from '../../lambda/errors.ts';
import { createModels } from '../../lambda/models.ts';
import { headerNames } from '../../lambda/request/headers.ts';
import { type SettingName, settings } from '../../lambda/settings/table.ts';
import { UpstreamFailure } from '../../lambda/upstream/failure.ts';
import { readBlocks, readProse, readTables } from './markdown.ts';

const docs = join(import.meta.dirname, '../../docs');
const page = readFileSync(join(docs, 'api.md'), 'utf8');
const tables = readTables(page);

/** The rows below the head of the one table that has such a column. */
function rowsOf(column: string): string[][] {
  const found = tables.filter(([head]) => head?.includes(column));
  expect(found).toHaveLength(1);
  return found[0]?.slice(1) ?? [];
}

const wordsIn = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);

describe('docs/api.md', () => {
  test('the table of errors matches the catalogue', () => {
    const documented = rowsOf('OpenAI `error.type`').map(([status, code, openaiType, messagesType]) => [
      Number(status),
      ...wordsIn(`${code} ${openaiType} ${messagesType}`),
    ]);
    expect(documented).toEqual(
      Object.entries(catalogue).map(([code, { status, nature }]) => [
        status,
        code,
        openAiTypes[nature],
        messagesTypes[nature],
      ]),
    );
  });

  test('the table of errors names the headers that an error always has', () => {
    for (const [, code = '', , , headers = ''] of rowsOf('OpenAI `error.type`')) {
      const always = new GatewayError(wordsIn(code)[0] as ErrorCode, '').headers;
      const shown = headers.toLowerCase();
      for (const [name, value] of Object.entries(always)) {
        expect([`\`${name}\``, `\`${name}: ${value}\``].filter((form) => shown.includes(form))).not.toEqual([]);
      }
      expect([code, shown.includes('x-should-retry')]).toEqual([code, 'x-should-retry' in always]);
    }
  });

  test('a broken stream ends as shown', () => {
    const error = new UpstreamFailure('cut').withNote('This request was not charged.');
    expect(page).toContain(`\ndata: ${renderOpenAiError(error)}\n`);
  });

  test('the table of endpoints says which are charged', () => {
    const endpoints = createDialects({ signsThinking: false, streamUsage: false }).flatMap(
      (dialect) => dialect.endpoints,
    );
    const documented = rowsOf('Endpoint').map(([endpoint = '', , charged]) => [...wordsIn(endpoint), charged]);
    expect(documented).toEqual([
      ['GET /v1/models', 'no'],
      ['GET /v1/models/{id}', 'no'],
      ...endpoints.map(({ path, charged }) => [`POST ${path}`, charged ? 'yes' : 'no']),
    ]);
  });

  test('the aliases lead where the table says', () => {
    const models = createModels('svc', []);
    for (const [aliases = '', model = ''] of rowsOf('Alias')) {
      const [id] = wordsIn(model);
      for (const alias of wordsIn(aliases).filter((word) => word !== 'MODEL_ALIASES')) {
        expect([alias, models.resolve(/[-.]$/.test(alias) ? `${alias}x` : alias)?.id]).toEqual([alias, id]);
      }
    }
  });

  test('every setting that it names exists', () => {
    const named = wordsIn(readProse(page)).filter((word) => /^[A-Z]+(_[A-Z\d]+)+$/.test(word));
    const ofClients = /^(ANTHROPIC|OPENAI)_/;
    const unknown = named.filter((name) => !(name in settings) && !ofClients.test(name));
    expect(unknown).toEqual([]);
    expect(named.length).toBeGreaterThan(10);
  });

  test.each<[SettingName, RegExp]>([
    ['SERVICE_NAME', /^`(\w+)` is the name of the deployment/m],
    ['GUEST_LIMIT', /^\| guest [^|]*\| (\d+) \|/m],
    ['GUEST_WINDOW', /^\| guest [^|]*\| \d+ \| (\w+)/m],
    ['MEMBER_LIMIT', /^\| member[^|]*\| (\d+) \|/m],
    ['BURST_LIMIT', /^\| burst[^|]*\| (\d+) \|/m],
    ['UPSTREAM_CONNECT_TIMEOUT', /(\d+) s \(`UPSTREAM_CONNECT_TIMEOUT`\)/],
    ['UPSTREAM_IDLE_TIMEOUT', /(\d+) s \(`UPSTREAM_IDLE_TIMEOUT`\)/],
    ['REQUEST_TIMEOUT', /(\d+) s \(`REQUEST_TIMEOUT`\)/],
    ['KEEP_ALIVE_INTERVAL', /every (\d+) seconds of silence \(`KEEP_ALIVE_INTERVAL`\)/],
  ])('the default of %s', (name, place) => {
    const { fallback } = settings[name];
    expect(place.exec(page)?.[1]).toBe(fallback);
  });

  test('the names of the headers are right', () => {
    const named = new Set(wordsIn(readProse(page)).filter((word) => /^X-Svc-\w+$/.test(word)));
    expect(named).toEqual(new Set(Object.values(headerNames('svc'))));
  });

  test('its JSON is valid', () => {
    const blocks = readBlocks(page).filter(({ language }) => language === 'json');
    expect(blocks.length).toBeGreaterThan(5);
    for (const { code } of blocks) expect(() => JSON.parse(code)).not.toThrow();
  });
});
