import { readFile } from 'node:fs/promises';
import { budgetWindows } from '../../lambda/budget/budget-window.ts';
import type { KeyRecord } from '../../lambda/identity/issued-keys.ts';
import { isObject, parseJson } from '../../lambda/settings/json.ts';
import type { Slot } from '../../lambda/store/sign-in.ts';
import { plainJson } from '../../local/plain-text.ts';
import { CommandError, type Outcome } from '../command-line.ts';
import { count } from '../table.ts';
import type { Target } from './target.ts';

/*
 * Moves keys between stores, as JSON lines: a header line, then issued keys with their hashes, and the slots of the keys that members made.
 * Counters are not moved.
 */

const heading = { format: 'keys of a private inference gateway', version: 1 } as const;

/** The most concurrent reads or writes, so that the gateway's own requests aren't starved. */
const atOnce = 100;

export async function exportKeys(target: Target): Promise<Outcome> {
  const keys = await target.keys.listStored();
  const members = [...new Set(keys.map(({ record }) => record.member))];
  const slots = await inTurns(members, async (member) =>
    (await target.members.readSlots(member)).map((slot) => ({ member, slot })),
  );
  const lines = [heading, ...keys.map(({ hash, record }) => ({ hash, key: record })), ...slots.flat()];
  return { json: lines, text: lines.map(plainJson).join('\n') };
}

/** Existing keys stay as they are, except that a revocation in the file is applied. */
export async function importKeys(target: Target, path: string): Promise<Outcome> {
  const lines = readLines(await readFile(path, 'utf8').catch(() => fail(`there is no file ${path}`)));
  const outcomes = await inTurns(lines, (line) => ('key' in line ? importKey(target, line) : importSlot(target, line)));
  const number = (wanted: string) => outcomes.filter((outcome) => outcome === wanted).length;
  const done = { imported: number('imported'), kept: number('kept'), revoked: number('revoked') };
  const text = [
    `${count(done.imported, 'key')} imported, ${done.kept} that were there already kept as they are, and ${done.revoked} of these revoked.`,
    'They work at once, and what they have used starts at 0. Members with a company account find theirs at /cli if NETWORK_SALT is the same.',
  ].join('\n');
  return { json: done, text };
}

interface KeyLine {
  readonly hash: string;
  readonly key: KeyRecord;
}

interface SlotLine {
  readonly member: string;
  readonly slot: Slot;
}

async function importKey({ keys }: Target, { hash, key }: KeyLine): Promise<'imported' | 'kept' | 'revoked'> {
  const found = await keys.findKey(hash);
  if (!found) {
    await keys.put(hash, key);
    return 'imported';
  }
  if (key.revokedAt === undefined || found.revokedAt !== undefined) return 'kept';
  await keys.revoke(found.id, key.revokedAt);
  return 'revoked';
}

async function importSlot({ members }: Target, { member, slot }: SlotLine): Promise<'slot'> {
  await members.takeSlot(member, slot, Number.MAX_SAFE_INTEGER);
  return 'slot';
}

/** Validates all lines before anything is written. */
function readLines(text: string): (KeyLine | SlotLine)[] {
  const lines = text.trimEnd().split('\n').map(parseJson);
  // Without --silent, npm prints lines of its own first.
  const first = lines.findIndex(isHeading) + 1;
  if (first === 0) fail('it has no heading of an export: make the file with `npm run --silent keys -- export`');
  return lines.slice(first).map((line, index) => {
    if (isKeyLine(line) || isSlotLine(line)) return line;
    return fail(`line ${first + index + 1} is no key of an export: nothing is imported`);
  });
}

const isHeading = (line: unknown): boolean =>
  isObject(line) && line.format === heading.format && line.version === heading.version;

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= 500;
const isWhole = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
/** The latest time that a JavaScript Date can represent. */
const isTime = (value: unknown): boolean => isWhole(value) && Number(value) <= 8.64e15;
const isOptional = (test: (value: unknown) => boolean) => (value: unknown) => value === undefined || test(value);

/** The fields of a stored key, and no others. */
const members: Readonly<Record<keyof KeyRecord, (value: unknown) => boolean>> = {
  id: isText,
  member: isText,
  label: isOptional(isText),
  limit: isOptional(isWhole),
  budget: isOptional(isWhole),
  budgetWindow: isOptional((value) => budgetWindows.some((window) => window === value)),
  models: isOptional((value) => Array.isArray(value) && value.every(isText)),
  burst: isOptional(isWhole),
  createdAt: isTime,
  expiresAt: isOptional(isTime),
  renewable: isOptional((value) => value === true),
  revokedAt: isOptional(isTime),
};

function isKeyLine(line: unknown): line is KeyLine {
  if (!isObject(line) || !/^[\da-f]{64}$/.test(String(line.hash)) || !isObject(line.key)) return false;
  const { key } = line;
  return (
    Object.keys(key).every((name) => Object.hasOwn(members, name)) &&
    Object.entries(members).every(([name, test]) => test(key[name])) &&
    (key.budget === undefined) === (key.budgetWindow === undefined)
  );
}

function isSlotLine(line: unknown): line is SlotLine {
  if (!isObject(line) || !isText(line.member) || !isObject(line.slot)) return false;
  return /^[\da-f]{64}$/.test(String(line.slot.hash)) && isTime(line.slot.takenAt);
}

async function inTurns<T, Done>(all: readonly T[], act: (one: T) => Promise<Done>): Promise<Done[]> {
  const done: Done[] = [];
  for (let start = 0; start < all.length; start += atOnce) {
    done.push(...(await Promise.all(all.slice(start, start + atOnce).map(act))));
  }
  return done;
}

function fail(message: string): never {
  throw new CommandError(message);
}
