/** The requests of a conversation as a client sends them: each turn repeats the growing history. */
export interface TestConversation {
  readonly path: string;
  turn(number: number): { readonly headers: Readonly<Record<string, string>>; readonly body: object };
}

type Kind = (session: string) => TestConversation;

const earlier = (turn: number) => Array.from({ length: turn - 1 }, (_, index) => index + 1);

/** The Codex CLI: a cache key per thread, and encrypted reasoning in later turns. */
const codex: Kind = (session) => ({
  path: '/v1/responses',
  turn: (number) => ({
    headers: { 'openai-beta': 'responses=experimental', originator: 'codex_cli_rs' },
    body: {
      model: 'svc',
      instructions: 'You are a coding agent that runs in a terminal.',
      input: [
        { type: 'message', role: 'developer', content: [{ type: 'input_text', text: '<permissions>' }] },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Mend the tests.' }] },
        ...earlier(number).flatMap((turn) => [
          { type: 'reasoning', summary: [], encrypted_content: `sealed in turn ${turn}` },
          { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: `Done ${turn}.` }] },
          { type: 'message', role: 'user', content: [{ type: 'input_text', text: `More ${turn}.` }] },
        ]),
      ],
      store: false,
      include: ['reasoning.encrypted_content'],
      prompt_cache_key: session,
    },
  }),
});

/** Claude Code: a session id in the metadata, cache marks that move with each turn, and signed thinking. */
const claudeCode: Kind = (session) => ({
  path: '/v1/messages',
  turn: (number) => ({
    headers: { 'anthropic-version': '2023-06-01' },
    body: {
      model: 'claude-opus-4-8',
      max_tokens: 32_000,
      metadata: { user_id: JSON.stringify({ device_id: 'd', account_uuid: '', session_id: session }) },
      system: [
        { type: 'text', text: `Turn ${number} of a header that changes.`, cache_control: { type: 'ephemeral' } },
      ],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Mend the tests.' }] },
        ...earlier(number).flatMap((turn) => [
          {
            role: 'assistant',
            content: [
              { type: 'thinking', thinking: 'Hm.', signature: `signed in turn ${turn}` },
              { type: 'text', text: `Done ${turn}.` },
            ],
          },
          { role: 'user', content: `More ${turn}.` },
        ]),
      ],
    },
  }),
});

/** A chat without any hint: its opening stays the same, but its cache marks move. */
const hintless: Kind = (session) => ({
  path: '/v1/chat/completions',
  turn: (number) => ({
    headers: {},
    body: {
      model: 'svc',
      messages: [
        {
          role: 'system',
          content: [{ type: 'text', text: 'Be brief.', ...(number % 2 === 0 && { cache_control: {} }) }],
        },
        { role: 'user', content: `Mend the tests of ${session}.` },
        ...earlier(number).flatMap((turn) => [
          { role: 'assistant', content: `Done ${turn}.` },
          { role: 'user', content: `More ${turn}.` },
        ]),
      ],
    },
  }),
});

export const conversations = { codex, 'claude-code': claudeCode, hintless } as const;
