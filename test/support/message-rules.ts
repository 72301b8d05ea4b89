import { json } from '../../local/upstream/script.ts';
import { sealText as signatureOf } from '../../local/upstream/speaker.ts';
import type { Answer, RecordedRequest } from './fake-upstream.ts';

// biome-ignore lint/suspicious/noExplicitAny: what was sent is checked here
type Sent = any;

/** Why the API of the messages dialect's vendor would refuse a request. Requests of its own clients may contain more than ours. */
export function faultsOf(body: Sent): string[] {
  const faults: string[] = [];
  const require: Require = (holds, fault) => void (holds || faults.push(fault));
  requireMembers(body, members.body, require, 'the body');
  require(Number.isInteger(body.max_tokens) && body.max_tokens > 0, 'max_tokens is needed');
  const thinks = ['enabled', 'adaptive'].includes(body.thinking?.type);
  require(body.temperature === undefined || body.temperature <= 1, 'temperature is more than 1');
  require(!thinks || (body.temperature ?? 1) === 1, 'thinking with a temperature');
  require(!thinks || (body.top_p ?? 1) >= 0.95, 'thinking with a low top_p');
  require(!thinks || body.top_k === undefined, 'thinking with a top_k');
  for (const block of blocksOf(body.system ?? [])) {
    require(block.type === 'text', 'a system block that is no text');
    checkBlock(block, require, 'system');
  }
  checkTools(body, require);
  require(!(thinks && ['any', 'tool'].includes(body.tool_choice?.type)), 'thinking with a forced call');
  checkMessages(body.messages, body.thinking?.type !== 'disabled', require);
  checkMarks(body, require);
  return faults;
}

function checkMarks({ tools = [], system = [], messages }: Sent, require: Require): void {
  const said = messages.flatMap(({ content }: Sent) => blocksOf(content));
  const blocks = [...tools, ...blocksOf(system), ...said, ...said.flatMap(({ content = [] }) => blocksOf(content))];
  const marks = blocks.flatMap(({ cache_control: mark }) => mark ?? []);
  require(marks.length <= 4, `${marks.length} cache marks`);
  for (const { type } of marks) require(type === 'ephemeral', `a cache mark of type ${type}`);
}

type Require = (holds: unknown, fault: string) => void;

/** The allowed members of a body and of each block type; anything else is refused. */
const members: Readonly<Record<string, readonly string[]>> = {
  body: [
    ...['model', 'max_tokens', 'system', 'messages', 'tools', 'tool_choice', 'stream', 'temperature', 'top_p', 'top_k'],
    ...['stop_sequences', 'thinking', 'output_config', 'metadata', 'context_management', 'service_tier'],
  ],
  text: ['type', 'text', 'cache_control', 'citations'],
  image: ['type', 'source', 'cache_control'],
  document: ['type', 'source', 'title', 'cache_control'],
  thinking: ['type', 'thinking', 'signature'],
  redacted_thinking: ['type', 'data'],
  tool_use: ['type', 'id', 'name', 'input', 'cache_control', 'caller'],
  tool_result: ['type', 'tool_use_id', 'content', 'is_error', 'cache_control'],
  tool_reference: ['type', 'tool_name'],
};

function requireMembers(given: Sent, known: readonly string[] | undefined, require: Require, where: string): void {
  for (const name of Object.keys(given)) require(known?.includes(name), `${where} has ${name}`);
}

/** A string is short for one text block. */
const blocksOf = (content: Sent): Sent[] => (typeof content === 'string' ? [{ type: 'text', text: content }] : content);

function checkTools({ tools = [], tool_choice: choice }: Sent, require: Require): void {
  const names = new Set(tools.map(({ name }: Sent) => name));
  require(names.size === tools.length, 'two tools have one name');
  for (const { name, type = 'custom', input_schema: schema } of tools) {
    require(/^[\w-]{1,128}$/.test(name), `a tool is called ${name}`);
    require(type !== 'custom' || schema?.type === 'object', `the schema of ${name} is no object`);
  }
  require(choice === undefined || names.size > 0, 'a choice without tools');
  require(choice?.name === undefined || names.has(choice.name), `no tool is called ${choice?.name}`);
}

const isResult = ({ type }: Sent): boolean => type === 'tool_result';

/** The block types that each role may send. */
const sides: Readonly<Record<string, readonly string[]>> = {
  assistant: ['text', 'thinking', 'redacted_thinking', 'tool_use'],
  user: ['text', 'image', 'document', 'tool_result'],
};

