interface Kind {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A body of this session, after this many turns of the assistant and the user. */
  body(session: string, history: readonly object[], turns: number): object;
}

const kinds: Readonly<Record<string, Kind>> = {
  /** A cache key per thread. */
  codex: {
    path: '/v1/responses',
    headers: { originator: 'codex_cli_rs' },
    body: (session, history) => ({
      instructions: 'You are a coding agent that runs in a terminal.',
      input: [{ role: 'user', content: 'Mend the tests.' }, ...history],
      prompt_cache_key: session,
    }),
  },
  /** A session id in the metadata, and a header that changes. */
  'claude-code': {
    path: '/v1/messages',
    body: (session, history, turns) => ({
      max_tokens: 32_000,
      metadata: { user_id: JSON.stringify({ device_id: 'd', account_uuid: '', session_id: session }) },
      system: [{ type: 'text', text: `Turn ${turns}.`, cache_control: { type: 'ephemeral' } }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Mend the tests.' }] }, ...history],
    }),
  },
  /** Nothing but its opening words. */
  hintless: {
    path: '/v1/chat/completions',
    body: (session, history) => ({
      messages: [{ role: 'user', content: `Mend the tests of ${session}.` }, ...history],
    }),
  },
};

/** The requests of conversations as clients send them: each turn repeats the growing history. */
export const conversations = Object.values(kinds).map(({ path, headers = {}, body }) => (session: string) => ({
  path,
  turn(number: number) {
    const history = Array.from({ length: number - 1 }, (_, turn) => [
      { role: 'assistant', content: `Done ${turn}.` },
      { role: 'user', content: `More ${turn}.` },
    ]).flat();
    return { headers, body: { model: 'svc', ...body(session, history, number) } };
  },
}));
