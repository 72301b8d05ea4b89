import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from '@jest/globals';
import { startMetricsServer } from '../../../lambda/engines/metrics-server.ts';

const start = (render = () => 'a 1\n', port = 0) =>
  startMetricsServer({ host: '127.0.0.1', port, render, onError: (error) => expect(error).toBeUndefined() });

test('metrics are at GET /metrics, rendered anew for each request, and nothing is anywhere else', async () => {
  let asked = 0;
  const server = await start(() => {
    asked += 1;
    return `a ${asked}\n`;
  });
  const read = async (path: string, init?: RequestInit) => {
    const response = await fetch(server.url + path, init);
    return [response.status, response.headers.get('content-type'), await response.text()];
  };
  const format = 'text/plain; version=0.0.4; charset=utf-8';
  expect(await read('/metrics')).toEqual([200, format, 'a 1\n']);
  expect(await read('/metrics?name=x')).toEqual([200, format, 'a 2\n']);
  const nothing = [404, 'text/plain; charset=utf-8', 'The metrics are at GET /metrics.\n'];
  for (const path of ['/', '/v1/models', '/metrics/x']) expect(await read(path)).toEqual(nothing);
  expect(await read('/metrics', { method: 'POST', body: 'x' })).toEqual(nothing);
  server.stop();
  await expect(fetch(`${server.url}/metrics`)).rejects.toThrow();
});

test('a port that is taken is named by its own setting', async () => {
  const first = await start();
  const port = Number(new URL(first.url).port);
  await expect(start(undefined, port)).rejects.toThrow(
    `METRICS_PORT ${port} is taken: set METRICS_PORT to another one`,
  );
  first.stop();
});

const question = 'GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n';

function open(url: string) {
  const connection = connect(Number(new URL(url).port), '127.0.0.1');
  return {
    connection,
    closed: new Promise<void>((resolve) => connection.on('error', () => {}).once('close', resolve)),
  };
}

test('whoever asks many times at once and reads nothing is cut, and few answers are rendered', async () => {
  let rendered = 0;
  const render = () => {
    rendered += 1;
    return 'a 1\n'.repeat(262_144);
  };
  const server = await startMetricsServer({ host: '127.0.0.1', port: 0, render, onError: () => {}, readTimeout: 100 });
  const { connection, closed } = open(server.url);
  connection.pause().write(question.repeat(64));
  // A connection that is not read notices its end only when it writes.
  const writing = setInterval(() => connection.write('\r\n'), 10);
  await closed;
  clearInterval(writing);
  expect(rendered).toBeGreaterThanOrEqual(1);
  expect(rendered).toBeLessThan(48);
  server.stop();
});

test('connections are few, so that a flood takes none of the callers’ descriptors', async () => {
  const server = await start();
  const held = Array.from({ length: 16 }, () => open(server.url));
  await Promise.all(held.map(({ connection }) => once(connection, 'connect')));
  // One that was let in would stay open until it had asked.
  await open(server.url).closed;
  const first = held[0] as ReturnType<typeof open>;
  first.connection.write(question);
  expect(String(await once(first.connection, 'data'))).toMatch(/^HTTP\/1\.1 200/);
  server.stop();
  await Promise.all(held.map(({ closed }) => closed));
});
