import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { listenLocally } from '../../local/listen-locally.ts';

type Value = Readonly<Record<string, unknown>>;

/** A span of OTLP in JSON. */
interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: Value;
  readonly attributes: Value;
  readonly resource: Value;
}

interface Attribute {
  readonly key: string;
  readonly value: Value & { readonly arrayValue?: { readonly values: readonly Value[] } };
}

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<ReceivedSpan, 'attributes' | 'resource'> & { attributes: readonly Attribute[] })[];
    }[];
  }[];
}

const plain = (attributes: readonly Attribute[]): Value =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.arrayValue ? value.arrayValue.values.flatMap((one) => Object.values(one)) : Object.values(value)[0],
    ]),
  );

/** Receives spans by OTLP over HTTP, as an OpenTelemetry collector does. */
export async function startSpanReceiver() {
  const spans: ReceivedSpan[] = [];
  const texts: string[] = [];
  const server = createServer(async (request, response) => {
    const sent = (await json(request)) as Export;
    texts.push(JSON.stringify(sent));
    if (request.url === '/v1/traces' && request.method === 'POST') {
      for (const { resource, scopeSpans } of sent.resourceSpans) {
        for (const span of scopeSpans.flatMap((scope) => scope.spans)) {
          spans.push({ ...span, attributes: plain(span.attributes), resource: plain(resource.attributes) });
        }
      }
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  const { url, close } = await listenLocally(server);
  return { url, spans, texts, [Symbol.asyncDispose]: close };
}
