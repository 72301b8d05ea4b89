import { lines, outputLimitOf } from './snippet.js';

/**
 * Agents inside an editor.
 * @param {import('./snippet.js').Access} access
 * @returns {import('./snippet.js').Snippet[]}
 */
export function createEditorSnippets({ gatewayUrl, serviceName: model, key, contextWindow }) {
  const v1 = `${gatewayUrl}/v1`;

  return [
    {
      id: 'cursor',
      title: 'Cursor',
      blocks: [
        {
          title: 'Cursor Settings → Models',
          text: lines(
            `OpenAI API Key             ${key}`,
            `Override OpenAI Base URL   ${v1}`,
            `Add Custom Model           ${model}`,
          ),
        },
      ],
    },
    {
      id: 'cline',
      title: 'Cline',
      blocks: [
        {
          title: 'Settings → API Configuration',
          text: lines(
            'API Provider          OpenAI Compatible',
            `Base URL              ${v1}`,
            `API Key               ${key}`,
            `Model ID              ${model}`,
            ...(contextWindow ? [`Context Window Size   ${contextWindow}`] : []),
            `Max Output Tokens     ${outputLimitOf(contextWindow)}`,
          ),
        },
        {
          title: 'Terminal',
          text: lines(
            `cline auth --provider openai-compatible --apikey ${key} --modelid ${model} --baseurl ${v1}`,
            'cline',
          ),
        },
      ],
    },
    {
      id: 'continue',
      title: 'Continue',
      blocks: [
        {
          title: '~/.continue/config.yaml',
          text: lines(
            'name: Gateway',
            'version: 1.0.0',
            'schema: v1',
            'models:',
            `  - name: ${model}`,
            '    provider: openai',
            `    model: ${model}`,
            `    apiBase: ${v1}`,
            `    apiKey: ${key}`,
            '    roles: [chat, edit, apply]',
            '    capabilities: [tool_use]',
            '    defaultCompletionOptions:',
            ...(contextWindow ? [`      contextLength: ${contextWindow}`] : []),
            `      maxTokens: ${outputLimitOf(contextWindow)}`,
            `  - name: ${model}-vision`,
            '    provider: openai',
            `    model: ${model}-vision`,
            `    apiBase: ${v1}`,
            `    apiKey: ${key}`,
            '    roles: [chat]',
            '    capabilities: [tool_use, image_input]',
          ),
        },
        { title: 'Terminal', text: 'cn' },
      ],
    },
  ];
}
