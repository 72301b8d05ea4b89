import type { DatabaseSync } from 'node:sqlite';

/*
 * Times are epoch milliseconds. `item` names a caller, or anything else that has a counter. `period` is the number of the day, or of
 * another window (-1: never resets); of a budget it is its name, such as `m682`. Primary keys begin with the period or the minute, so that
 * rows that expire together are stored together.
 */
const first = `
  CREATE TABLE requests (
    period INTEGER NOT NULL,
    item TEXT NOT NULL,
    count INTEGER NOT NULL CHECK (count BETWEEN 0 AND 9007199254740991),
    expiresAt INTEGER,
    PRIMARY KEY (period, item)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX requestsByExpiry ON requests (expiresAt) WHERE expiresAt IS NOT NULL;

  CREATE TABLE bursts (
    minute INTEGER NOT NULL,
    item TEXT NOT NULL,
    count INTEGER NOT NULL CHECK (count BETWEEN 0 AND 9007199254740991),
    PRIMARY KEY (minute, item)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE tokens (
    minute INTEGER NOT NULL,
    item TEXT NOT NULL,
    token TEXT NOT NULL,
    PRIMARY KEY (minute, item, token)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE budgets (
    item TEXT NOT NULL,
    period TEXT NOT NULL,
    taken INTEGER NOT NULL CHECK (taken BETWEEN -9007199254740991 AND 9007199254740991),
    expiresAt INTEGER NOT NULL,
    PRIMARY KEY (item, period)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX budgetsByExpiry ON budgets (expiresAt);

  CREATE TABLE reservations (
    item TEXT NOT NULL,
    period TEXT NOT NULL,
    name TEXT NOT NULL,
    minute INTEGER NOT NULL,
    amount INTEGER NOT NULL,
    PRIMARY KEY (item, period, name),
    FOREIGN KEY (item, period) REFERENCES budgets ON DELETE CASCADE
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE uses (
    item TEXT NOT NULL,
    period TEXT NOT NULL,
    kind TEXT NOT NULL,
    input INTEGER NOT NULL CHECK (input <= 9007199254740991),
    output INTEGER NOT NULL CHECK (output <= 9007199254740991),
    spent INTEGER NOT NULL CHECK (spent <= 9007199254740991),
    PRIMARY KEY (item, period, kind),
    FOREIGN KEY (item, period) REFERENCES budgets ON DELETE CASCADE
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE globalCounters (
    period INTEGER PRIMARY KEY,
    requests INTEGER NOT NULL CHECK (requests <= 9007199254740991),
    guests INTEGER NOT NULL CHECK (guests <= 9007199254740991),
    spent INTEGER NOT NULL CHECK (spent <= 9007199254740991),
    expiresAt INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE keys (
    hash TEXT PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    member TEXT NOT NULL,
    label TEXT,
    "limit" INTEGER,
    budget INTEGER,
    budgetWindow TEXT,
    models TEXT,
    burst INTEGER,
    createdAt INTEGER NOT NULL,
    expiresAt INTEGER,
    renewable INTEGER,
    revokedAt INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX keysByMember ON keys (member, createdAt);

  CREATE TABLE links (
    network TEXT PRIMARY KEY,
    member TEXT NOT NULL,
    linkedAt INTEGER NOT NULL,
    expiresAt INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE stops (at TEXT NOT NULL, reason TEXT) STRICT;

  CREATE TABLE challenges (
    nonce TEXT PRIMARY KEY,
    digest TEXT NOT NULL,
    purpose TEXT NOT NULL,
    expiresAt INTEGER NOT NULL,
    takenBy TEXT
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE sessions (
    hash TEXT PRIMARY KEY,
    member TEXT NOT NULL,
    purpose TEXT,
    expiresAt INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE signedOut (member TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;

  CREATE TABLE slots (
    member TEXT NOT NULL,
    hash TEXT NOT NULL,
    takenAt INTEGER NOT NULL,
    PRIMARY KEY (member, hash, takenAt)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE terminals (
    device TEXT PRIMARY KEY,
    networkId TEXT NOT NULL,
    askedAt INTEGER NOT NULL,
    expiresAt INTEGER NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0,
    polledAt INTEGER,
    decision TEXT,
    decidedAt INTEGER,
    decidedBy TEXT,
    approvedBy TEXT,
    takenBy TEXT
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE userCodes (
    code TEXT PRIMARY KEY,
    device TEXT NOT NULL,
    expiresAt INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
`;

/** Each migrates to the next version. Released ones must never change: append a new one. */
export const migrations: readonly string[] = [first];

/** Migrates to the newest version. Safe if several processes do so at once. */
export function migrate(database: DatabaseSync, versions: readonly string[] = migrations): void {
  if (versionOf(database) === versions.length) return;
  database.exec('BEGIN IMMEDIATE');
  try {
    for (const migration of versions.slice(versionOf(database))) database.exec(migration);
    database.exec(`PRAGMA user_version = ${versions.length}; COMMIT`);
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

export function versionOf(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.user_version);
}
