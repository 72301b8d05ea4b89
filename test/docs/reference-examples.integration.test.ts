import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { makePages } from '../../lib/reference/render-reference.ts';
import { runModules, startRoomyDemoGateway } from '../sdk/sdk-gateway.ts';
import { readEvents } from '../support/client-view.ts';
import type { TestGateway } from '../support/gateway.ts';
import { readContract } from './contract.ts';
import { shapeOf } from './shape.ts';

const page = (await makePages()).get('docs/index.html') ?? '';

/** The blocks of each endpoint in their order, as a person copies them. */
const examples = [
  ...page.matchAll(/<section class="card endpoint" aria-labelledby="(\w+)-title">(.*?)<\/section>/gs),
].flatMap(([, id = '', section = '']) => {
  const blocks = [...section.matchAll(/<p>(curl|JavaScript|Python|Answer)<\/p><\/div><pre[^>]*>([^<]*)<\/pre>/g)];
  return blocks.flatMap(([, title, text = ''], index) => {
    if (title !== 'curl') return [];
    const [script = '', python = '', answer = ''] = [1, 2, 3].map((next) => {
      const [, name, content = ''] = blocks[index + next] ?? [];
      return name === ['JavaScript', 'Python', 'Answer'][next - 1] ? toText(content) : '';
    });
    return [{ id, request: toText(text), script, python, answer }];
  });
});

const numbered = examples.map((example, index) => ({ ...example, index }));

function toText(html: string): string {
  const entities = { lt: '<', gt: '>', quot: '"', amp: '&' } as const;
  const plain = html.replace(/&(lt|gt|quot|amp);/g, (_, name: keyof typeof entities) => entities[name]);
  return plain.replaceAll('{{service}}', 'svc').replaceAll('{{placeholder}}', 'YOUR_KEY');
}

let gateway: TestGateway;
let key: string;
beforeAll(async () => {
  gateway = await startRoomyDemoGateway();
  key = await gateway.issueKey({ label: 'laptop' });
});
afterAll(() => gateway[Symbol.asyncDispose]());

test('every endpoint has a request with its answer, and where it streams a stream too', () => {
  const operations = readContract().operations.filter(({ method }) => method !== 'OPTIONS');
  for (const { id, keepAlive } of operations) {
    const answers = examples.filter((example) => example.id === id).map(({ answer }) => answer);
    expect([id, answers[0]]).toEqual([id, expect.stringMatching(/^\{/)]);
    expect([id, answers.some((answer) => /^(data|event): /.test(answer))]).toEqual([id, keepAlive !== undefined]);
  }
});

const fill = (text: string) => text.replaceAll('{{gateway}}', gateway.url).replaceAll('YOUR_KEY', key);

test.each(examples)('$id: $request', async ({ request, answer }) => {
  const command = fill(request);
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', `${command} -sS --fail-with-body`]);
  if (answer.startsWith('{')) {
    expect(shapeOf(JSON.parse(stdout))).toEqual(expect.arrayContaining(shapeOf(JSON.parse(answer))));
    return;
  }
  // Each event of the example is one that the gateway sends, in this order, though there may be others in between.
  const sent = readEvents(stdout).map(({ data, value }) => (data === '[DONE]' ? [data] : shapeOf(value)));
  let from = 0;
  for (const { data, value } of readEvents(answer)) {
    const shape = data === '[DONE]' ? [data] : shapeOf(value);
    const found = sent.findIndex((other, index) => index >= from && shape.every((part) => other.includes(part)));
    expect([data, found]).toEqual([data, expect.any(Number)]);
    expect(found).toBeGreaterThanOrEqual(from);
    from = found + 1;
  }
});

describe('in JavaScript', () => {
  let outputs: readonly string[];
  beforeAll(async () => {
    outputs = await runModules(
      examples.map(({ script }) => fill(script)),
      '.',
    );
  });

  test.each(numbered)('$id: $script', ({ id, answer, index }) => {
    const said = outputs[index] ?? '';
    expect(said.trim().length).toBeGreaterThan(0);
    expect(said).not.toMatch(/^undefined$/m);
    if (id === 'countTokens' || id === 'countInputTokens') expect(said).toMatch(/^\d+\n$/);
    if (id === 'listModels') expect(said.split('\n')).toContain('svc');
    if (answer.includes('tool_calls')) expect(said).toContain('get_weather');
  });
});

/** Runs all scripts one after another, with SDKs that send nothing, and say what they were asked. */
const inPython = `
import json, sys, types
class Asked:
    def __init__(self, path=()): self.path = path
    def __getattr__(self, name): return Asked(self.path + (name,))
    def __getitem__(self, _): return self
    def __iter__(self): return iter(())
    def __call__(self, *words, **members):
        sys.stderr.write(json.dumps({"call": ".".join(self.path), "words": words, "body": members}) + "\\n")
        return Asked()
def client(base_url, api_key):
    sys.stderr.write(json.dumps([base_url, api_key]) + "\\n")
    return Asked()
for name in ["OpenAI", "Anthropic"]:
    sys.modules[name.lower()] = types.ModuleType(name)
    setattr(sys.modules[name.lower()], name, client)
for script in json.load(sys.stdin):
    exec(script, {})
    for stream in [sys.stdout, sys.stderr]: stream.write("\\0")
`;

describe('in Python', () => {
  let outputs: readonly string[];
  let calls: readonly string[];
  beforeAll(async () => {
    const running = promisify(execFile)('python3', ['-c', inPython]);
    running.child.stdin?.end(JSON.stringify(examples.map(({ python }) => fill(python))));
    const { stdout, stderr } = await running;
    [outputs, calls] = [stdout.split('\0'), stderr.split('\0')];
  });

  test.each(numbered)('$id: $python', ({ id, request, python, index }) => {
    if (id === 'getUsage') return expect(outputs[index]).toContain("'object': 'usage'");
    const [client = '', asked = ''] = calls[index]?.split('\n') ?? [];
    expect(JSON.parse(client)).toEqual([python.includes('anthropic') ? gateway.url : `${gateway.url}/v1`, key]);
    const [, body = '{}'] = / -d '(.*)'$/s.exec(request) ?? [];
    expect(JSON.parse(asked).body).toEqual(JSON.parse(body));
  });
});
