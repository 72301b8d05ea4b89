import { busyCaller } from './measurements/busy-caller.ts';
import { coldStart } from './measurements/cold-start.ts';
import { events, otherEvents } from './measurements/events.ts';
import type { Measurement } from './measurements/measurement.ts';
import { prompt } from './measurements/prompt.ts';
import { requests, warmRequests } from './measurements/requests.ts';
import { server } from './measurements/server.ts';
import { size } from './measurements/size.ts';
import { slowReader } from './measurements/slow-reader.ts';
import type { SubjectName } from './subject.ts';

export type Baseline = 'bare' | 'bareDynamoDb';

export type Goal =
  | { readonly to: Baseline; readonly atMost: number }
  | { readonly to: Baseline; readonly atLeast: number }
  /** The goal for the figure itself. */
  | { readonly to: 'nothing'; readonly atMost: number };

/** One line of the results: a figure of one measurement, with the gateway in one setting. */
export interface Figure {
  readonly title: string;
  readonly unit: string;
  readonly measurement: MeasurementName;
  readonly sample: string;
  readonly gateway?: SubjectName;
  /** The subject to compare with as bare, if not the bare function. */
  readonly bare?: SubjectName;
  readonly goal?: Goal;
  /** Why three runs in a row may differ by more than 8 %. */
  readonly spread?: string;
}

/** What `--profile` calls a row. */
export function rowName({ measurement, sample, gateway = 'gateway' }: Figure): string {
  const name = `${measurement}/${sample}`;
  return gateway === 'gateway' || gateway === 'server' ? name : `${name}/${gateway}`;
}

/** `npm run bench -- --only NAME` runs one of them. */
export const measurements = {
  size,
  'cold-start': coldStart,
  requests,
  'warm-requests': warmRequests,
  'busy-caller': busyCaller,
  events,
  'other-events': otherEvents,
  prompt,
  'slow-reader': slowReader,
  server,
} as const satisfies Record<string, Measurement>;

export type MeasurementName = keyof typeof measurements;

const spreads = {
  start: 'a start is short, and reads files that the system may have dropped from memory',
  sequence: 'one request at a time: most of it is waking up, which costs as much as the machine makes it cost',
  tables: 'the embedded tables are part of it, and take a millisecond or two for a charge',
  reads: 'it depends on how many events the kernel hands over in one read',
  garbage: 'when V8 collects garbage is chance',
} as const;

/** Events in which more changes than a text. */
const otherShapes = [
  ['event of OpenAI’s chat, with filling', 'openAiChatRatio'],
  ['event of OpenAI’s responses, with filling', 'openAiResponsesRatio'],
  ['event of vLLM’s chat, with running usage', 'vllmChatRatio'],
] as const;

/** Of the HTTP server, beside a bare one. */
const ofServer = { measurement: 'server', gateway: 'server', bare: 'bareServer' } as const;

