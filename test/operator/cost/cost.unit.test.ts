import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { inventory } from '../../../operator/cost/assumptions.ts';
import { documents, picture, renderDocument } from '../../../operator/cost/documents.ts';
import {
  breakEven,
  containersFor,
  containersMonth,
  costOfLimits,
  costOfMillion,
  lambdaMonth,
  requestsPerSecond,
} from '../../../operator/cost/model.ts';
import { plotCosts } from '../../../operator/cost/plot.ts';
import { synthesizeStack } from '../../support/stack.ts';

describe('what the documents say is what the script computes: run `npm run cost`', () => {
  test.each(documents)('%s', (path) => {
    const text = readFileSync(path, 'utf8');
    expect(text).toMatch(/<!-- computed: \w+ -->/);
    expect(text).toBe(renderDocument(text));
  });

  test('the picture', () => {
    expect(readFileSync(picture, 'utf8')).toBe(plotCosts());
  });

  test('a part of another name is refused', () => {
    expect(() => renderDocument('<!-- computed: nothing -->\n<!-- end -->')).toThrow('under the name nothing');
  });
});

test('what is paid for idle is what the stack has', () => {
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

describe('the model', () => {
  test('a million streams of ten seconds at half a gigabyte are five million gigabyte-seconds', () => {
    expect(costOfMillion(10, 512).compute).toBeCloseTo(5_000_000 * 0.0000133334, 6);
    expect(costOfMillion(10, 512)).toMatchObject({ requests: 0.2, database: 0.75 });
  });

  test('a limit of the deployment is a write for each that counts towards it, and a refusal no more than reads beside charge and refund', () => {
    expect(costOfLimits()).toEqual({ member: 0.625, guest: 1.25, refusal: 2 * 0.625 + 8 * 0.125 });
  });

  test('containers grow with the busiest time, from two of them', () => {
    expect(containersFor(1_000, 10)).toBe(2);
    // 30 million streams of 60 s are 685 at once on average and 2,055 at the busiest time, 75 in each container.
    expect(containersFor(30_000_000, 60)).toBe(28);
    expect(containersMonth(3)).toBeGreaterThan(containersMonth(2));
  });

  test.each([2, 10, 60, 300])('Lambda is cheaper below the break-even and not above, streams of %d s', (seconds) => {
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
