import { exports, lines } from './snippet.js';

/**
 * curl, and the SDKs of the dialects. A script sets up a client, and after a blank line asks it.
 * @param {import('./snippet.js').Access} access
 * @returns {import('./snippet.js').Snippet[]}
 */
export function createSdkSnippets({ gatewayUrl, serviceName: model, key }) {
  const v1 = `${gatewayUrl}/v1`;
  const messages = `messages: [{ role: 'user', content: 'Say hello.' }]`;

  return [
    {
      id: 'curl',
      title: 'curl',
      blocks: [
        {
          title: 'Terminal',
          text: lines(
            `curl ${v1}/chat/completions \\`,
            `  -H 'authorization: Bearer ${key}' \\`,
            `  -H 'content-type: application/json' \\`,
            `  -d '{`,
            `    "model": "${model}",`,
            `    "messages": [{"role": "user", "content": "Say hello."}]`,
            `  }'`,
          ),
        },
      ],
    },
    {
      id: 'openai',
      title: 'OpenAI SDK',
      blocks: [
        {
          title: 'JavaScript',
          text: lines(
            `import OpenAI from 'openai';`,
            '',
            'const client = new OpenAI({',
            `  baseURL: '${v1}',`,
            `  apiKey: '${key}',`,
            '});',
            '',
            `const answer = await client.chat.completions.create({`,
            `  model: '${model}',`,
            `  ${messages},`,
            '});',
            'console.log(answer.choices[0].message.content);',
          ),
        },
        {
          title: 'Python',
          text: lines(
            'from openai import OpenAI',
            '',
            `client = OpenAI(base_url="${v1}", api_key="${key}")`,
            'answer = client.chat.completions.create(',
            `    model="${model}",`,
            '    messages=[{"role": "user", "content": "Say hello."}],',
            ')',
            'print(answer.choices[0].message.content)',
          ),
        },
        { title: 'Environment', text: lines(...exports({ OPENAI_BASE_URL: v1, OPENAI_API_KEY: key })) },
      ],
    },
    {
      id: 'anthropic',
      title: 'Anthropic SDK',
      blocks: [
        {
          title: 'JavaScript',
          text: lines(
            `import Anthropic from '@anthropic-ai/sdk';`,
            '',
            'const client = new Anthropic({',
            `  baseURL: '${gatewayUrl}',`,
            `  apiKey: '${key}',`,
            '});',
            '',
            'const answer = await client.messages.create({',
            `  model: '${model}',`,
            '  max_tokens: 200,',
            `  ${messages},`,
            '});',
            'console.log(answer.content[0].text);',
          ),
        },
        {
          title: 'Python',
          text: lines(
            'from anthropic import Anthropic',
            '',
            `client = Anthropic(base_url="${gatewayUrl}", api_key="${key}")`,
            'answer = client.messages.create(',
            `    model="${model}",`,
            '    max_tokens=200,',
            '    messages=[{"role": "user", "content": "Say hello."}],',
            ')',
            'print(answer.content[0].text)',
          ),
        },
        { title: 'Environment', text: lines(...exports({ ANTHROPIC_BASE_URL: gatewayUrl, ANTHROPIC_API_KEY: key })) },
      ],
    },
  ];
}
