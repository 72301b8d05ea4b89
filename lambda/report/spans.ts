import { type Attributes, type Context, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, RandomIdGenerator, TracerProvider } from '@opentelemetry/sdk-trace';
import {
  ATTR_ERROR_TYPE,
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_HTTP_ROUTE,
  ATTR_SERVICE_NAME,
} from '@opentelemetry/semantic-conventions';
import {
  ATTR_GEN_AI_OPERATION_NAME,
  ATTR_GEN_AI_PROVIDER_NAME,
  ATTR_GEN_AI_REQUEST_MODEL,
  ATTR_GEN_AI_REQUEST_STREAM,
  ATTR_GEN_AI_RESPONSE_MODEL,
  ATTR_GEN_AI_RESPONSE_TIME_TO_FIRST_CHUNK,
  ATTR_GEN_AI_SYSTEM,
  ATTR_GEN_AI_USAGE_CACHE_CREATION_INPUT_TOKENS,
  ATTR_GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS,
  ATTR_GEN_AI_USAGE_INPUT_TOKENS,
  ATTR_GEN_AI_USAGE_OUTPUT_TOKENS,
  ATTR_GEN_AI_USAGE_REASONING_OUTPUT_TOKENS,
  GEN_AI_OPERATION_NAME_VALUE_CHAT,
  GEN_AI_OPERATION_NAME_VALUE_EMBEDDINGS,
} from '@opentelemetry/semantic-conventions/incubating';
import type { RequestSoFar } from '../request/request.ts';
import type { Trace } from '../request/trace.ts';
import type { OnFinished } from './log.ts';

// From the newest semantic conventions; their library does not have it yet.
const cacheWrite = 'gen_ai.usage.cache_write.input_tokens';

interface SpanSettings {
  readonly serviceName: string;
  /** Without /v1/traces. */
  readonly otelExporterOtlpEndpoint: string;
  readonly otelSemconvStabilityOptIn: readonly string[];
}

export type Spans = ReturnType<typeof createSpans>;

/** Milliseconds to flush the last spans at shutdown. */
const farewellTime = 1_000;

/**
 * Exports a span for each request to an OpenTelemetry collector, with the same data as its log line and no user content. Spans that
 * the collector does not accept are dropped.
 */
export function createSpans(settings: SpanSettings) {
  const random = new RandomIdGenerator();
  /** The id for the next span. It was chosen earlier, because the upstream may have got it in `traceparent`. */
  let nextSpanId: string | undefined;
  const exporter = new OTLPTraceExporter({ url: `${settings.otelExporterOtlpEndpoint}/v1/traces` });
  const provider = new TracerProvider({
    idGenerator: {
      generateTraceId: random.generateTraceId,
      generateSpanId: () => nextSpanId ?? random.generateSpanId(),
    },
    resource: resourceFromAttributes({ [ATTR_SERVICE_NAME]: settings.serviceName }).merge(
      detectResources({ detectors: [envDetector] }),
    ),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer('gateway');

  const finished: OnFinished = (request, status, endTime) => {
    const { error, end } = request.outcome;
    const attributes = { ...describeHttp(request, status), ...describeModel(request, settings) };
    nextSpanId = request.trace?.span;
    const options = { kind: SpanKind.SERVER, startTime: request.startedAt, attributes };
    const span = tracer.startSpan(nameOf(request, attributes), options, contextOf(request.trace));
    if (error && (status >= 500 || end === 'failed')) {
      span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute(ATTR_ERROR_TYPE, error.code);
    }
    span.end(endTime);
  };

  return {
    finished,
    /** Flushes what is left. */
    async close(): Promise<void> {
      const tooLate = new Promise<void>((resolve) => setTimeout(resolve, farewellTime).unref());
      await Promise.race([provider.shutdown().catch(() => {}), tooLate]);
    },
  };
}

function contextOf(traced: Trace | undefined): Context {
  if (traced === undefined) return ROOT_CONTEXT;
  const { id: traceId, parent: spanId, flags } = traced;
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    isRemote: true,
    traceFlags: Number.parseInt(flags, 16) & 1,
  });
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'CONNECT', 'TRACE'];

function describeHttp({ id, method, route }: RequestSoFar, status: number): Attributes {
  return {
    [ATTR_HTTP_REQUEST_METHOD]: methods.includes(method) ? method : '_OTHER',
    ...(route.name !== 'unknown' && { [ATTR_HTTP_ROUTE]: route.name }),
    [ATTR_HTTP_RESPONSE_STATUS_CODE]: status,
    'http.response.header.x-request-id': [id],
  };
}

/** Only for requests to a model. The conventions have no operation name for counting tokens. */
function describeModel({ parsed, outcome }: RequestSoFar, settings: SpanSettings): Attributes {
  if (parsed === undefined || parsed.endpoint.countsTokens) return {};
  const { usage = {}, timeToFirstByte } = outcome.attempt ?? {};
  const isLatestOnly = settings.otelSemconvStabilityOptIn.includes('gen_ai_latest_experimental');
  const { embeddings } = parsed.endpoint;
  return {
    [ATTR_GEN_AI_OPERATION_NAME]: embeddings
      ? GEN_AI_OPERATION_NAME_VALUE_EMBEDDINGS
      : GEN_AI_OPERATION_NAME_VALUE_CHAT,
    [ATTR_GEN_AI_PROVIDER_NAME]: settings.serviceName,
    [ATTR_GEN_AI_REQUEST_MODEL]: parsed.model.id,
    [ATTR_GEN_AI_REQUEST_STREAM]: parsed.stream,
    ...(outcome.end === undefined && { [ATTR_GEN_AI_RESPONSE_MODEL]: parsed.model.id }),
    ...withoutGaps({
      [ATTR_GEN_AI_RESPONSE_TIME_TO_FIRST_CHUNK]: timeToFirstByte === undefined ? undefined : timeToFirstByte / 1000,
      [ATTR_GEN_AI_USAGE_INPUT_TOKENS]: usage.input,
      [ATTR_GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS]: usage.cacheRead,
      [cacheWrite]: usage.cacheWrite,
      [ATTR_GEN_AI_USAGE_OUTPUT_TOKENS]: usage.output,
      [ATTR_GEN_AI_USAGE_REASONING_OUTPUT_TOKENS]: usage.reasoning,
      // The old names of these two.
      ...(!isLatestOnly && {
        [ATTR_GEN_AI_SYSTEM]: settings.serviceName,
        [ATTR_GEN_AI_USAGE_CACHE_CREATION_INPUT_TOKENS]: usage.cacheWrite,
      }),
    }),
  };
}

const withoutGaps = (attributes: Attributes): Attributes =>
  Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));

/** `chat svc`, or `GET /v1/models`. */
function nameOf({ parsed }: RequestSoFar, attributes: Attributes): string {
  const operation = attributes[ATTR_GEN_AI_OPERATION_NAME];
  if (operation !== undefined && parsed) return `${operation} ${parsed.model.id}`;
  return [attributes[ATTR_HTTP_REQUEST_METHOD], attributes[ATTR_HTTP_ROUTE]].filter(Boolean).join(' ');
}
