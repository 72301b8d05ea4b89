import { expect, test } from '@jest/globals';
import { json } from '../../local/upstream/script.ts';
import { refusingUrl, startFakeUpstream } from '../support/fake-upstream.ts';
import { startTestGateway } from '../support/gateway.ts';
import { metricsOf } from '../support/metrics.ts';
import { synthesizeStack } from '../support/stack.ts';
import { wire } from '../support/wire.ts';
import { listen } from './simulator/listen.ts';
import { createMetricStore } from './simulator/metric-store.ts';
import { readAlarms } from './simulator/read-alarms.ts';

const { template, stack } = synthesizeStack();
const start = Date.parse('2026-11-21T12:00:00Z');

// End to end: the alarms look at the metrics that a real gateway logs for its tries.
test('a dead upstream rings although another serves in its place, at one request a minute', async () => {
  await using second = await startFakeUpstream();
  second.otherwise(json(200, wire.chat.answer));
  let minute = 0;
  await using gateway = await startTestGateway({
    now: () => start + minute * 60_000,
    environment: {
      METRICS_NAMESPACE: stack.stackName,
      UPSTREAM_BASE_URL: refusingUrl,
      UPSTREAM_2_BASE_URL: second.url,
      UPSTREAM_2_API_KEYS: 'upstream-key-x',
      UPSTREAM_2_TEXT_MODEL: 'acmecorp/second',
      UPSTREAM_2_VISION_MODEL: 'acmecorp/second-eyes',
    },
  });
  const key = await gateway.issueKey();
  for (; minute < 30; minute += 1) {
    const answer = await gateway.post(wire.chat.path, wire.chat.question, { 'x-api-key': key });
    expect([answer.status, (await answer.text()).length > 0]).toEqual([200, true]);
  }

  const store = createMetricStore();
  for (const line of gateway.log) {
    const at = (Date.parse(String(line.time)) - start) / 60_000;
    for (const [name, value] of Object.entries(metricsOf(line, stack.stackName))) {
      const [, MetricName = '', of] = /^(\w+)(?:\((\w+)\))?$/.exec(name) ?? [];
      const Dimensions = of === undefined ? [] : [{ Name: MetricName === 'Refusals' ? 'Code' : 'Class', Value: of }];
      store.add(at, { Namespace: stack.stackName, MetricName, Dimensions }, value);
    }
  }
  const heard = listen(readAlarms(template.toJSON()), store, 30);
  expect(Object.keys(heard).sort()).toEqual(['UpstreamDown', 'UpstreamFailing']);
  for (const [first = Number.NaN] of Object.values(heard).flat()) expect(first).toBeLessThan(15);
});
