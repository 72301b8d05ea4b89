import { embeddings } from '../../lambda/dialects/embeddings/embeddings.ts';
import { createScanner } from '../../lambda/json/scan.ts';
import { readBodyText, toBodyError } from '../../lambda/request/read-body-text.ts';
import { createModels } from '../../lambda/settings/models.ts';
import { type ParseInput, type ParserDependencies, parseBody } from '../../lambda/steps/parse-body.ts';
import { renderBody } from '../../lambda/upstream/upstream-request.ts';
import { dialectNamed, dialects } from './rewrite.ts';
import { upstreamNamed } from './upstream-named.ts';

export const models = createModels({ serviceName: 'svc', offersEmbeddings: false });

interface Options {
  /** The endpoint's index in the dialect's list. */
  readonly endpoint?: number;
  readonly reading?: Partial<ParseInput>;
  readonly reader?: Partial<ParserDependencies>;
}

/** Parses a request body as the gateway does. */
export function readBody(name: string, body: string | Uint8Array, options: Options = {}) {
  const { endpoint: place = 0, reading, reader } = options;
  const dialect = dialectNamed(name);
  const { path = '' } = dialect.endpoints[place] ?? {};
  const text = readBodyText(body);
  const known = { dialects: [...dialects, embeddings], models, prices: undefined, ...reader };
  const asked = {
    dialect: dialect.name,
    path,
    headers: {},
    size: Buffer.byteLength(body),
    caller: 'anybody',
    ...reading,
  };
  try {
    return { ...parseBody(createScanner().scan(text), asked, known), text };
  } catch (fault) {
    throw toBodyError(fault);
  }
}

/** The body that goes upstream. */
export function renderRead(read: ReturnType<typeof readBody>, upstreamModel: string): string {
  const { text, edits, usageEdits, modelPlace: model } = read;
  const body = { conversation: { caller: '', traits: [] }, text, edits, usageEdits, model };
  return renderBody(body, upstreamNamed('UPSTREAM'), upstreamModel).join('');
}
