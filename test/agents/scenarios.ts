import type { KeyRequest } from '../../lambda/identity/issued-keys.ts';
import { sealText } from '../../local/upstream/speaker.ts';
import { PRICES } from '../support/prices.ts';
import { agents, overMessages, translatedToChat } from './agents.ts';
import { frameworks } from './frameworks.ts';
import { type Act, names, nextPrompt, prompt, type Subject } from './subject.ts';

/** The model's answer. */
export const answer = 'Hello from afar.';

export interface Scenario {
  readonly title: string;
  /** How its key differs from the default. */
  readonly key?: Partial<KeyRequest>;
  readonly spoilKey?: (key: string) => string;
  /** Settings of its gateway. */
  readonly environment?: Readonly<Record<string, string>>;
  /** What the model asks the client to do. Clients without tools for it are left out. */
  readonly act?: Act;
  /** Contents of files in `work`, before and afterwards. */
  readonly given?: Readonly<Record<string, string | Uint8Array>>;
  readonly leaves?: Readonly<Record<string, string>>;
  /** What must reach the upstream, all in one request. */
  readonly brings?: (subject: Subject) => readonly string[];
  /** The model's reasoning before each answer. */
  readonly reasoningBlock?: string;
  readonly breaks?: boolean;
  /** The longest request that the model accepts, in bytes. */
  readonly window?: (subject: Subject) => number | undefined;
  /** What the client must print; empty if it must keep retrying. */
  readonly says: (subject: Subject) => string | undefined;
}

/** Clients, and the scenarios that each of them plays against a gateway with these settings. */
export interface Group {
  readonly title: string;
  readonly environment: Readonly<Record<string, string>>;
  /** The only dialect that its upstream speaks, if it is one. */
  readonly speaks?: 'chat' | 'messages';
  readonly subjects: readonly Subject[];
  readonly scenarios: readonly Scenario[];
}

const onePrompt: Scenario = { title: 'One prompt', says: () => answer };
const toolCall: Scenario = {
  title: 'A tool call',
  act: 'write',
  leaves: { [names.note]: 'done\n' },
  says: () => answer,
};
const spentQuota: Scenario = { title: 'A spent quota', key: { limit: 0 }, says: ({ says }) => says.spentQuota };
const brokenStreams: Scenario = {
  title: 'Streams that break',
  breaks: true,
  says: ({ says }) => says.brokenStream ?? answer,
};

const spentBudget: Scenario = {
  title: 'A spent budget',
  environment: { PRICES },
  key: { budget: 1, budgetWindow: 'day' },
  says: ({ says }) => says.spentBudget,
};

/** A red square. */
const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR42mM4IWdDEmIY1TCqYfhqAAC5FCIQyinpOwAAAABJRU5ErkJggg==',
  'base64',
);

const reasoningBlock = 'I had better write a note.';

/** Scenarios over an upstream of one dialect. `back` and `image` are how the model's own reasoning and a picture reach it. */
const overOne = (back: string, image: string): readonly Scenario[] => [
  ...[onePrompt, toolCall],
  {
    ...toolCall,
    title: 'Reasoning',
    reasoningBlock,
    brings: ({ dropsReasoning }) => (dropsReasoning ? [] : [back]),
  },
  {
    ...{ title: 'Another prompt', act: 'goOn', reasoningBlock },
    brings: ({ dropsReasoning }) => [prompt, ...(dropsReasoning ? [] : [back]), names.note, nextPrompt],
    says: () => answer,
  },
  {
    ...{ title: 'Ten turns', act: 'tenTurns', reasoningBlock },
    leaves: { [names.note]: '123456789'.replace(/./g, '$&\n') },
    brings: ({ dropsReasoning }) => (dropsReasoning ? [] : [back]),
    says: () => answer,
  },
  {
    title: 'Two calls at once',
    act: 'writeBoth',
    leaves: { [names.note]: 'done\n', [names.second]: 'done\n' },
    says: () => answer,
  },
  {
    title: 'An edited file',
    act: 'edit',
    given: { [names.letter]: 'Dear Ada\n' },
    leaves: { [names.letter]: 'Dear Grace\n' },
    says: () => answer,
  },
  {
    title: 'A picture',
    act: 'look',
    given: { [names.picture]: picture },
    brings: () => [image],
    says: () => answer,
  },
  {
    title: 'A tool found by a search',
    act: 'search',
    brings: ({ finds }) => [`"name":"${finds}"`],
    says: () => answer,
  },
  ...[spentQuota, brokenStreams],
  { title: 'A prompt too long', window: () => 100, says: ({ says }) => says.tooLong },
  {
    title: 'A conversation too long',
    act: 'printMuch',
    window: ({ window }) => window,
    says: ({ shortens, says }) => (shortens ? answer : says.tooLong),
  },
];

export const groups: readonly Group[] = [
  {
    title: 'With their blocks, over an upstream that speaks all dialects',
    environment: {},
    subjects: [...agents, ...frameworks],
    scenarios: [
      ...[onePrompt, toolCall],
      { title: 'A bad key', spoilKey: (key) => `${key.slice(0, -4)}gone`, says: ({ says }) => says.badKey },
      ...[spentQuota, spentBudget, brokenStreams],
    ],
  },
  {
    title: 'Over an upstream that speaks only chat completions',
    environment: { UPSTREAM_DIALECTS: 'chat', MODEL_ALIASES: 'gpt-*=svc' },
    subjects: translatedToChat,
    speaks: 'chat',
    scenarios: overOne(`"reasoning_content":"${reasoningBlock}"`, 'data:image/'),
  },
  {
    title: 'Over an upstream that speaks only messages, as strict as their maker',
    environment: {
      ...{ UPSTREAM_DIALECTS: 'messages', UPSTREAM_OUTPUT_LIMIT: '32000', UPSTREAM_SIGNS_THINKING: 'true' },
      MODEL_ALIASES: 'gpt-*=svc',
    },
    speaks: 'messages',
    subjects: overMessages,
    scenarios: overOne(
      `"thinking":"${reasoningBlock}","signature":"${sealText(reasoningBlock)}"`,
      '"media_type":"image/',
    ),
  },
];
