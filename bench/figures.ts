import { budgets, serverBudgets } from './measurements/budgets.ts';
import { busyCaller } from './measurements/busy-caller.ts';
import { coldStart } from './measurements/cold-start.ts';
import { events, otherEvents, translatedEvents } from './measurements/events.ts';
import type { Measurement } from './measurements/measurement.ts';
import { prompt } from './measurements/prompt.ts';
import { requests } from './measurements/requests.ts';
import { server } from './measurements/server.ts';
import { size } from './measurements/size.ts';
import { slowReader } from './measurements/slow-reader.ts';
import type { SubjectName } from './subject.ts';

/** One line of the results: a figure of one measurement, with the gateway in one setting. */
export interface Figure {
  readonly title: string;
  readonly unit: string;
  readonly measurement: MeasurementName;
  readonly sample: string;
  readonly gateway?: SubjectName;
  /** For the ratio to a baseline, or for the figure itself. It may be at most the bound, or at least. */
  readonly goal?: { readonly to?: 'bare' | 'bareDynamoDb'; readonly bound: number; readonly atLeast?: true };
}

/** `npm run bench -- --only NAME` runs one of them. */
export const measurements = {
  size,
  'cold-start': coldStart,
  requests,
  budgets,
  'busy-caller': busyCaller,
  events,
  'other-events': otherEvents,
  'translated-events': translatedEvents,
  prompt,
  'slow-reader': slowReader,
  server,
  'server-budgets': serverBudgets,
} as const satisfies Record<string, Measurement>;

export type MeasurementName = keyof typeof measurements;

type Line = readonly [title: string, unit: string, sample: string, more?: Pick<Figure, 'gateway' | 'goal'>];

const budgetLines = (gateway: SubjectName, bound: number): readonly Line[] => [
  ['request of a caller without a budget, processor time', 'ms', 'without', { gateway }],
  ['the same with a budget', 'ms', 'with', { gateway }],
  ['with to without', '×', 'ratio', { gateway, goal: { bound } }],
];

