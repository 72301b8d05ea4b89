import { dayOf } from '../budget/time.ts';
import type { RequestSoFar } from '../request/request.ts';
import { createCounter, createHistogram, createObservable, type Instrument, type Labels } from './instruments.ts';
import type { OnFinished, OnMeasured } from './log.ts';
import type { Measured } from './metrics.ts';

/** The server's state at this moment. */
export interface ServerState {
  readonly requests: number;
  readonly streams: number;
  /** In bytes: the memory that bodies and whole answers hold, and its budget. */
  readonly held: number;
  readonly budget: number;
}

export type Prometheus = ReturnType<typeof createPrometheus>;

// The buckets of OpenTelemetry's GenAI conventions, and three more, because a stream may take a quarter of an hour.
const seconds = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 163.84, 327.68, 655.36,
];
const tokens = [1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864];

/**
 * Exports what the log measures to Prometheus, with the names of OpenTelemetry's conventions where there is one. Labels are endpoints,
 * public models, statuses and codes: nothing that identifies a caller, and nothing that a caller can make up.
 */
export function createPrometheus(now: () => number) {
  const requests = createHistogram(
    'http_server_request_duration_seconds',
    'How long requests took, until the end of their answers.',
    seconds,
  );
  const modelRequests = createHistogram(
    'gen_ai_server_request_duration_seconds',
    'The same, of requests that went to a model.',
    seconds,
  );
  const firstEvents = createHistogram(
    'gen_ai_server_time_to_first_token_seconds',
    'Until the first event of a stream.',
    seconds,
  );
  const tokenUsage = createHistogram(
    'gen_ai_client_token_usage',
    'Tokens of a request, as the upstream bills them.',
    tokens,
  );
  const counts = createCounts();
  const limits = createLimitShares(now);
  const instruments = [requests, modelRequests, firstEvents, tokenUsage, ...counts.instruments, limits.instrument];
  const ofProcess = readProcess(now);

  return {
    finished: ((request, status, time) => {
      if (request.route.kind === 'preflight') return;
      const { parsed, outcome } = request;
      const { attempt } = outcome;
      const took = (time - request.startedAt) / 1000;
      const errorType = errorTypeOf(request);
      requests.observe(took, {
        http_request_method: methods.includes(request.method) ? request.method : '_OTHER',
        http_route: routeOf(request),
        http_response_status_code: String(status),
        error_type: errorType,
      });
      if (!parsed || !attempt || parsed.endpoint.countsTokens) return;
      const model: Labels = {
        gen_ai_operation_name: parsed.endpoint.embeddings ? 'embeddings' : 'chat',
        gen_ai_request_model: parsed.model.id,
        http_route: routeOf(request),
      };
      modelRequests.observe(took, { ...model, error_type: errorType });
      if (attempt.timeToFirstByte !== undefined) firstEvents.observe(attempt.timeToFirstByte / 1000, model);
      for (const type of ['input', 'output'] as const) {
        const used = attempt.usage[type];
        if (used !== undefined) tokenUsage.observe(used, { ...model, gen_ai_token_type: type });
      }
    }) satisfies OnFinished,
    measured: ((measured) => {
      counts.add(measured);
      limits.note(measured);
    }) satisfies OnMeasured,
    /** The response to a scrape. */
    render(state: ServerState): string {
      const all = [...instruments, ...readServer(state), ...ofProcess];
      return `${all.map((instrument) => instrument.render()).join('\n')}\n`;
    },
  };
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'CONNECT', 'TRACE'];

const routeOf = ({ route }: RequestSoFar): string => (route.name === 'unknown' ? '' : route.name);

/** Empty for a complete answer. */
function errorTypeOf({ outcome: { end, error } }: RequestSoFar): string {
  return end === 'client_gone' ? end : (error?.code ?? '');
}

