import { json, layOutMembers, python, script } from './literals.js';
import { lines } from './snippet.js';

/**
 * A request as the API has it, and what an SDK calls it. Without `call` no SDK has it.
 * `shown` is what a script prints of the answer, with `all` of each member of a list, and `tools` of an answer that calls some;
 * `events` prints one of a stream.
 * @typedef {{
 *   method: string,
 *   path: string,
 *   body?: Record<string, unknown> | undefined,
 *   sdk: 'OpenAI' | 'Anthropic',
 *   call?: Call | undefined,
 * }} Example
 *
 * @typedef {{ script: string, python?: string, argument?: string, all?: boolean, shown: Shown, tools?: Shown, events?: Shown }} Call
 * @typedef {{ script: string, python: string }} Shown
 */

/**
 * A command to paste into a shell.
 * @param {import('./snippet.js').Access} access
 * @param {Example} example
 */
export function writeCurl({ gatewayUrl, key }, { method, path, body, sdk }) {
  const isAnthropic = sdk === 'Anthropic' && method === 'POST';
  const parts = [
    `curl ${body?.stream === true ? '-N ' : ''}${gatewayUrl}${path}`,
    `-H '${isAnthropic ? 'x-api-key: ' : 'authorization: Bearer '}${key}'`,
    ...(isAnthropic ? ["-H 'anthropic-version: 2023-06-01'"] : []),
  ];
  if (body !== undefined) {
    const members = layOutMembers(body, json, { indent: '    ', colon: ': ', last: '' });
    // A shell ends its text at a single quote.
    parts.push("-H 'content-type: application/json'", `-d '{\n${members.replaceAll("'", "'\\''")}\n  }'`);
  }
  return parts.join(' \\\n  ');
}

/**
 * A module for Node.
 * @param {import('./snippet.js').Access} access
 * @param {Example} example
 */
export function writeJavaScript({ gatewayUrl, key }, { path, body, sdk, call }) {
  if (!call) {
    return lines(
      `const response = await fetch('${gatewayUrl}${path}', {`,
      `  headers: { authorization: 'Bearer ${key}' },`,
      '});',
      'console.log(await response.json());',
    );
  }
  const members = body && layOutMembers(body, script, { indent: '  ', colon: ': ', last: ',' });
  const asked = `client.${call.script}(${call.argument ? `'${call.argument}'` : ''}${members ? `{\n${members}\n}` : ''})`;
  return lines(
    `import ${sdk} from '${sdk === 'OpenAI' ? 'openai' : '@anthropic-ai/sdk'}';`,
    '',
    `const client = new ${sdk}({`,
    `  baseURL: '${gatewayUrl}${sdk === 'OpenAI' ? '/v1' : ''}',`,
    `  apiKey: '${key}',`,
    '});',
    '',
    ...(body?.stream === true
      ? [`const stream = await ${asked};`, `for await (const event of stream) {`, `  ${call.events?.script}`, '}']
      : call.all
        ? [`for await (const one of ${asked}) console.log(${call.shown.script});`]
        : [`const answer = await ${asked};`, `console.log(${call.shown.script});`]),
  );
}

/**
 * The same in Python.
 * @param {import('./snippet.js').Access} access
 * @param {Example} example
 */
export function writePython({ gatewayUrl, key }, { path, body, sdk, call }) {
  if (!call) {
    return lines(
      'import json',
      'from urllib.request import Request, urlopen',
      '',
      `headers = {"authorization": "Bearer ${key}"}`,
      `request = Request("${gatewayUrl}${path}", headers=headers)`,
      'print(json.load(urlopen(request)))',
    );
  }
  const form = { indent: '    ', colon: '=', plainNames: true, last: ',' };
  const members = body && layOutMembers(body, python, form);
  const name = call.python ?? call.script;
  const asked = `client.${name}(${call.argument ? `"${call.argument}"` : ''}${members ? `\n${members}\n` : ''})`;
  return lines(
    `from ${sdk.toLowerCase()} import ${sdk}`,
    '',
    `client = ${sdk}(base_url="${gatewayUrl}${sdk === 'OpenAI' ? '/v1' : ''}", api_key="${key}")`,
    ...(body?.stream === true
      ? [`stream = ${asked}`, 'for event in stream:', `    ${call.events?.python}`]
      : call.all
        ? [`for one in ${asked}:`, `    print(${call.shown.python})`]
        : [`answer = ${asked}`, `print(${call.shown.python})`]),
  );
}

const both = (/** @type {string} */ text) => ({ script: text, python: text });

/** What the SDKs call the endpoints, by the ids that these have in the OpenAPI document. Where there is none, no SDK has it. */
export const calls = /** @satisfies {Record<string, Call>} */ ({
  createChatCompletion: {
    script: 'chat.completions.create',
    shown: both('answer.choices[0].message.content'),
    tools: both('answer.choices[0].message.tool_calls'),
    events: {
      script: "process.stdout.write(event.choices[0]?.delta.content ?? '');",
      python: 'if event.choices: print(event.choices[0].delta.content or "", end="")',
    },
  },
  createResponse: {
    script: 'responses.create',
    shown: both('answer.output_text'),
    events: {
      script: "if (event.type === 'response.output_text.delta') process.stdout.write(event.delta);",
      python: 'if event.type == "response.output_text.delta": print(event.delta, end="")',
    },
  },
  compactResponse: { script: 'responses.compact', shown: both('answer.output') },
  countInputTokens: {
    script: 'responses.inputTokens.count',
    python: 'responses.input_tokens.count',
    shown: both('answer.input_tokens'),
  },
  createEmbeddings: { script: 'embeddings.create', shown: both('answer.data[0].embedding') },
  createMessage: {
    script: 'messages.create',
    shown: both('answer.content[0].text'),
    events: {
      script:
        "if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') process.stdout.write(event.delta.text);",
      python:
        'if event.type == "content_block_delta" and event.delta.type == "text_delta": print(event.delta.text, end="")',
    },
  },
  countTokens: { script: 'messages.countTokens', python: 'messages.count_tokens', shown: both('answer.input_tokens') },
  listModels: { script: 'models.list', all: true, shown: both('one.id') },
  getModel: { script: 'models.retrieve', argument: 'svc', shown: both('answer.id') },
});
