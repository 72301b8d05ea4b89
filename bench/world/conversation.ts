/** The names of the bench's upstream, which the gateway hides. Most answers contain none. */
export const upstreamNames = ['Northwind Labs', 'Borealis', 'Tramontane', 'Halcyon-7', 'api.northwind.example'];
export const upstreamModel = 'northwind/borealis-70b-instruct';

const prose = `Most of what people call slow is waiting. A program that asks a disk, a network or another program for
something stands still until the answer comes, and while it stands still the processor has nothing to do for it. So the
first question about any delay is whether it is work or waiting, because the two are cured in different ways. Work is
cured by doing less of it: by not computing what nobody reads, by keeping what was computed before, by choosing a shape
of data in which the common question is cheap. Waiting is cured by asking earlier, by asking for several things at once,
or by not asking at all. A good measurement tells the two apart. It reads the processor time from the operating system,
which does not grow when the machine is busy with something else, and it reads the time on the clock, which does. Where
both are large, there is work to save; where only the second is, there is a question that could have been asked before.
It is tempting to begin with the part of a program that looks clever, since that is where one would enjoy making a
change. The profile usually points somewhere else: to a copy that is made twice, to a connection that is opened for each
request, to a line of log that is written in a loop. These are not interesting, and that is why they are still there.
Take away the largest one, measure again, and be ready to find that the order of the others has changed. When a change
gains nothing, take it back, however good it looked: code that is neither simpler nor faster is only more code.`;

/** Text in tokens as models produce them: a word with its leading space, long words in two. */
export const tokens: readonly string[] = prose
  .replaceAll('\n', ' ')
  .split(/(?= )/)
  .flatMap((word) => (word.length > 8 ? [word.slice(0, 5), word.slice(5)] : [word]));

/** The same with a name in about one event in a hundred, whole or split. */
export const tokensWithNames: readonly string[] = tokens.flatMap((token, index) => {
  if (index === 60) return [' Bore', 'alis', token];
  if (index === 160) return [' Northwind', ' Labs', token];
  if (index === 260) return [' Tramontane', token];
  return [token];
});

/** The same question in the responses dialect. */
export function responsesOf(bytes: number): string {
  const { messages } = JSON.parse(chatOf(bytes, true));
  return JSON.stringify({ model: 'svc', input: messages, max_output_tokens: 4096, stream: true });
}

/** And in that of messages. */
export function messagesOf(bytes: number): string {
  const { messages, max_tokens } = JSON.parse(chatOf(bytes, true));
  const [{ content: system }, ...turns] = messages;
  return JSON.stringify({ model: 'svc', system, messages: turns, max_tokens, stream: true });
}

/** A chat with a history of about this many bytes. */
export function chatOf(bytes: number, stream: boolean): string {
  const messages = [{ role: 'system', content: 'You are a helpful assistant.' }];
  for (let size = 0, turn = 0; size < bytes; turn += 1) {
    // The prose starts elsewhere in each turn, so that no two turns are the same.
    const start = (turn * 97) % prose.length;
    const content = prose.slice(start) + prose.slice(0, start);
    messages.push({ role: turn % 2 === 0 ? 'user' : 'assistant', content });
    size += content.length;
  }
  messages.push({ role: 'user', content: 'What should be measured first?' });
  return JSON.stringify({ model: 'svc', messages, max_tokens: 4096, temperature: 0.7, ...(stream && { stream }) });
}
