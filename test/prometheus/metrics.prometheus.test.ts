import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { startMetricsServer } from '../../lambda/engines/metrics-server.ts';
import { createPrometheus } from '../../lambda/report/prometheus.ts';
import { json, sse } from '../../local/upstream/script.ts';
import { readBlocks } from '../docs/markdown.ts';
import { findFreePort } from '../support/find-free-port.ts';
import { startTestGateway } from '../support/gateway.ts';
import { inTime } from '../support/wait-until.ts';
import { wire } from '../support/wire.ts';
import { findProgram } from './find-prometheus.ts';

const { path, question, answer, events } = wire.chat;

/** A gateway whose metrics are scraped, and how to query them. */
async function startScraped() {
  await using started = new AsyncDisposableStack();
  const prometheus = createPrometheus(Date.now);
  const gateway = started.use(
    await startTestGateway({
      engine: 'web',
      environment: {
        DAILY_LIMIT: '100',
        PRICES: '{"svc": {"input": 2, "output": 10}, "svc-vision": {"input": 1, "output": 4}}',
      },
      onFinished: prometheus.finished,
      onMeasured: prometheus.measured,
    }),
  );
  const render = () => prometheus.render({ requests: 1, streams: 1, held: 1, budget: 2 });
  const metricsServer = await startMetricsServer({
    host: '127.0.0.1',
    port: 0,
    render,
    onError: (error) => expect(error).toBe(undefined),
  });
  started.defer(async () => metricsServer.stop());
  const url = started.use(await startPrometheus(new URL(metricsServer.url).host)).url;
  const ask = async (expression: string): Promise<readonly { readonly value: readonly [number, string] }[]> => {
    const response = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(expression)}`);
    const { status, data, error } = Object(await response.json());
    if (status !== 'success') throw new Error(`${expression}: ${error}`);
    return data.result;
  };
  /** Once scrapes have brought it. */
  const until = async (expression: string, isThere: (values: readonly number[]) => boolean) => {
    const asking = async () => {
      for (;;) if (isThere((await ask(expression)).map(({ value }) => Number(value[1])))) return;
    };
    await inTime(asking(), `${expression} is there`);
  };
  const running = started.move();
  return { gateway, ask, until, render, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** A real Prometheus that scrapes one target ten times a second. */
async function startPrometheus(target: string) {
  const folder = mkdtempSync(join(tmpdir(), 'prometheus-'));
  const config = join(folder, 'prometheus.yml');
  const port = await findFreePort();
  writeFileSync(
    config,
    `scrape_configs: [{job_name: gateway, scrape_interval: 100ms, scrape_timeout: 100ms, static_configs: [{targets: ['${target}']}]}]\n`,
  );
  const address = `127.0.0.1:${port}`;
  const flags = [
    `--config.file=${config}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=${address}`,
  ];
  const child = spawn(findProgram('prometheus'), flags, { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(child, 'close');
  let said = '';
  const ready = new Promise<void>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text) => {
      said += text;
      if (/Server is ready to receive web requests/.test(said)) resolve();
    });
    void ended.then(() => reject(new Error(`Prometheus ended: ${said}`)));
  });
  await inTime(ready, 'Prometheus is ready');
  return {
    url: `http://${address}`,
    async [Symbol.asyncDispose]() {
      child.kill();
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}

interface Panel {
  readonly title: string;
  readonly targets: readonly { readonly expr: string }[];
}
const { panels } = JSON.parse(readFileSync('docs/grafana.json', 'utf8')) as { panels: readonly Panel[] };
/** As Grafana asks, with its variables filled in. */
const expressions = panels.flatMap(({ title, targets }) =>
  targets.map(({ expr }) => [title, expr.replaceAll('$__rate_interval', '1m').replaceAll('$job', '.*')] as const),
);

test('a real Prometheus scrapes the metrics, and every panel of the dashboard shows some', async () => {
  await using scraped = await startScraped();
  const { gateway, until, ask } = scraped;
  const [key, limited] = [await gateway.issueKey(), await gateway.issueKey({ limit: 1 })];
  const send = async (body: object, by = key) => (await gateway.post(path, body, { 'x-api-key': by })).text();
  const usage = { prompt_tokens: 12, completion_tokens: 5 };
  const sendAll = async () => {
    gateway.upstream.answer(sse(events.join('')));
    await send({ ...question, stream: true });
    gateway.upstream.answer(json(200, { ...(answer as object), usage }));
    await send(question);
    gateway.upstream.answer(json(500, {}));
    await send(question);
    gateway.upstream.answer(json(200, { ...(answer as object), usage }));
    await send(question);
    await send(question, limited);
  };
  gateway.upstream.answer(json(200, { ...(answer as object), usage }));
  await send(question, limited);
  // From now on this key is refused.
  await sendAll();
  const count = 'sum(http_server_request_duration_seconds_count)';
  await until(count, ([value]) => value === 6);
  // What grows from nothing has no rate: only the second scrape that holds it does.
  await sendAll();
  await until(count, ([value]) => value === 11);
  await until('sum(rate(gen_ai_client_token_usage_sum[1m]))', ([value = 0]) => value > 0);
  expect(expressions.length).toBeGreaterThan(15);
  for (const [title, expression] of expressions) {
    const found = (await ask(expression)).map(({ value }) => value[1]);
    expect([title, expression, found]).toEqual([
      title,
      expression,
      expect.arrayContaining([expect.stringMatching(/^\d/)]),
    ]);
  }
});

test('the configuration and the rules of docs/logs.md are valid', () => {
  const folder = mkdtempSync(join(tmpdir(), 'prometheus-'));
  const blocks = readBlocks(readFileSync('docs/logs.md', 'utf8')).filter(({ language }) => language === 'yaml');
  expect(blocks).toHaveLength(2);
  for (const [place, kind] of ['config', 'rules'].entries()) {
    const path = join(folder, `${kind}.yml`);
    writeFileSync(path, blocks[place]?.code ?? '');
    expect(execFileSync(findProgram('promtool'), ['check', kind, path], { encoding: 'utf8' })).toMatch(/SUCCESS/);
  }
  rmSync(folder, { recursive: true });
});

test('Prometheus’ own linter has nothing to say', async () => {
  await using scraped = await startScraped();
  scraped.gateway.upstream.answer(json(500, {}));
  await (await scraped.gateway.post(path, question, { 'x-api-key': 'guest' })).text();
  const said = execFileSync(findProgram('promtool'), ['check', 'metrics'], {
    input: scraped.render(),
    encoding: 'utf8',
  });
  expect(said).toBe('');
});
