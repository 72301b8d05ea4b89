/** The names of the bench's upstream, which the gateway hides. The answers contain none. */
export const upstreamNames = ['Northwind Labs', 'Borealis', 'Tramontane', 'Halcyon-7', 'api.northwind.example'];
export const upstreamModel = 'northwind/borealis-70b-instruct';

const prose = `Most of what people call slow is waiting. A program that asks a disk, a network or another program for
something stands still until the answer comes, and while it stands still the processor has nothing to do for it. So the
first question about any delay is whether it is work or waiting, because the two are cured in different ways. Work is
cured by doing less of it: by not computing what nobody reads, by keeping what was computed before, by choosing a shape
of data in which the common question is cheap. Waiting is cured by asking earlier, by asking for several things at once,
or by not asking at all. A good measurement tells the two apart: it reads the processor time, which does not grow when
the machine is busy with something else, and the time on the clock, which does.`.replaceAll('\n', ' ');

/** Text in tokens as models produce them: a word with its leading space, long words in two. */
export const tokens: readonly string[] = prose
  .split(/(?= )/)
  .flatMap((word) => (word.length > 8 ? [word.slice(0, 5), word.slice(5)] : [word]));

/** A chat with a history of about this many bytes. */
export function chatOf(bytes: number, stream: boolean): string {
  const messages = [{ role: 'system', content: 'You are a helpful assistant.' }];
  for (let size = 0, turn = 0; size < bytes; turn += 1) {
    // Each turn starts elsewhere in the prose, so that neighbours differ.
    const content = `${prose.slice((turn * 97) % prose.length)} ${prose} ${prose}`;
    messages.push({ role: turn % 2 === 0 ? 'user' : 'assistant', content });
    size += content.length;
  }
  messages.push({ role: 'user', content: 'What should be measured first?' });
  return JSON.stringify({ model: 'svc', messages, max_tokens: 4096, temperature: 0.7, ...(stream && { stream }) });
}

/** A question per dialect whose answer is streamed. */
export const streamedQuestions = ((body: string) => {
  const { model, max_tokens, stream, messages: turns } = JSON.parse(body);
  const [{ content: system }, ...talk] = turns;
  const inResponses = { model, max_output_tokens: max_tokens, stream, input: turns };
  const inMessages = { model, max_tokens, stream, system, messages: talk };
  return {
    chat: { path: '/v1/chat/completions', body },
    responses: { path: '/v1/responses', body: JSON.stringify(inResponses) },
    messages: { path: '/v1/messages', body: JSON.stringify(inMessages) },
  };
})(chatOf(500, true));

export type Question = (typeof streamedQuestions)[keyof typeof streamedQuestions];
