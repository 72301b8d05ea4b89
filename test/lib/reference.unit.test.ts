import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { readOpenApi } from '../../lib/reference/openapi.ts';
import { makePages, renderReference } from '../../lib/reference/render-reference.ts';

const document = readOpenApi(readFileSync('docs/openapi.json', 'utf8'));
const home = readFileSync('lambda/accounts/pages/index.html', 'utf8');
const html = (await makePages()).get('docs/index.html') ?? '';

/** Every value of a key, anywhere in the document. */
function collect(value: unknown, name: string): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => [...(key === name ? [part] : []), ...collect(part, name)]);
}

test('the page of the API has every path, operation, object and error code of the document', () => {
  for (const path of Object.keys(document.paths)) expect(html).toContain(`<code>${path}</code>`);
  const operations = collect(document.paths, 'operationId').map(String);
  for (const id of operations.filter((name) => !name.startsWith('preflight'))) expect(html).toContain(`id="${id}"`);
  const objects = Object.keys(document.components.schemas);
  for (const name of objects) expect(html).toContain(`<h3>${name}</h3></summary><div id="${name}"`);
  // A request's members are listed where its body is.
  for (const name of objects.filter((each) => !each.endsWith('Request'))) expect(html).toContain(`href="#${name}"`);
});

test('the page begins with what people come for', () => {
  const sections = [...html.matchAll(/<section class="card endpoint" aria-labelledby="(\w+)-title">/g)].map(
    ([, id]) => id,
  );
  expect([sections[0], sections.at(-1)]).toEqual(['createChatCompletion', 'getUsage']);
});

test('the page has every error code with its statuses, what it means and what to do', () => {
  const errors = html.slice(html.indexOf('<dl class="fields errors">'), html.indexOf('<h2 id="endpoints">'));
  const told = [
    ...errors.matchAll(/<div id="(\w+)"><dt><code>\1<\/code> <span class="type">([^<]+)<\/span><\/dt>(<dd.*?)<\/div>/g),
  ];
  expect(told.map(([, code]) => code)).toEqual(document.components.schemas.ErrorCode?.enum);
  for (const [, , statuses, rest = ''] of told) {
    expect(statuses).toMatch(/^[45](\d\d|XX)(, [45](\d\d|XX))*$/);
    expect(rest.split('<dd')).toHaveLength(3);
  }
  const statusesOf = Object.fromEntries(told.map(([, code, statuses]) => [code, statuses]));
  expect(statusesOf).toMatchObject({ rate_limited: '429', invalid_request: '400, 4XX', upgrade_required: '426' });
});

test('the page lists the quota’s headers first, and those for browsers last', () => {
  const headers = html.slice(html.indexOf('<h2 id="headers-title">'), html.indexOf('<h2 id="types-title">'));
  const names = [...headers.matchAll(/<dt><code>([^<]+)<\/code>/g)].map(([, name]) => name);
  expect(names.slice(0, 3)).toEqual(['{{headers}}-Remaining', '{{headers}}-Limit', '{{headers}}-Reset']);
  expect(names.slice(-3)).toEqual(['access-control-allow-origin', 'access-control-expose-headers', 'vary']);
  expect(new Set(names).size).toBe(names.length);
});

test('the page describes members, headers and answers as the document does', () => {
  const { schemas } = document.components;
  const told = collect([schemas, collect(document.paths, 'parameters')], 'description').map(String);
  expect(told.length).toBeGreaterThan(15);
  const filled = html.replaceAll('{{service}}', 'svc').replaceAll('{{headers}}', 'X-Svc');
  const plain = filled.replace(/<\/?code>/g, '`').replaceAll('&quot;', '"');
  expect(told.filter((text) => !plain.includes(text))).toEqual([]);
});

test('the page has no broken links, nothing inline and nothing from other hosts', () => {
  const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const targets = [...`${html}${home}`.matchAll(/href="(?:docs)?#([^"]+)"/g)].map(([, id]) => id);
  expect(targets.length).toBeGreaterThan(20);
  expect(ids).toEqual(expect.arrayContaining(targets));
  expect(html).not.toMatch(/<script(?![^>]* src=)|<style|\sstyle=|\son\w+=|(src|href)="(https?:)?\/\//);
});

test('the page escapes the document’s texts', () => {
  const info = { ...document.info, version: '<img src=x>' };
  expect(renderReference({ ...document, info })).toContain('Version &lt;img src=x&gt;');
});

test('the first page has every endpoint of the document except that of a single model', () => {
  const paths = Object.keys(document.paths).filter((path) => !path.includes('{'));
  for (const path of paths) expect(home).toContain(`<code>${path}</code>`);
});
