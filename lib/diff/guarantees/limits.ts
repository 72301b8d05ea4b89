import {
  type Guarantee,
  hasRisen,
  holdsAll,
  is,
  isStillThere,
  listOf,
  risesLittle,
  rising,
  told,
  toldAlike,
  types,
  variablesOf,
  type Where,
  webVariable,
} from './guarantee.ts';
import { budgeted } from './money.ts';

/** Limits on cost remain set, and stay in proportion. */
export const bounded: readonly Guarantee[] = [
  ...budgeted,
  {
    of: types.function,
    at: 'ReservedConcurrentExecutions',
    keeps: isStillThere,
    otherwise: 'may take every execution of the account: nothing bounds the cost of a flood',
  },
  {
    of: types.function,
    at: 'ReservedConcurrentExecutions',
    keeps: leavesStopped,
    otherwise: 'gets executions again if it was stopped by hand, which no template shows',
  },
  ...['ThrottleConfig.RateLimit', 'ScalingConfig.MaxEnvironments'].map((at) => ({
    of: types.endpoint,
    at,
    keeps: isStillThere,
    otherwise: 'has one limit less on the cost of a flood',
  })),
  rising.property(types.endpoint, 'ThrottleConfig.RateLimit'),
  rising.property(types.endpoint, 'ScalingConfig.MaxEnvironments'),
  rising.property(types.function, 'MemorySize'),
  ...rising.settings(['GUEST_LIMIT', 'MEMBER_LIMIT', 'BURST_LIMIT', 'DAILY_LIMIT']),
  ...told('ACCESS', {
    keeps: (before, after) => before !== 'keys' || after === 'keys',
    otherwise: 'is open: it serves anyone, without a key that the operator has issued',
  }),
  ...told('GUEST_WINDOW', {
    keeps: (before, after) => before === 'daily' || after !== 'daily',
    otherwise: 'gives guests their requests anew each day',
  }),
  ...told('DAILY_LIMIT', { keeps: isStillThere, otherwise: 'answers any number of requests a day, at any cost' }),
  ...told('GUEST_DAILY_LIMIT', {
    keeps: (before, after, where) => isStillThere(before, after ?? fifthOfAll(where)),
    otherwise: 'answers any number of guests a day, at any cost',
  }),
  ...told('GUEST_DAILY_LIMIT', {
    keeps: (before, after, where) => risesLittle()(before, after ?? fifthOfAll(where), where),
    otherwise: hasRisen('GUEST_DAILY_LIMIT'),
  }),
];

/** CloudFormation writes only what differs between two templates. */
function leavesStopped(before: unknown, after: unknown): boolean {
  return before === after || after === undefined || after === 0;
}

/** What guests have without a limit of their own. */
function fifthOfAll({ part }: Where): number | undefined {
  const { DAILY_LIMIT: all } = variablesOf(part.tree);
  return all === undefined ? undefined : Number(all) / 5;
}

const { table, revision } = types;

const otherKey = 'has another key, so it is replaced by an empty table: add a table and move the items instead';

/** Every request is counted once, on its caller's counter. */
export const exact: readonly Guarantee[] = [
  { of: table, at: 'KeySchema', otherwise: otherKey, refused: true },
  { of: table, at: 'AttributeDefinitions', keeps: haveSameTypes, otherwise: otherKey, refused: true },
  { of: table, at: 'AttributeDefinitions', keeps: haveSameNames, otherwise: 'loses an attribute of its keys' },
  {
    of: table,
    at: 'GlobalSecondaryIndexes',
    keeps: holdsAll,
    otherwise: 'loses an index, or has another in its place',
  },
  { of: table, at: 'Replicas[].GlobalSecondaryIndexes', keeps: holdsAll, otherwise: 'loses an index in a region' },
  {
    of: table,
    at: 'BillingMode',
    must: is('PAY_PER_REQUEST'),
    otherwise: 'has a limit of its own, above which it turns charges away',
  },
  ...toldAlike('KEYS_TABLE', { otherwise: 'looks for keys in another table' }),
  ...toldAlike('QUOTA_TABLE', { otherwise: 'counts in another table' }),
  ...['NETWORK_SALT_SECRET_ID', 'NETWORK_SALT'].flatMap((name) =>
    toldAlike(name, { otherwise: 'hashes networks with another salt, so that every guest counter and link is lost' }),
  ),
  ...toldAlike('EDGE_HEADER', { otherwise: "takes callers' addresses from elsewhere" }),
  {
    of: revision,
    at: webVariable('SHUTDOWN_GRACE'),
    // Lambda leaves a second from the signal to the end.
    must: (seconds) => seconds === undefined || Number(seconds) < 1,
    otherwise: 'may be ended before it has written its refunds',
  },
  {
    of: revision,
    at: webVariable('CLIENT_ADDRESS'),
    must: is('x-forwarded-for'),
    otherwise: "takes callers' addresses from elsewhere",
  },
];

interface Attribute {
  readonly AttributeName: string;
  readonly AttributeType: string;
}

function typesOf(value: unknown): Map<string, string> {
  return new Map(
    (listOf(value) as Attribute[]).map(({ AttributeName: name, AttributeType: type }) => [name, type] as const),
  );
}

function haveSameTypes(before: unknown, after: unknown): boolean {
  const now = typesOf(after);
  return [...typesOf(before)].every(([name, type]) => !now.has(name) || now.get(name) === type);
}

function haveSameNames(before: unknown, after: unknown): boolean {
  return holdsAll([...typesOf(before).keys()], [...typesOf(after).keys()]);
}
