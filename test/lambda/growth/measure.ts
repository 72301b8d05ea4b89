import { renderBody } from '../../../lambda/upstream/upstream-request.ts';
import { createStepCounter } from '../../support/count-steps.ts';
import { upstreamNamed } from '../../support/upstream-named.ts';
import { answers, fillAll, repeatAll, requests, type Shape, translated } from './bodies.ts';
import { streams, translatedBlocks, translatedStreams, wires } from './streams.ts';
import { documents, errorBodies, prose } from './texts.ts';

/** Prints the steps that each part takes for one time, twice and four times the size of the worst that it may be given. */
const counter = await createStepCounter((url) => /^(?!.*\/test\/).*(\/lambda\/|eventsource-parser)/.test(url));

// The counter sees only code that is loaded after it.
const { GatewayError } = await import('../../../lambda/errors.ts');
const { changeMembers, earlierDuplicates, splitByEdits } = await import('../../../lambda/json/edit.ts');
const { JsonFault } = await import('../../../lambda/json/tokens.ts');
const { createScanner } = await import('../../../lambda/json/scan.ts');
const { parseBody } = await import('../../../lambda/steps/parse-body.ts');
const { keyOf } = await import('../../../lambda/settings/secrets.ts');
const { createModels } = await import('../../../lambda/settings/models.ts');
const { createExplainer } = await import('../../../lambda/forward/explain.ts');
const { toUpstream } = await import('../dialects/model/request/translate.ts');
const { clients, translateStream } = await import('../dialects/model/answer/translated.ts');
const { translateMessages } = await import('../dialects/model/answer/translate-messages.ts');
const { embeddings } = await import('../../../lambda/dialects/embeddings/embeddings.ts');
const { createScrubber } = await import('../../../lambda/hiding/scrub.ts');
const { createVectorsRewriter } = await import('../../../lambda/stream/rewrite-vectors.ts');
const { createQueue } = await import('../../../lambda/store/dynamodb/table.ts');
const { dialects, rewriteAnswer, rewriteStream, scrubber } = await import('../../support/rewrite.ts');

/** A part of the gateway and its possible inputs. */
interface Part {
  readonly name: string;
  readonly shapes: readonly Shape[];
  readonly work: (text: string) => unknown;
}

const least = 20; // repetitions of the worst part in the smallest text
const models = createModels({ serviceName: 'svc', offersEmbeddings: false });
const caller = { caller: 'a', headers: {}, size: 0, idKey: keyOf('a salt of at least 16 characters') };
const conversation = { caller: 'a', traits: [] };

function scan(text: string): void {
  const json = createScanner().scan(text);
  for (let node = 0; node < json.size; node++) {
    json.kind(node);
    json.raw(node);
    json.next(node);
    if (json.isKey(node)) json.string(node);
  }
}

/** Drops, sets and replaces members, in the order that costs most to sort. */
function edit(text: string): void {
  const json = createScanner().scan(text);
  const keys = [...json.keys(json.root)];
  const drop = new Set(keys.filter((_, at) => at % 2 === 0));
  const changes = changeMembers(json, json.root, { drop, set: { b: '1' } });
  earlierDuplicates(json, json.root, new Set(['a', 'b']));
  splitByEdits(text, changes.toReversed());
}

function explain(body: string): void {
  const explainer = createExplainer(scrubber);
  explainer.conceal('KEYKEYKEY');
  explainer.sentenceIn(body);
}

function scrub(text: string): void {
  scrubber.scrub(text);
  for (let hit = scrubber.find(text); hit; hit = scrubber.find(text, hit.end));
  const channel = scrubber.openChannel();
  for (const character of text) channel.push(character);
  channel.end();
  scrubber.openChannel(text).push(text);
}

const ways = [
  ...(['responses', 'messages'] as const).map((dialect) => [dialect, 'chat'] as const),
  ...(['chat', 'responses'] as const).map((dialect) => [dialect, 'messages'] as const),
];
const translations = ways.map(([dialect, spoken]) => ({
  name: `${dialect} translated to ${spoken}`,
  shapes: repeatAll(translated[dialect]),
  work: (body: string) => toUpstream(spoken, dialect, body),
}));

const setup = {
  tools: { patch: { kind: 'custom', name: 'patch' } },
  seal: (reasoningBlock: string) => reasoningBlock,
} as const;
const endsOf = (text: string) => [...text.matchAll(/\n\n/g)].map(({ index }) => index + 2);
const translatedAnswers = clients.flatMap((client): Part[] => [
  {
    name: `stream for ${client}`,
    shapes: translatedStreams,
    work: (text) => translateStream(client, Buffer.from(text), setup),
  },
  {
    name: `stream for ${client}, event by event`,
    shapes: translatedStreams,
    work: (text) => translateStream(client, Buffer.from(text), setup, endsOf(text)),
  },
]);
const translatedMessages = (['chat', 'responses'] as const).flatMap((client): Part[] => [
  {
    name: `stream of messages for ${client}`,
    shapes: translatedBlocks,
    work: (text) => translateMessages(client, Buffer.from(text), []),
  },
  {
    name: `stream of messages for ${client}, event by event`,
    shapes: translatedBlocks,
    work: (text) => translateMessages(client, Buffer.from(text), endsOf(text)),
  },
]);
const passedOn = dialects.slice(0, 1).map((chat) => ({
  name: 'stream for chat, event by event',
  shapes: translatedStreams,
  work: (text: string) => rewriteStream(chat, Buffer.from(text), endsOf(text)),
}));

