import type { Cooperative } from '../json/cooperative.ts';
import type { Json } from '../json/scan.ts';
import type { ChatUpstream } from './options.ts';
import type { Asking } from './request/asking.ts';
import { readMessages } from './request/read-messages.ts';
import { readResponses } from './request/read-responses.ts';
import { type Translated, writeChat } from './request/write-chat.ts';
import type { Seals } from './seal.ts';

/** The readers of requests, by dialect. */
const readers: Readonly<Record<string, typeof readMessages>> = { responses: readResponses, messages: readMessages };

/** Whom a request is translated for. */
export interface Target {
  readonly upstream: ChatUpstream;
  /** What the upstream calls the model. */
  readonly model: string;
}

/** Whether requests of a dialect can be translated to chat. */
export const isTranslatable = (dialect: string): boolean => Object.hasOwn(readers, dialect);

/** Translates a request of a dialect to chat. Throws a 400 for what can't be carried over. */
export function* translateRequest(
  dialect: string,
  body: Json,
  seals: Pick<Seals, 'open'>,
  { upstream, model }: Target,
): Cooperative<Translated & Pick<Asking, 'thoughts'>> {
  const read = readers[dialect];
  if (read === undefined) throw new TypeError(`requests of ${dialect} can't be translated`);
  const asking = yield* read(body, (sealed) => seals.open(dialect, sealed));
  const translated = yield* writeChat(asking, upstream, model);
  return { ...translated, thoughts: asking.thoughts };
}
