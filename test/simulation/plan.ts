import type { DialectName } from '../support/fixtures.ts';

/*
 * What happens in a world, as plain data. Each member has a dull value; a plan names only what differs from it, so that a failing one
 * is short, and still means the same when more is drawn. Times are milliseconds.
 */

/** What an upstream does with one request. */
export interface Turn {
  readonly status: number;
  /** Until it begins to answer. */
  readonly thinks: number;
  /** Between two pieces. */
  readonly gap: number;
  readonly says:
    | 'an answer'
    | 'nothing'
    | 'garbage'
    | 'a page'
    | 'an error'
    | 'a failure midway'
    | 'no end'
    | 'one choice less'
    | 'one choice more';
  /** How many comments come before a stream's first event. */
  readonly comments: number;
  /** Which of the recorded streams it says instead, if it is asked for one; none if it is 0. */
  readonly fixture: number;
  /** What it says is drawn from this, in so many words. */
  readonly speech: number;
  readonly words: number;
  /** Bytes in each word: many make a long answer. */
  readonly wordSize: number;
  readonly reasons: boolean;
  readonly calls: boolean;
  readonly reports: 'usage' | 'zeros' | 'nothing';
  readonly pieces: 'events' | 'joined' | 'bytes' | 'odd';
  readonly framing: 'chunked' | 'length' | 'end' | 'too long' | 'gzip';
  /** After how many pieces it stops, and how; all of them if it is negative. */
  readonly stopsAfter: number;
  readonly stops: 'end' | 'reset' | 'silence';
  readonly retryAfter: number;
  /** Closes the connection once it has answered. */
  readonly closes: boolean;
}

export interface RequestPlan {
  readonly at: number;
  readonly caller: number;
  readonly dialect: DialectName;
  readonly stream: boolean;
  readonly asks: 'for an answer' | 'for vectors' | 'for a count' | 'for models' | 'for usage' | 'for nothing known';
  readonly wrong: 'nothing' | 'json' | 'model' | 'image' | 'encoding' | 'no model' | 'gzip cut';
  /** A server may be asked on a connection on which others were answered, if one is idle. */
  readonly connection: 'new' | 'kept';
  readonly gzip: boolean;
  readonly pieces: 'joined' | 'bytes' | 'odd';
  /** Which of the recorded requests it sends, with its own end; none if it is 0. */
  readonly recorded: number;
  /** More bytes in the prompt. */
  readonly padding: number;
  readonly choices: number;
  readonly outputLimit: number;
  readonly wantsUsage: boolean;
  /** So long after it has asked the client is gone; never if it is negative. */
  readonly leavesAfter: number;
  /** The same, once so many bytes of the answer have come. */
  readonly leavesAt: number;
  /** Having got so many bytes, it reads nothing for some time. */
  readonly pausesAt: number;
  readonly pauses: number;
  /** The upstream's turns, one for each try; the last one for all that follow. */
  readonly turns: readonly Partial<Turn>[];
}

export interface CallerPlan {
  readonly kind: 'guest' | 'member' | 'own limit' | 'budget' | 'unknown key' | 'no key';
  /** Guests of one network, or keys of one member, have the same. */
  readonly who: number;
  readonly limit: number;
  /** In micros. */
  readonly budget: number;
  readonly budgetWindow: 'day' | 'week' | 'month';
  /** What is counted already. */
  readonly used: number;
}

export interface StoreFault {
  /** At the call with this number. */
  readonly call: number;
  readonly kind: 'lost before' | 'lost after' | 'failing' | 'throttled' | 'slow';
  /** How many tries of it. */
  readonly tries: number;
}

/** While it lasts, an upstream accepts no connections. */
export interface Outage {
  readonly upstream: number;
  readonly from: number;
  readonly until: number;
  readonly how: 'refused' | 'silent';
}

