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