/** Counters of the log's metrics that have no histogram. */
const counted = {
  refunds: ['gateway_refunds_total', 'Charges refunded because of a failure.'],
  chargesLeftStanding: [
    'gateway_charges_left_standing_total',
    'Charges that may stand although nobody should pay them.',
  ],
  budgetsLeftStanding: [
    'gateway_budgets_left_standing_total',
    'Reservations that count as spent: their settlement was lost.',
  ],
  budgetsNearlySpent: ['gateway_budgets_nearly_spent_total', 'Budgets of which four fifths are spent.'],
  lostReservations: ['gateway_reservations_lost_total', 'Reservations that were lost with their process.'],
  gatewayErrors: ['gateway_errors_total', 'Failures of the gateway itself or its tables.'],
  secretsNotRefreshed: ['gateway_secrets_not_refreshed_total', 'Failed readings of a secret.'],
  signInsFailed: ['gateway_sign_ins_failed_total', 'The company’s sign-in could not be reached, or not be trusted.'],
  answersWithoutUsage: ['gateway_answers_without_usage_total', 'Complete answers that did not count their tokens.'],
  leftOut: ['gateway_requests_left_out_total', 'Requests of which a translation left something out.'],
  cacheReadTokens: ['gateway_cache_read_tokens_total', 'Tokens read from the upstream’s cache, a part of the input.'],
  cacheWriteTokens: [
    'gateway_cache_write_tokens_total',
    'Tokens written to the upstream’s cache, a part of the input.',
  ],
  reasoningTokens: ['gateway_reasoning_tokens_total', 'Tokens of reasoning, a part of the output.'],
} as const satisfies Partial<Record<keyof Measured, readonly [name: string, help: string]>>;

function createCounts() {
  const plain = Object.entries(counted).map(([key, [name, help]]) => {
    return [key as keyof typeof counted, createCounter(name, help)] as const;
  });
  const tries = createCounter('gateway_upstream_tries_total', 'Tries at upstreams.');
  const failures = createCounter(
    'gateway_upstream_failures_total',
    'Tries that failed, by the class of the failure.',
    true,
  );
  const spent = createCounter(
    'gateway_spent_total',
    'What answers cost by the operator’s prices, in their currency.',
    true,
  );
  return {
    instruments: [...plain.map(([, counter]) => counter), tries, failures, spent],
    add(measured: Measured): void {
      for (const [key, counter] of plain) if (measured[key] !== undefined) counter.add(measured[key]);
      if (measured.upstreamFailedTries !== undefined) tries.add(1);
      for (const [of, count] of Object.entries(measured.upstreamFailures ?? {}))
        failures.add(count, { error_type: of });
      for (const [of, cost] of Object.entries(measured.spent ?? {})) spent.add(cost, { gen_ai_request_model: of });
    },
  };
}

const limitsOfADay = {
  dailyLimitUsed: 'daily_limit',
  guestDailyLimitUsed: 'guest_daily_limit',
  spendShare: 'spend_limit',
} as const;

/** The used share of the deployment's limits, as of the last request. All limits reset at midnight. */
function createLimitShares(now: () => number) {
  const seen = new Map<string, { readonly share: number; readonly day: number }>();
  const read = () =>
    [...seen].flatMap(([limit, { share, day }]) => (day === dayOf(now()).period ? [[{ limit }, share] as const] : []));
  return {
    instrument: createObservable(
      'gauge',
      'gateway_limit_used_ratio',
      'How much of a limit for all callers is used.',
      read,
    ),
    note(measured: Measured): void {
      for (const [key, limit] of Object.entries(limitsOfADay)) {
        const percent = measured[key as keyof typeof limitsOfADay];
        if (percent !== undefined) seen.set(limit, { share: percent / 100, day: dayOf(now()).period });
      }
    },
  };
}

const readServer = ({ requests, streams, held, budget }: ServerState): Instrument[] => [
  createObservable('gauge', 'http_server_active_requests', 'Requests that are being answered.', () => requests),
  createObservable('gauge', 'gateway_open_streams', 'Those of them whose answer is a stream.', () => streams),
  createObservable('gauge', 'gateway_body_memory_bytes', 'What bodies and whole answers hold.', () => held),
  createObservable(
    'gauge',
    'gateway_body_memory_limit_bytes',
    'How much they may hold, besides small ones.',
    () => budget,
  ),
];

/** Process metrics, with the names that all Prometheus clients use. */
function readProcess(now: () => number): Instrument[] {
  const started = now() / 1000 - process.uptime();
  const cpuSeconds = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  };
  return [
    createObservable('counter', 'process_cpu_seconds_total', 'Processor time.', cpuSeconds),
    createObservable('gauge', 'process_resident_memory_bytes', 'Memory of the process.', () =>
      process.memoryUsage.rss(),
    ),
    createObservable('gauge', 'process_start_time_seconds', 'When the process started.', () => started),
  ];
}