export interface Plan {
  /** Of latencies, and of what the processes draw. */
  readonly seed: number;
  readonly engine: 'web' | 'function';
  /** Before midnight. */
  readonly untilMidnight: number;
  readonly latency: number;
  readonly settings: Readonly<Record<string, string>>;
  readonly upstreams: number;
  readonly keys: number;
  /** What the upstreams speak. */
  readonly speaks: 'all' | 'chat' | 'messages';
  readonly signs: boolean;
  readonly callers: readonly Partial<CallerPlan>[];
  readonly requests: readonly Partial<RequestPlan>[];
  readonly outages: readonly Outage[];
  /** A server may have either. */
  readonly store: 'tables' | 'sqlite';
  readonly storeLatency: number;
  readonly storeFaults: readonly StoreFault[];
  /** What becomes of threads that have long work. */
  readonly threads: 'works' | 'dies' | 'hangs';
  /** When the process is told to stop; never if it is negative. */
  readonly stopsAt: number;
  readonly grace: number;
  /** When it dies, without a word. */
  readonly diesAt: number;
}

export const dullTurn: Turn = {
  status: 200,
  thinks: 20,
  gap: 5,
  says: 'an answer',
  comments: 0,
  fixture: 0,
  speech: 0,
  words: 4,
  wordSize: 0,
  reasons: false,
  calls: false,
  reports: 'usage',
  pieces: 'events',
  framing: 'chunked',
  stopsAfter: -1,
  stops: 'end',
  retryAfter: 0,
  closes: false,
};

export const dullRequest: RequestPlan = {
  at: 0,
  caller: 0,
  dialect: 'chat',
  stream: false,
  asks: 'for an answer',
  wrong: 'nothing',
  connection: 'new',
  gzip: false,
  pieces: 'joined',
  recorded: 0,
  padding: 0,
  choices: 1,
  outputLimit: 100,
  wantsUsage: false,
  leavesAfter: -1,
  leavesAt: -1,
  pausesAt: -1,
  pauses: 0,
  turns: [],
};

export const dullCaller: CallerPlan = {
  kind: 'member',
  who: 0,
  limit: 50,
  budget: 1_000_000,
  budgetWindow: 'day',
  used: 0,
};

export const dullPlan: Plan = {
  seed: 1,
  engine: 'web',
  untilMidnight: 43_200_000,
  latency: 2,
  settings: {},
  upstreams: 1,
  keys: 1,
  speaks: 'all',
  signs: false,
  callers: [{}],
  requests: [{}],
  outages: [],
  store: 'tables',
  storeLatency: 3,
  storeFaults: [],
  threads: 'works',
  stopsAt: -1,
  grace: 300,
  diesAt: -1,
};

/** A whole plan, of which only a part is given. */
export const completed = (plan: Partial<Plan>): Plan => ({ ...dullPlan, ...plan });
export const requestsOf = ({ requests }: Plan): RequestPlan[] =>
  requests.map((one) => consistent({ ...dullRequest, ...one }));

/** Chats have no count of tokens, vectors no dialect, and recorded requests ask for one choice. */
function consistent(request: RequestPlan): RequestPlan {
  if (request.asks === 'for vectors') {
    const wrong = request.wrong === 'image' ? 'nothing' : request.wrong;
    return { ...request, wrong, dialect: 'chat', stream: false, choices: 1, wantsUsage: false };
  }
  if (request.asks === 'for a count' && request.dialect === 'chat') return { ...request, dialect: 'messages' };
  return isRecorded(request) ? { ...request, choices: 1 } : request;
}

/** Only a request that is right otherwise can be. */
export const isRecorded = ({ recorded, asks, wrong }: RequestPlan): boolean =>
  recorded > 0 && asks === 'for an answer' && wrong === 'nothing';

/** Whether what is asked for has a price. */
export const isPriced = ({ asks }: RequestPlan): boolean => asks === 'for an answer' || asks === 'for vectors';

/** Callers who show the same key are one: the first of them says what it may. */
export function callersOf({ callers }: Plan): CallerPlan[] {
  const all = callers.map((one) => ({ ...dullCaller, ...one }));
  return all.map((one) => all.find(({ kind, who }) => kind === one.kind && who === one.who) ?? one);
}

/** What the upstream does at the try with this number. */
export const turnAt = ({ turns }: RequestPlan, number: number): Turn => ({
  ...dullTurn,
  ...(turns[number] ?? turns.at(-1)),
});
