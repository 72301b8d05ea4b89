/**
 * What a person pastes, by the tool that it is for.
 * @param {{ gatewayUrl: string, serviceName: string, key: string }} access
 * @returns {{ id: string, title: string, blocks: { title: string, text: string }[] }[]}
 */
export function createSnippets({ gatewayUrl, serviceName: model, key }) {
  const v1 = `${gatewayUrl}/v1`;
  const messages = `messages: [{ role: 'user', content: 'Say hello.' }]`;
  const exports = (/** @type {Record<string, string>} */ variables) =>
    Object.entries(variables).map(([name, value]) => `export ${name}=${value}`);

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
            `  -d '{"model": "${model}", "messages": [{"role": "user", "content": "Say hello."}]}'`,
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
    {
      id: 'claude-code',
      title: 'Claude Code',
      blocks: [
        {
          title: 'Terminal',
          text: lines(...exports({ ANTHROPIC_BASE_URL: gatewayUrl, ANTHROPIC_AUTH_TOKEN: key }), 'claude'),
        },
      ],
    },
    {
      id: 'codex',
      title: 'Codex',
      blocks: [
        {
          title: '~/.codex/config.toml',
          text: lines(
            `model = "${model}"`,
            'model_provider = "gateway"',
            '',
            '[model_providers.gateway]',
            'name = "Gateway"',
            `base_url = "${v1}"`,
            'env_key = "GATEWAY_KEY"',
            'wire_api = "responses"',
          ),
        },
        { title: 'Terminal', text: lines(...exports({ GATEWAY_KEY: key }), 'codex') },
      ],
    },
    {
      id: 'aider',
      title: 'aider',
      blocks: [
        {
          title: 'Terminal',
          text: lines(...exports({ OPENAI_API_BASE: v1, OPENAI_API_KEY: key }), `aider --model openai/${model}`),
        },
      ],
    },
  ];
}

const lines = (/** @type {string[]} */ ...all) => all.join('\n');
