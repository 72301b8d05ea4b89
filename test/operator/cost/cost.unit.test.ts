import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { canary, inventory } from '../../../operator/cost/assumptions.ts';
import { documents, picture, renderDocument } from '../../../operator/cost/documents.ts';
import { renderEngines } from '../../../operator/cost/engine-blocks.ts';
import {
  breakEvenProcessorSecond,
  functionPrice,
  quantitiesOfFunction,
  quantitiesOfWeb,
  webPrice,
} from '../../../operator/cost/engines.ts';
import {
  breakEven,
  canaryMonth,
  containersFor,
  containersMonth,
  costOfLimits,
  costOfMillion,
  lambdaMonth,
  requestsPerSecond,
} from '../../../operator/cost/model.ts';
import { plotCosts } from '../../../operator/cost/plot.ts';
import { prices } from '../../../operator/cost/prices.ts';
import { synthesizeStack } from '../../support/stack.ts';

describe('the documents have the figures that the script computes: run `npm run cost`', () => {
  test.each(documents)('%s', (path) => {
    const text = readFileSync(path, 'utf8');
    expect(text).toMatch(/<!-- computed: \w+ -->/);
    expect(text).toBe(renderDocument(text));
  });

  test('the picture', () => {
    expect(readFileSync(picture, 'utf8')).toBe(plotCosts());
  });

  test('a part with an unknown name is refused', () => {
    expect(() => renderDocument('<!-- computed: nothing -->\n<!-- end -->')).toThrow('under the name nothing');
  });
});

test('the inventory in operator/cost/assumptions.ts, whose idle costs are shown, is the stack’s', () => {
  const { template } = synthesizeStack();
  const count = (type: string) => Object.keys(template.findResources(type)).length;
  const alarms = Object.values(template.findResources('AWS::CloudWatch::Alarm'));
  const watched = alarms.flatMap(({ Properties }) => {
    const parts: readonly { readonly MetricStat?: object }[] = Properties.Metrics ?? [{ MetricStat: {} }];
    return parts.filter(({ MetricStat }) => MetricStat !== undefined);
  });
  expect({
    secrets: count('AWS::SecretsManager::Secret'),
    watchedMetrics: watched.length,
    dashboards: count('AWS::CloudWatch::Dashboard'),
    tables: count('AWS::DynamoDB::GlobalTable'),
  }).toEqual(inventory);
  expect(count('AWS::KMS::Key') + count('AWS::CloudFront::Distribution') + count('AWS::WAFv2::WebACL')).toBe(0);
});

test('the canary’s costs are those of its resources', () => {
  const { template } = synthesizeStack({ canary: true });
  template.hasResourceProperties('AWS::Events::Rule', { ScheduleExpression: `rate(${canary.minutesBetween} minutes)` });
  template.hasResourceProperties('AWS::Lambda::Function', { MemorySize: canary.memory, Timeout: 60 });
  template.resourceCountIs('AWS::SecretsManager::Secret', inventory.secrets + 1);
  const { runs, ...parts } = canaryMonth();
  expect(runs).toBe(8_760);
  expect(parts.compute).toBeCloseTo(8_760 * 3 * 0.75 * 0.0000133334 + (35_040 / 1e6) * 0.2, 6);
  expect(parts).toMatchObject({ secret: 0.4, metric: 0.4 });
});

describe('the model', () => {
  test('a million streams of ten seconds at half a gigabyte are five million gigabyte-seconds', () => {
    expect(costOfMillion(10, 512).compute).toBeCloseTo(5_000_000 * 0.0000133334, 6);
    expect(costOfMillion(10, 512)).toMatchObject({ requests: 0.2, database: 0.75 });
  });

  test('a limit of the deployment costs a write per counted request, and a refusal only reads besides charge and refund', () => {
    expect(costOfLimits()).toEqual({ member: 0.625, guest: 1.25, refusal: 2 * 0.625 + 8 * 0.125 });
  });

  test('the number of containers grows with the busiest time, from two', () => {
    expect(containersFor(1_000, 10)).toBe(2);
    // 30 million streams of 60 s are 685 at once on average and 2,055 at the busiest time, 75 in each container.
    expect(containersFor(30_000_000, 60)).toBe(28);
    expect(containersMonth(3)).toBeGreaterThan(containersMonth(2));
  });

  test.each([2, 10, 60, 300])('Lambda is cheaper only below the break-even, for streams of %d s', (seconds) => {
    const even = breakEven(seconds);
    const difference = (requests: number) =>
      lambdaMonth(requests, seconds) - containersMonth(containersFor(requests, seconds));
    expect(difference(even - 1)).toBeLessThan(0);
    expect(difference(even)).toBeGreaterThanOrEqual(0);
  });

  test('the longer the streams, the fewer requests fit', () => {
    expect(requestsPerSecond(10)).toBe(100);
    expect(requestsPerSecond(60, 3_000)).toBe(50);
  });
});

describe('the engines', () => {
  test('a million streams of ten seconds take 5,000,000 GB-seconds of functions, and an eighth of web functions', () => {
    expect(quantitiesOfFunction(10).gigabyteSeconds).toBe(5_000_000);
    expect(quantitiesOfWeb(10).gigabyteSeconds).toBe(625_000);
    // 400 events of 51 µs, and the request itself.
    expect(quantitiesOfWeb(10).processorSeconds).toBeCloseTo(21_750, 6);
    expect(functionPrice(10)).toBeCloseTo(5_000_000 * 0.0000133334 + 0.2, 6);
  });

  test.each([2, 10, 60, 300])(
    'both cost the same at the break-even, whatever the other prices, for streams of %d s',
    (seconds) => {
      for (const gigabyteSecond of [0, 0.000_004, 0.000_013]) {
        for (const millionRequests of [0, 0.2, 1]) {
          const others = { gigabyteSecond, millionRequests };
          const processorSecond = breakEvenProcessorSecond(seconds, others);
          expect(webPrice(seconds, { ...others, processorSecond })).toBeCloseTo(functionPrice(seconds), 6);
          expect(webPrice(seconds, { ...others, processorSecond: processorSecond * 0.9 })).toBeLessThan(
            functionPrice(seconds),
          );
        }
      }
    },
  );

  test('the list prices have none of web functions', () => {
    expect(Object.keys(prices).filter((name) => /web function|processor/i.test(name))).toEqual([]);
    expect(renderEngines()).toMatch(/^\| 10 s \| \$66\.87 \| 21,750 \| 625,000 \|$/m);
  });

  test('given prices are used, and unreadable ones are reported', () => {
    const run = (...args: string[]) => spawnSync(process.execPath, ['bin/cost.ts', ...args], { encoding: 'utf8' });
    expect(run('--web', '0.00005,0.000004,0.2').stdout).toMatch(/^\| 10 s \| \$66\.87 \| \$3\.79 \| \$0\.00295 \|$/m);
    for (const wrong of [
      ['--web', '1,2'],
      ['--web', '1,2,x'],
      ['--wob', '1'],
    ]) {
      const { status, stderr } = run(...wrong);
      expect([status, stderr]).toEqual([2, expect.stringContaining('--web P,M,R')]);
    }
  });
});
