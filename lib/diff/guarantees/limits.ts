import {
  type Guarantee,
  hasRisen,
  holdsAll,
  is,
  isStillThere,
  keeps,
  keepsTo,
  listOf,
  neverTurns,
  requires,
  risesLittle,
  rising,
  stays,
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
  keeps(
    types.function,
    'ReservedConcurrentExecutions',
    isStillThere,
    'may take every execution of the account: nothing bounds the cost of a flood',
  ),
  keeps(
    types.function,
    'ReservedConcurrentExecutions',
    leavesStopped,
    'gets executions again if it was stopped by hand, which no template shows',
  ),
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
  ...told('ACCESS', 'is open: it serves anyone, without a key that the operator has issued', {
    keeps: keepsTo('keys'),
  }),
  ...told('GUEST_WINDOW', 'gives guests their requests anew each day', { keeps: neverTurns('daily') }),
  ...told('DAILY_LIMIT', 'answers any number of requests a day, at any cost', { keeps: isStillThere }),
  ...told('GUEST_DAILY_LIMIT', 'answers any number of guests a day, at any cost', {
    keeps: (before, after, where) => isStillThere(before, after ?? fifthOfAll(where)),
  }),
  ...told('GUEST_DAILY_LIMIT', hasRisen('GUEST_DAILY_LIMIT'), {
    keeps: (before, after, where) => risesLittle()(before, after ?? fifthOfAll(where), where),
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
  stays(table, 'KeySchema', otherKey, { refused: true }),
  keeps(table, 'AttributeDefinitions', haveSameTypes, otherKey, { refused: true }),
  keeps(table, 'AttributeDefinitions', haveSameNames, 'loses an attribute of its keys'),
  keeps(table, 'GlobalSecondaryIndexes', holdsAll, 'loses an index, or has another in its place'),
  keeps(table, 'Replicas[].GlobalSecondaryIndexes', holdsAll, 'loses an index in a region'),
  requires(table, 'BillingMode', is('PAY_PER_REQUEST'), 'has a limit of its own, above which it turns charges away'),
  ...toldAlike('KEYS_TABLE', 'looks for keys in another table'),
  ...toldAlike('QUOTA_TABLE', 'counts in another table'),
  ...['NETWORK_SALT_SECRET_ID', 'NETWORK_SALT'].flatMap((name) =>
    toldAlike(name, 'hashes networks with another salt, so that every guest counter and link is lost'),
  ),
  ...toldAlike('EDGE_HEADER', "takes callers' addresses from elsewhere"),
  requires(
    revision,
    webVariable('SHUTDOWN_GRACE'),
    // Lambda leaves a second from the signal to the end.
    (seconds) => seconds === undefined || Number(seconds) < 1,
    'may be ended before it has written its refunds',
  ),
  requires(revision, webVariable('CLIENT_ADDRESS'), is('x-forwarded-for'), "takes callers' addresses from elsewhere"),
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
