import type { Prices } from '../../../lambda/budget/prices.ts';
import { readPrices } from '../../../lambda/settings/prices.ts';
import {
  falling,
  figure,
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

const { table, function: lambda, revision, endpoint } = types;

const unlimited = 'may take every execution of the account: nothing bounds the cost of a flood';
const undoesStop = 'gets executions again if it was stopped by hand, which no template shows';
const oneLimitLess = 'has one limit less on the cost of a flood';

/** Limits on cost remain set, and stay in proportion; and so do the prices that budgets count with. */
export const bounded: readonly Guarantee[] = [
  ...told('SPEND_LIMIT', 'spends any amount a day', isStillThere),
  ...told('MEMBER_BUDGET', 'lets members spend without a budget', isStillThere),
  ...rising.settings(['SPEND_LIMIT', 'MEMBER_BUDGET']),
  ...falling.settings(['RESERVED_OUTPUT']),
  ...told(
    'MEMBER_BUDGET_WINDOW',
    'gives members their budget anew more than ten times as often',
    (before, after) => daysOf(before) < 10 * daysOf(after),
  ),
  ...told('PRICES', 'has no prices to count budgets with', isStillThere),
  ...told(
    'PRICES',
    'counts tokens at a tenth of their price or less, so that budgets buy ten times as much',
    (before, after, where) => !fallsFar(pricesIn(before, where), pricesIn(after, where)),
  ),
  keeps(lambda, 'ReservedConcurrentExecutions', isStillThere, unlimited),
  keeps(lambda, 'ReservedConcurrentExecutions', leavesStopped, undoesStop),
  keeps(endpoint, 'ThrottleConfig.RateLimit', isStillThere, oneLimitLess),
  keeps(endpoint, 'ScalingConfig.MaxEnvironments', isStillThere, oneLimitLess),
  rising.property(endpoint, 'ThrottleConfig.RateLimit'),
  rising.property(endpoint, 'ScalingConfig.MaxEnvironments'),
  rising.property(lambda, 'MemorySize'),
  ...rising.settings(['GUEST_LIMIT', 'MEMBER_LIMIT', 'BURST_LIMIT', 'DAILY_LIMIT']),
  ...told('ACCESS', 'is open: it serves anyone, without a key that the operator has issued', keepsTo('keys')),
  ...told('GUEST_WINDOW', 'gives guests their requests anew each day', neverTurns('daily')),
  ...told('DAILY_LIMIT', 'answers any number of requests a day, at any cost', isStillThere),
  ...told('GUEST_DAILY_LIMIT', 'answers any number of guests a day, at any cost', (before, after, where) =>
    isStillThere(before, after ?? fifthOfAll(where)),
  ),
  ...told('GUEST_DAILY_LIMIT', hasRisen('GUEST_DAILY_LIMIT'), (before, after, where) =>
    risesLittle()(before, after ?? fifthOfAll(where), where),
  ),
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

const days = new Map<unknown, number>([
  ['day', 1],
  ['week', 7],
  ['month', 30],
]);

/** An unset window is a month; a text that is none would not be deployed. */
function daysOf(window: unknown = 'month'): number {
  return days.get(window) ?? Number.NaN;
}

function pricesIn(text: unknown, { part }: Where): Prices {
  const name = String(variablesOf(part.tree).SERVICE_NAME ?? 'svc');
  return readPrices(String(text ?? ''), [name, `${name}-vision`], []);
}

function fallsFar(before: Prices, after: Prices): boolean {
  return [...before].some(([model, old]) => {
    const now = after.get(model);
    return kinds.some((kind) => old[kind] > 0 && 10 * (now?.[kind] ?? old[kind]) <= old[kind]);
  });
}

const kinds = ['input', 'output', 'cacheRead', 'cacheWrite'] as const;

const otherKey = 'has another key, so it is replaced by an empty table: add a table and move the items instead';
const otherSalt = 'hashes networks with another salt, so that every guest counter and link is lost';
const otherAddresses = "takes callers' addresses from elsewhere";
/** Lambda leaves a second from the signal to the end. */
const underASecond = figure((seconds) => seconds < 1);

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
  ...toldAlike('NETWORK_SALT_SECRET_ID', otherSalt),
  ...toldAlike('NETWORK_SALT', otherSalt),
  ...toldAlike('EDGE_HEADER', otherAddresses),
  requires(revision, webVariable('SHUTDOWN_GRACE'), underASecond, 'may be ended before it has written its refunds'),
  requires(revision, webVariable('CLIENT_ADDRESS'), is('x-forwarded-for'), otherAddresses),
];

function typesOf(definitions: unknown): Map<unknown, unknown> {
  const listed = listOf(definitions) as Readonly<Record<string, unknown>>[];
  return new Map(listed.map(({ AttributeName, AttributeType }) => [AttributeName, AttributeType]));
}

function haveSameTypes(before: unknown, after: unknown): boolean {
  const now = typesOf(after);
  return [...typesOf(before)].every(([name, type]) => !now.has(name) || now.get(name) === type);
}

function haveSameNames(before: unknown, after: unknown): boolean {
  return holdsAll([...typesOf(before).keys()], [...typesOf(after).keys()]);
}