function checkMessages(messages: Sent[], mayThink: boolean, require: Require): void {
  const isAsking = ({ role, content }: Sent) => role === 'user' && !blocksOf(content).some(isResult);
  const asked = messages.findLastIndex(isAsking);
  require(messages[0]?.role === 'user', 'the first message is not the user’s');
  require(messages.at(-1)?.role === 'user', 'the last message begins the answer');
  const ids = messages.flatMap(({ content }) => idsIn(blocksOf(content), 'tool_use', 'id'));
  require(new Set(ids).size === ids.length, 'two calls have one id');
  messages.forEach(({ role, content: given, ...rest }, at) => {
    const where = `message ${at}`;
    const before = messages[at - 1];
    const content = blocksOf(given);
    requireMembers(rest, [], require, where);
    require(content.length > 0, `${where} is empty`);
    require(sides[role] !== undefined, `${where} is of ${role}`);
    require(!(role === 'assistant' && before?.role === 'assistant'), `${where} is a second one of the assistant`);
    const called = before?.role === 'assistant' ? idsIn(blocksOf(before.content), 'tool_use', 'id') : [];
    const answered = idsIn(content, 'tool_result', 'tool_use_id');
    require(String(called) === String(answered), `${where} answers [${answered}], called was [${called}]`);
    const isReasoning = ({ type }: Sent) => /thinking$/.test(type);
    require(!isReasoning(content.at(-1) ?? {}), `${where} ends with reasoning`);
    require(mayThink || at < asked || !content.some(isReasoning), `${where}: reasoning, but thinking is off`);
    const kinds = content.map(isResult);
    require(!kinds.includes(true, kinds.indexOf(false) + 1) || !kinds.includes(false), `${where} has results last`);
    for (const block of content) {
      require(sides[role]?.includes(block.type), `${where}: ${block.type} of ${role}`);
      checkBlock(block, require, where);
    }
  });
}

/** An upstream that speaks only messages, and gives this answer once a request has no fault. */
export const strictly =
  (answer: Answer): Answer =>
  (request) => {
    const faults = faultsIn(request);
    const error = { type: 'invalid_request_error', message: faults.join('; ') };
    if (faults.length > 0) return json(400, { type: 'error', error });
    return typeof answer === 'function' ? answer(request) : answer;
  };

/**
 * Why a request would be refused. The vendor's own clients, which declare their betas, may send instructions within a
 * conversation.
 */
export function faultsIn({ path, headers, body }: Pick<RecordedRequest, 'path' | 'headers' | 'body'>): string[] {
  const [address] = path.split('?');
  if (address === '/v1/messages/count_tokens') return [];
  if (address !== '/v1/messages') return [`${path} was asked`];
  const { messages, ...rest } = JSON.parse(`${body}`);
  const isInstruction = ({ role }: Sent, at: number) => role === 'system' && at > 0;
  const checked =
    headers['anthropic-beta'] === undefined
      ? messages
      : messages.filter((...of: [Sent, number]) => !isInstruction(...of));
  return faultsOf({ ...rest, messages: checked });
}

const idsIn = (content: Sent, type: string, member: string): string[] =>
  content.filter((block: Sent) => block.type === type).map((block: Sent) => block[member]);

function checkBlock(block: Sent, require: Require, where: string): void {
  requireMembers(block, members[block.type], require, `${where}: ${block.type}`);
  if (block.type === 'text') require(block.text.trim(), `${where} has an empty text`);
  if (block.type === 'thinking')
    require(block.signature === signatureOf(block.thinking), `${where}: a wrong signature`);
  if (block.type === 'tool_use') {
    require(/^[\w-]+$/.test(block.id), `${where}: an id ${block.id}`);
    require(block.input?.constructor === Object, `${where}: an input that is no object`);
  }
  if (block.type !== 'tool_result') return;
  for (const inner of blocksOf(block.content ?? [])) {
    const mayStand = ['text', 'image', 'document', 'tool_reference'].includes(inner.type);
    require(mayStand, `${where}: a result with ${inner.type}`);
    checkBlock(inner, require, where);
  }
}

/** What a reasoning signature covers: everything before the block, except cache marks. */
function signedOver({ system = [], tools = [] }: Sent, messages: Sent[], said: Sent[]): string {
  const whole = messages.map(({ role, content }: Sent) => ({ role, content: blocksOf(content) }));
  const prompt = [blocksOf(system), tools, whole, said];
  return JSON.stringify(prompt, (name, value) => (name === 'cache_control' ? undefined : value));
}

const keyOf = ({ type, signature, data }: Sent): string | undefined =>
  /thinking$/.test(type) ? (signature ?? data) : undefined;

/** A model that signs each reasoning block over everything before it, and accepts it again only there. */
export function createBinding() {
  const bound = new Map<string, Set<string>>();
  return {
    /** Records an answer. */
    bind(body: Sent, content: readonly Sent[]): void {
      content.forEach((block, at) => {
        const key = keyOf(block);
        if (key === undefined) return;
        const places = bound.get(key) ?? new Set();
        bound.set(key, places.add(signedOver(body, body.messages, content.slice(0, at))));
      });
    },
    /** Why a request whose reasoning is in another place is refused. Worded as in github.com/anomalyco/opencode/issues/48637. */
    faultIn({ messages, ...body }: Sent): string | undefined {
      for (const [index, { content }] of messages.entries()) {
        const blocks = blocksOf(content);
        for (const [at, block] of blocks.entries()) {
          const key = keyOf(block);
          const before = key && signedOver(body, messages.slice(0, index), blocks.slice(0, at));
          if (before === undefined || bound.get(key ?? '')?.has(before)) continue;
          const what = 'Invalid `signature` in `thinking` block. The block is bound to a different conversation.';
          return `messages.${index}.content.${at}: ${what}`;
        }
      }
      return undefined;
    },
  };
}
