import { type Guarantee, holdsAll, is, listOf, toldAlike, types, webVariable } from './guarantee.ts';

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