const lines: Readonly<Record<MeasurementName, readonly Line[]>> = {
  size: [
    ['artifact, JavaScript', 'KB', 'total', { goal: { bound: 400 } }],
    ['artifact, read at every start', 'KB', 'start'],
  ],
  'cold-start': [
    ['cold start, spawn to first byte', 'ms', 'firstByte', { goal: { to: 'bareDynamoDb', bound: 1.05 } }],
    ['cold start, keys in the environment', 'ms', 'firstByte', { gateway: 'gatewayWithoutSecrets' }],
    ['cold start, spawn to loaded', 'ms', 'load'],
    ['cold start, processor time', 'ms', 'processor'],
    ['cold start, peak memory', 'MB', 'memory'],
  ],
  requests: [
    ['plain request, processor time', 'ms', 'processor', { goal: { to: 'bareDynamoDb', bound: 0.8 } }],
    ['the same of the floor', 'ms', 'processor', { gateway: 'floor' }],
    [
      ...(['the same, identity not cached', 'ms', 'processor'] as const),
      { gateway: 'gatewayUncached', goal: { to: 'bareDynamoDb', bound: 1.15 } },
    ],
    ['the same of a guest', 'ms', 'processor', { gateway: 'gatewayGuest' }],
    [
      ...(['the same without a budget, where others have one', 'ms', 'processor'] as const),
      { gateway: 'gatewayWithPrices', goal: { to: 'bareDynamoDb', bound: 0.8 } },
    ],
    ['plain request, added latency p50', 'ms', 'added', { goal: { to: 'bareDynamoDb', bound: 0.8 } }],
    ['the same of the floor', 'ms', 'added', { gateway: 'floor' }],
    ['stream, added time to first byte p50', 'ms', 'streamAdded', { goal: { to: 'bareDynamoDb', bound: 0.8 } }],
    ['the same of the floor', 'ms', 'streamAdded', { gateway: 'floor' }],
    ['small requests, peak memory', 'MB', 'memory'],
  ],
  budgets: budgetLines('gatewayWithPrices', 1.3),
  'busy-caller': [
    ['busy caller beside 64 calm ones, requests a minute', '', 'rate'],
    ['a request of the busy one, processor time', 'ms', 'busy'],
    ['a request of a calm one, processor time', 'ms', 'calm'],
    ['busy to calm', '×', 'ratio', { goal: { bound: 1.35 } }],
  ],
  events: [
    ['streamed event, processor time', 'µs', 'processor', { goal: { to: 'bare', bound: 2 } }],
    ['the same, with names now and then', 'µs', 'namedProcessor'],
    ['the same, an event a millisecond', 'µs', 'pacedProcessor'],
    ['streamed event, delay p50', 'ms', 'delay'],
    ['events a second', '', 'rate', { goal: { to: 'bare', bound: 0.6, atLeast: true } }],
    ['the same, with names now and then', '', 'namedRate'],
    ['long streams, peak memory', 'MB', 'memory'],
  ],
  'other-events': [
    ['event of the responses dialect, processor time', 'µs', 'processor'],
    ['the same to an event of a chat', '×', 'ratio', { goal: { bound: 1.2 } }],
    ['event of OpenAI’s chat, with filling, to that', '×', 'openAiChatRatio', { goal: { bound: 1.3 } }],
    ['event of OpenAI’s responses, with filling, to that', '×', 'openAiResponsesRatio', { goal: { bound: 1.3 } }],
    ['event of vLLM’s chat, with running usage, to that', '×', 'vllmChatRatio', { goal: { bound: 1.3 } }],
  ],
  'translated-events': [
    ['event of a chat passed on, processor time', 'µs', 'chat', { gateway: 'gatewayOfChat' }],
    [
      ...(['the same translated to responses, to that', '×', 'responsesRatio'] as const),
      { gateway: 'gatewayOfChat', goal: { bound: 1.5 } },
    ],
    [
      ...(['the same translated to messages, to that', '×', 'messagesRatio'] as const),
      { gateway: 'gatewayOfChat', goal: { bound: 1.5 } },
    ],
  ],
  prompt: [
    ['4 MB prompt, processor time', 'ms', 'processor', { goal: { to: 'bare', bound: 1.4 } }],
    ['the same, the first eight', 'ms', 'firstProcessor'],
    ['4 MB prompt, peak memory', 'MB', 'memory', { goal: { to: 'bare', bound: 1.15 } }],
    ['the same, after 24 of them', 'MB', 'laterMemory'],
  ],
  'slow-reader': [
    ['100 MB read at 20 MB/s, peak memory', 'MB', 'memory', { goal: { to: 'bare', bound: 1.15 } }],
    ['100 MB read at 20 MB/s, processor time', 'ms', 'processor'],
  ],
  server: [
    ['server, 16 clients: requests a second', '', 'rate16'],
    ['a request, processor time', 'ms', 'processor16', { goal: { to: 'bare', bound: 3 } }],
    ['the same, 500 requests a second', 'ms', 'processorCalm', { goal: { to: 'bare', bound: 3 } }],
    ['server, 128 clients: requests a second', '', 'rate128'],
    ['a request, processor time', 'ms', 'processor128', { goal: { to: 'bare', bound: 3 } }],
    ['server, 128 fast streams: events a second', '', 'eventRate'],
    ['an event, processor time', 'µs', 'event', { goal: { to: 'bare', bound: 1.6 } }],
    ['server, 128 streams of 40 events a second: an event', 'µs', 'pacedEvent'],
    ['of one core', '', 'share', { goal: { bound: 0.35 } }],
    ['delay p50', 'ms', 'delay'],
    ['delay p99', 'ms', 'lateDelay'],
    ['the same beside a 4 MB prompt a second: delay p50', 'ms', 'besidePrompts'],
    ['delay p99', 'ms', 'lateBesidePrompts', { goal: { bound: 50 } }],
    ['server, 128 slow readers: peak memory', 'MB', 'memory', { goal: { bound: 300 } }],
  ],
  'server-budgets': budgetLines('serverWithPrices', 1.4),
};

export const figures: readonly Figure[] = (Object.keys(measurements) as MeasurementName[]).flatMap((measurement) =>
  lines[measurement].map(([title, unit, sample, more]) => ({
    ...{ title, unit, measurement, sample },
    ...(measurement === 'server' && { gateway: 'server' as const }),
    ...more,
  })),
);
