import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { readConfig } from '../../lambda/settings/config.ts';
import { readDeploymentConfig, setByStack } from '../../lib/config.ts';
import { readBlocks, readTables, toAnchor } from './markdown.ts';

const page = readFileSync('docs/upstreams.md', 'utf8');
const blocks = readBlocks(page).filter(({ language }) => language === 'json');

describe('docs/upstreams.md', () => {
  test('has a block for every upstream in its table, and no other', () => {
    const [, ...rows] = readTables(page)[0] ?? [];
    expect(rows.map(([link]) => link)).toEqual(blocks.map(({ heading }) => `[${heading}](#${toAnchor(heading)})`));
  });

  test('every block deploys, with one upstream', () => {
    const deployed = blocks.map(({ heading, code }) => {
      const { environment } = readDeploymentConfig({ defaults: JSON.parse(code), stages: { dev: {} } });
      return [heading, readConfig({ ...environment, ...setByStack, EDGE_SECRET_ID: '' }).upstreams.length];
    });
    expect(deployed.length).toBeGreaterThan(8);
    expect(deployed).toEqual(blocks.map(({ heading }) => [heading, 1]));
  });
});
