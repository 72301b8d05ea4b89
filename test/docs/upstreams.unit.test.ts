import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { warnOfNamesInCode } from '../../lambda/hiding/names-in-code.ts';
import { createScrubber } from '../../lambda/hiding/scrub.ts';
import { readDeploymentConfig } from '../../lib/config.ts';
import { testRows } from '../support/test-rows.ts';
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
      const { settings } = readDeploymentConfig({ defaults: JSON.parse(code), stages: { dev: {} } });
      return [heading, settings.upstreams.all.length];
    });
    expect(deployed.length).toBeGreaterThan(8);
    expect(deployed).toEqual(blocks.map(({ heading }) => [heading, 1]));
  });

  test('no block spoils code', () => {
    const spoilt = blocks.flatMap(({ heading, code }) => {
      const { upstreams, hiding } = readDeploymentConfig(
        { defaults: JSON.parse(code), stages: { dev: {} } },
        'dev',
      ).settings;
      return warnOfNamesInCode(upstreams.all, hiding).map((warning) => `${heading}: ${warning}`);
    });
    expect(spoilt).toEqual([]);
  });

  testRows<[heading: string, spellings: string]>([
    ['OpenRouter', 'ChatGLM chatglm3 glm_4 GLMs CogVLM z.ai'],
    ['vLLM', 'Qwen3 qwen_vl QwenVL gpt_oss'],
    ['Ollama', 'Qwen3 qwen_vl QwenVL gpt_oss'],
    ['llama.cpp', 'GPT-OSS gpt_oss'],
    ['SGLang', 'ChatGLM chatglm3 glm_4 GLMs CogVLM z.ai'],
    ['Moonshot', 'KimiK2 kimi_k2 Kimis'],
  ])('a block hides its names in every spelling', (heading, spellings) => {
    const { code } = blocks.find((block) => block.heading === heading) ?? { code: '{}' };
    const { scrub } = createScrubber(String(JSON.parse(code).UPSTREAM_NAMES).split(','), '');
    expect(scrub(spellings)).not.toMatch(/glm|vlm|z\.ai|kimi|qwen|llama|oss/i);
  });
});
