import { exports, lines, outputLimitOf, toJson } from './snippet.js';

/**
 * Coding agents in a terminal.
 * @param {import('./snippet.js').Access} access
 * @returns {import('./snippet.js').Snippet[]}
 */
export function createAgentSnippets({ gatewayUrl, serviceName: model, key, contextWindow }) {
  const v1 = `${gatewayUrl}/v1`;
  const visionModel = `${model}-vision`;

  return [
    {
      id: 'claude-code',
      title: 'Claude Code',
      blocks: [
        {
          title: 'Terminal',
          text: lines(
            ...exports({
              ANTHROPIC_BASE_URL: gatewayUrl,
              ANTHROPIC_AUTH_TOKEN: key,
              ...claudeCodeModel(model),
              CLAUDE_CODE_MAX_CONTEXT_TOKENS: contextWindow,
            }),
            'claude',
          ),
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
            ...(contextWindow ? [`model_context_window = ${contextWindow}`] : []),
            '',
            '[model_providers.gateway]',
            'name = "Gateway"',
            `base_url = "${v1}"`,
            'env_key = "GATEWAY_KEY"',
            'wire_api = "responses"',
            'supports_websockets = false',
          ),
        },
        { title: 'Terminal', text: lines(...exports({ GATEWAY_KEY: key }), 'codex') },
      ],
    },
    {
      id: 'opencode',
      title: 'opencode',
      blocks: [
        {
          title: '~/.config/opencode/opencode.json',
          text: toJson({
            $schema: 'https://opencode.ai/config.json',
            model: `gateway/${model}`,
            small_model: `gateway/${model}`,
            provider: {
              gateway: {
                npm: '@ai-sdk/openai-compatible',
                name: 'Gateway',
                options: { baseURL: v1, apiKey: key },
                models: {
                  [model]: { limit: contextWindow && { context: contextWindow, output: outputLimitOf(contextWindow) } },
                  [visionModel]: { attachment: true, modalities: { input: ['text', 'image'], output: ['text'] } },
                },
              },
            },
          }),
        },
        { title: 'Terminal', text: 'opencode' },
      ],
    },
    {
      id: 'qwen-code',
      title: 'Qwen Code',
      blocks: [
        {
          title: '~/.qwen/settings.json',
          text: toJson({
            security: { auth: { selectedType: 'openai' } },
            model: { name: model },
            env: { GATEWAY_KEY: key },
            // Otherwise each prompt costs a second request, to extract memories.
            memory: { enableManagedAutoMemory: false },
            modelProviders: {
              openai: [
                {
                  id: model,
                  baseUrl: v1,
                  wireApi: 'responses',
                  envKey: 'GATEWAY_KEY',
                  generationConfig: contextWindow && { contextWindowSize: contextWindow },
                },
                {
                  id: visionModel,
                  baseUrl: v1,
                  wireApi: 'responses',
                  envKey: 'GATEWAY_KEY',
                  generationConfig: { modalities: { image: true, video: true } },
                },
              ],
            },
          }),
        },
        { title: 'Terminal', text: 'qwen' },
      ],
    },
    {
      id: 'pi',
      title: 'pi',
      blocks: [
        {
          title: '~/.pi/agent/models.json',
          text: toJson({
            providers: {
              gateway: {
                baseUrl: v1,
                api: 'openai-completions',
                apiKey: key,
                models: [
                  { id: model, contextWindow, maxTokens: outputLimitOf(contextWindow) },
                  { id: visionModel, input: ['text', 'image'] },
                ],
              },
            },
          }),
        },
        { title: 'Terminal', text: `pi --provider gateway --model ${model}` },
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

/** Claude Code's variables for a model that it does not know: the one that it begins with, and what its `/model` calls it. */
export const claudeCodeModel = (/** @type {string} */ model) => ({
  ANTHROPIC_MODEL: model,
  ANTHROPIC_CUSTOM_MODEL_OPTION: model,
  ANTHROPIC_CUSTOM_MODEL_OPTION_NAME: model,
  ANTHROPIC_CUSTOM_MODEL_OPTION_DESCRIPTION: 'Private inference',
});