export const figures: readonly Figure[] = [
  {
    title: 'artifact, JavaScript',
    unit: 'KB',
    measurement: 'size',
    sample: 'total',
    goal: { to: 'nothing', atMost: 400 },
  },
  { title: 'artifact, read at every start', unit: 'KB', measurement: 'size', sample: 'start' },
  {
    title: 'cold start, spawn to first byte',
    unit: 'ms',
    measurement: 'cold-start',
    sample: 'firstByte',
    goal: { to: 'bareDynamoDb', atMost: 1.05 },
    spread: spreads.start,
  },
  {
    title: 'cold start, keys in the environment',
    unit: 'ms',
    measurement: 'cold-start',
    sample: 'firstByte',
    gateway: 'gatewayWithoutSecrets',
  },
  { title: 'cold start, spawn to loaded', unit: 'ms', measurement: 'cold-start', sample: 'load' },
  { title: 'cold start, processor time', unit: 'ms', measurement: 'cold-start', sample: 'processor' },
  { title: 'cold start, peak memory', unit: 'MB', measurement: 'cold-start', sample: 'memory' },
  {
    title: 'plain request, processor time',
    unit: 'ms',
    measurement: 'requests',
    sample: 'processor',
    goal: { to: 'bareDynamoDb', atMost: 0.8 },
    spread: spreads.sequence,
  },
  { title: 'the same of the floor', unit: 'ms', measurement: 'requests', sample: 'processor', gateway: 'floor' },
  {
    title: 'the same, identity not cached',
    unit: 'ms',
    measurement: 'requests',
    sample: 'processor',
    gateway: 'gatewayUncached',
    goal: { to: 'bareDynamoDb', atMost: 1.15 },
  },
  { title: 'the same of a guest', unit: 'ms', measurement: 'requests', sample: 'processor', gateway: 'gatewayGuest' },
  {
    title: 'plain request, added latency p50',
    unit: 'ms',
    measurement: 'requests',
    sample: 'added',
    goal: { to: 'bareDynamoDb', atMost: 0.8 },
    spread: spreads.tables,
  },
  { title: 'the same of the floor', unit: 'ms', measurement: 'requests', sample: 'added', gateway: 'floor' },
  {
    title: 'the same, identity not cached',
    unit: 'ms',
    measurement: 'requests',
    sample: 'added',
    gateway: 'gatewayUncached',
  },
  {
    title: 'stream, added time to first byte p50',
    unit: 'ms',
    measurement: 'requests',
    sample: 'streamAdded',
    goal: { to: 'bareDynamoDb', atMost: 0.8 },
    spread: spreads.tables,
  },
  { title: 'the same of the floor', unit: 'ms', measurement: 'requests', sample: 'streamAdded', gateway: 'floor' },
  {
    title: 'plain request after 1,200 others, processor time',
    unit: 'ms',
    measurement: 'warm-requests',
    sample: 'processor',
  },
  { title: 'the same of the floor', unit: 'ms', measurement: 'warm-requests', sample: 'processor', gateway: 'floor' },
  { title: 'the same, added latency p50', unit: 'ms', measurement: 'warm-requests', sample: 'added' },
  { title: 'the same of the floor', unit: 'ms', measurement: 'warm-requests', sample: 'added', gateway: 'floor' },
  { title: 'small requests, peak memory', unit: 'MB', measurement: 'requests', sample: 'memory' },
  { title: 'busy caller beside 64 calm ones, requests a minute', unit: '', measurement: 'busy-caller', sample: 'rate' },
  { title: 'a request of the busy one, processor time', unit: 'ms', measurement: 'busy-caller', sample: 'busy' },
  { title: 'a request of a calm one, processor time', unit: 'ms', measurement: 'busy-caller', sample: 'calm' },
  {
    title: 'busy to calm',
    unit: '×',
    measurement: 'busy-caller',
    sample: 'ratio',
    goal: { to: 'nothing', atMost: 1.35 },
  },
  {
    title: 'streamed event, processor time',
    unit: 'µs',
    measurement: 'events',
    sample: 'processor',
    goal: { to: 'bare', atMost: 2 },
    spread: spreads.reads,
  },
  { title: 'the same, with names now and then', unit: 'µs', measurement: 'events', sample: 'namedProcessor' },
  { title: 'the same, an event a millisecond', unit: 'µs', measurement: 'events', sample: 'pacedProcessor' },
  { title: 'streamed event, delay p50', unit: 'ms', measurement: 'events', sample: 'delay' },
  { title: 'events a second', unit: '', measurement: 'events', sample: 'rate', goal: { to: 'bare', atLeast: 0.6 } },
  { title: 'the same, with names now and then', unit: '', measurement: 'events', sample: 'namedRate' },
  {
    title: 'event of the responses dialect, processor time',
    unit: 'µs',
    measurement: 'other-events',
    sample: 'processor',
  },
  {
    title: 'the same to an event of a chat',
    unit: '×',
    measurement: 'other-events',
    sample: 'ratio',
    goal: { to: 'nothing', atMost: 1.2 },
    spread: spreads.reads,
  },
  ...otherShapes.map(
    ([title, sample]): Figure => ({
      ...{ title: `${title}, to an event of a chat`, unit: '×', measurement: 'other-events', sample },
      ...{ goal: { to: 'nothing', atMost: 1.3 }, spread: spreads.reads },
    }),
  ),
  { title: 'long streams, peak memory', unit: 'MB', measurement: 'events', sample: 'memory' },
  {
    title: '4 MB prompt, processor time',
    unit: 'ms',
    measurement: 'prompt',
    sample: 'processor',
    goal: { to: 'bare', atMost: 1.4 },
    spread: spreads.garbage,
  },
  { title: 'the same, the first eight', unit: 'ms', measurement: 'prompt', sample: 'firstProcessor' },
  {
    title: '4 MB prompt, peak memory',
    unit: 'MB',
    measurement: 'prompt',
    sample: 'memory',
    goal: { to: 'bare', atMost: 1.15 },
  },
  { title: 'the same, after 24 of them', unit: 'MB', measurement: 'prompt', sample: 'laterMemory' },
  {
    title: '100 MB read at 20 MB/s, peak memory',
    unit: 'MB',
    measurement: 'slow-reader',
    sample: 'memory',
    goal: { to: 'bare', atMost: 1.15 },
    spread: spreads.garbage,
  },
  { title: '100 MB read at 20 MB/s, processor time', unit: 'ms', measurement: 'slow-reader', sample: 'processor' },
  { ...ofServer, title: 'server, 16 clients: requests a second', unit: '', sample: 'rate16' },
  {
    ...ofServer,
    title: 'a request, processor time',
    unit: 'ms',
    sample: 'processor16',
    goal: { to: 'bare', atMost: 3 },
  },
  { ...ofServer, title: 'the same of the floor', unit: 'ms', sample: 'processor16', gateway: 'floorServer' },
  {
    ...ofServer,
    title: 'the same, 500 requests a second',
    unit: 'ms',
    sample: 'processorCalm',
    goal: { to: 'bare', atMost: 3 },
  },
  { ...ofServer, title: 'the same of the floor', unit: 'ms', sample: 'processorCalm', gateway: 'floorServer' },
  { ...ofServer, title: 'server, 128 clients: requests a second', unit: '', sample: 'rate128' },
  {
    ...ofServer,
    title: 'a request, processor time',
    unit: 'ms',
    sample: 'processor128',
    goal: { to: 'bare', atMost: 3 },
  },
  { ...ofServer, title: 'the same of the floor', unit: 'ms', sample: 'processor128', gateway: 'floorServer' },
  {
    ...ofServer,
    title: 'server, 1,000 connections of a request each: processor time',
    unit: 'ms',
    sample: 'connection',
  },
  { ...ofServer, title: 'descriptors left open', unit: '', sample: 'leftOpen', goal: { to: 'nothing', atMost: 64 } },
  { ...ofServer, title: 'server, 128 fast streams: events a second', unit: '', sample: 'eventRate' },
  { ...ofServer, title: 'an event, processor time', unit: 'µs', sample: 'event', goal: { to: 'bare', atMost: 1.6 } },
  { ...ofServer, title: 'server, 128 streams of 40 events a second: an event', unit: 'µs', sample: 'pacedEvent' },
  { ...ofServer, title: 'of one core', unit: '', sample: 'share', goal: { to: 'nothing', atMost: 0.35 } },
  { ...ofServer, title: 'delay p50', unit: 'ms', sample: 'delay' },
  { ...ofServer, title: 'delay p99', unit: 'ms', sample: 'lateDelay' },
  { ...ofServer, title: 'the same beside a 4 MB prompt a second: delay p50', unit: 'ms', sample: 'besidePrompts' },
  { ...ofServer, title: 'delay p99', unit: 'ms', sample: 'lateBesidePrompts', goal: { to: 'nothing', atMost: 50 } },
  {
    ...ofServer,
    title: 'server, 128 slow readers: peak memory',
    unit: 'MB',
    sample: 'memory',
    goal: { to: 'nothing', atMost: 300 },
  },
];
