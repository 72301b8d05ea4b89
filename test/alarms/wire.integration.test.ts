import { expect, test } from '@jest/globals';
import { json } from '../../local/upstream/script.ts';
import { readAlarms, statesOf } from '../support/alarms.ts';
import { refusingUrl, startFakeUpstream } from '../support/fake-upstream.ts';
import { startTestGateway } from '../support/gateway.ts';
import { metricsOf } from '../support/metrics.ts';
import { synthesizeStack } from '../support/stack.ts';
import { wire } from '../support/wire.ts';

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

  const figures: Record<string, number[]>[] = Array.from({ length: 6 }, () => ({}));
  for (const line of gateway.log) {
    const ofPeriod = figures[Math.floor((Date.parse(String(line.time)) - start) / 300_000)] ?? {};
    for (const [name, value] of Object.entries(metricsOf(line, stack.stackName))) {
      const label = `${stack.stackName} ${name.replace(/\((\w+)\)$/, ' Class=$1')}`;
      ofPeriod[label] = [...(ofPeriod[label] ?? []), value];
    }
  }
  const rung = readAlarms(template.toJSON()).map((alarm) => [alarm.name, statesOf(alarm, figures).indexOf(true) + 1]);
  expect(rung.filter(([, period]) => period !== 0).sort()).toEqual([
    ['UpstreamDown', 3],
    ['UpstreamFailing', 2],
  ]);
});