const parts: Part[] = [
  ...translations,
  ...translatedAnswers,
  ...translatedMessages,
  ...passedOn,
  { name: 'scan', shapes: documents, work: scan },
  { name: 'edit', shapes: fillAll(['{"a":0,…,"b":1}']), work: edit },
  { name: 'scrub', shapes: prose, work: scrub },
  { name: 'explain', shapes: errorBodies, work: explain },
  ...dialects.flatMap((dialect): Part[] => {
    const { name, endpoints } = dialect;
    return [
      {
        name: `${name} request`,
        shapes: fillAll(requests[name]),
        work: (body) => {
          for (const endpoint of endpoints.slice(0, 1)) {
            const json = createScanner().scan(body);
            const read = parseBody(
              json,
              { ...caller, dialect: name, path: endpoint.path },
              { dialects, models, prices: undefined },
            );
            const outgoing = { conversation, text: body, edits: read.edits, model: read.modelPlace };
            renderBody(outgoing, upstreamNamed('UPSTREAM'), 'upstream');
            dialect.isAccountBound(createScanner().scan(body));
          }
        },
      },
      {
        name: `${name} answer`,
        shapes: fillAll(answers[name]),
        work: (text) => rewriteAnswer(dialect, text),
      },
      {
        name: `${name} event`,
        shapes: fillAll(answers[name]),
        work: (text) => rewriteStream(dialect, Buffer.from(`data: ${text}\n\n`)),
      },
      {
        name: `${name} stream`,
        shapes: [...(streams[name] ?? []), ...wires],
        work: (text) => rewriteStream(dialect, Buffer.from(text)),
      },
      {
        name: `${name} stream, byte by byte`,
        shapes: [...(streams[name] ?? []).filter(({ text }) => text(least).length < 50_000), ...wires],
        work: (text) =>
          rewriteStream(
            dialect,
            Buffer.from(text),
            Array.from({ length: text.length }, (_, at) => at),
          ),
      },
    ];
  }),
];

/** Does the work, or refuses it in one of the ways that are meant for it. */
function tryTo(work: () => unknown): void {
  try {
    work();
  } catch (error) {
    if (![GatewayError, JsonFault, RangeError].some((kind) => error instanceof kind)) throw error;
  }
}

async function report(name: string, prepare: (times: number) => () => unknown): Promise<void> {
  const steps: number[] = [];
  for (const times of [1, 2, 4]) steps.push(await counter.count(prepare(times)));
  console.log(JSON.stringify({ name, steps }));
}

for (const { name, shapes, work } of parts) {
  for (const { name: shape, text } of shapes) {
    await report(`${name}: ${shape}`, (times) => {
      const given = text(times * least);
      return () => tryTo(() => work(given));
    });
  }
}

// As they come from the network, and byte by byte.
const vectors: Readonly<Record<string, (times: number) => string>> = {
  'vectors of numbers': (times) => `{"data":[${'{"index":7,"embedding":[1,2]},'.repeat(times)}{}]}`,
  'vectors of bytes': (times) => `{"data":[${'{"index":7,"embedding":"AAAA"},'.repeat(times)}{}]}`,
  'vectors that name the upstream': (times) => `{"data":[${'{"a":"AcmeCorp","embedding":[1]},'.repeat(times)}{}]}`,
  'much that nearly begins a vector': (times) => `{"data":[${'{"embedding":{}},'.repeat(10 * times)}{}]}`,
  'a long vector': (times) => `{"data":[{"embedding":[${'1,'.repeat(50 * times)}1]}]}`,
};
for (const [name, textOf] of Object.entries(vectors)) {
  for (const step of [65_536, 1]) {
    await report(`${name}, ${step} bytes at a time`, (times) => {
      const bytes = Buffer.from(textOf(times * least));
      return () => {
        const rewriter = createVectorsRewriter((text) => rewriteAnswer(embeddings, text));
        for (let at = 0; at < bytes.length; at += step) rewriter.push(bytes.subarray(at, at + step));
        rewriter.finish();
      };
    });
  }
}

// So a delta costs no more, however many keys there are.
await report('as many deltas as there are keys to hide', (times) => {
  const keys = Array.from({ length: times * least }, (_, at) => `key-${at}`);
  return () => {
    const channel = createScrubber(keys, '#').openChannel();
    for (const _ of keys) channel.push('a word ');
    channel.end();
  };
});

// All but the first few wait for their turn.
await report('operations of a table at once', (times) => {
  const inTurn = createQueue();
  return () => Promise.all(Array.from({ length: times * 500 }, () => inTurn(async () => {})));
});
