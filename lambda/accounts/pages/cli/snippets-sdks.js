import { calls, writeCurl, writeJavaScript, writePython } from './examples.js';
import { exports, lines } from './snippet.js';

/**
 * curl, and the SDKs of OpenAI and Anthropic.
 * @param {import('./snippet.js').Access} access
 * @returns {import('./snippet.js').Snippet[]}
 */
export function createSdkSnippets(access) {
  const { gatewayUrl, serviceName: model, key } = access;
  const messages = [{ role: 'user', content: 'Say hello.' }];
  const chat = example('OpenAI', '/v1/chat/completions', { model, messages }, calls.createChatCompletion);
  const message = example('Anthropic', '/v1/messages', { model, max_tokens: 200, messages }, calls.createMessage);
  const openAi = { OPENAI_BASE_URL: `${gatewayUrl}/v1`, OPENAI_API_KEY: key };
  const anthropic = { ANTHROPIC_BASE_URL: gatewayUrl, ANTHROPIC_API_KEY: key };

  return [
    { id: 'curl', title: 'curl', blocks: [{ title: 'Terminal', text: writeCurl(access, chat) }] },
    { id: 'openai', title: 'OpenAI SDK', blocks: blocksOf(access, chat, openAi) },
    { id: 'anthropic', title: 'Anthropic SDK', blocks: blocksOf(access, message, anthropic) },
  ];
}

/**
 * @param {'OpenAI' | 'Anthropic'} sdk
 * @param {string} path
 * @param {Record<string, unknown>} body
 * @param {import('./examples.js').Call} call
 * @returns {import('./examples.js').Example}
 */
const example = (sdk, path, body, call) => ({ method: 'POST', path, body, sdk, call });

/**
 * @param {import('./snippet.js').Access} access
 * @param {import('./examples.js').Example} asked
 * @param {Record<string, string>} environment
 */
const blocksOf = (access, asked, environment) => [
  { title: 'JavaScript', text: writeJavaScript(access, asked) },
  { title: 'Python', text: writePython(access, asked) },
  { title: 'Environment', text: lines(...exports(environment)) },
];
