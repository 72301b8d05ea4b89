import { type Change, type Comparison, listChanges, type ResourceChange } from './changes.ts';
import { type Decision, findDecisions } from './decisions.ts';
import { type Grant, sayGained, sayGrant, sayLost } from './grants.ts';
import { types, variablesOf, type Where } from './guarantees/guarantee.ts';
import { findBroken, guaranteesOf, type Named } from './guarantees/index.ts';
import { mayBeAdded, mayBeReplaced, mayVary, mayVaryAnywhere } from './harmless.ts';
import { comparePermissions, isPermission, isPolicy } from './permissions.ts';
import { isTree, isWithin, namesOf, type Part, partsOf, type Template, valuesAt } from './template.ts';

export interface Danger {
  /** Never deployed, even with approval. */
  readonly refused: boolean;
  readonly where: string;
  readonly what: string;
}

/** A danger before merging. Decisions claim it by its subject. */
interface Finding extends Danger {
  readonly subject: string;
}

/**
 * What a reviewer must see: every guarantee that the new templates break, whichever line did it; every permission that is added
 * or lost; and every change that is not known to be harmless. Everything that follows from one decision is one line.
 */
export function findDangers(...comparisons: readonly Comparison[]): readonly Danger[] {
  const decisions = findDecisions(comparisons);
  const found = comparisons.map((comparison) => ({
    stack: comparison.after.Stack?.name ?? '',
    isNew: newPartsOf(comparison),
    findings: findIn(comparison),
    ...comparePermissions(comparison.before, comparison.after),
  }));
  const permission = (what: string): Danger => ({ refused: false, where: 'permissions', what });
  const sayThoseOf = (decision: Decision | undefined) =>
    found.flatMap(({ stack, isNew, findings, gained, lost }) => {
      const isOf = (subject: string) => decisions.find(({ covers }) => covers(subject, stack)) === decision;
      const isOwn = (grant: Grant) => isOf(sayGrant(grant));
      return [
        ...mergeAlike(findings.filter(({ refused, subject }) => (refused ? decision === undefined : isOf(subject)))),
        ...sayGained(gained.filter(isOwn), isNew).map((said) => permission(`new: ${said}`)),
        ...sayLost(lost.filter(isOwn)).map((said) => permission(`gone: ${said}`)),
      ];
    });
  const decided = decisions.flatMap((decision): readonly Danger[] => {
    const said = sayThoseOf(decision);
    if (said.length < 2) return said;
    const consequences = said.map(({ where, what }) => `${where}: ${what}`);
    return [{ refused: false, where: decision.setting, what: [decision.meaning, ...consequences].join('; ') }];
  });
  return [...sayThoseOf(undefined), ...decided];
}

function newPartsOf({ before, after }: Comparison): (name: string) => boolean {
  const known = new Set(partsOf(before).map(({ name }) => name));
  const added = new Set(partsOf(after).flatMap(({ name }) => (known.has(name) ? [] : name)));
  return (name) => added.has(name);
}

function findIn({ before, after, resources }: Comparison): readonly Finding[] {
  const byId = (template: Template) => new Map(partsOf(template).map((part) => [part.id, part]));
  const [old, current] = [byId(before), byId(after)];
  const replaced = new Map(resources.map((change) => [change.id, change.replaced]));
  const wasBroken = findBroken(before);
  // A guarantee that was already broken must not silently get worse.
  const broken = findBroken(after).filter(
    ({ part: { id }, guarantee, values }) =>
      !wasBroken.some((one) => one.part.id === id && one.guarantee === guarantee && !differs(one.values, values)),
  );
  const judge = (id: string): Finding[] => {
    const [was, is] = [old.get(id), current.get(id)];
    if (is === undefined) return was === undefined || isPolicy(was.type) ? [] : [judgeRemoval(was)];
    const own = broken.filter(({ part }) => part.id === id).map(({ guarantee }) => guarantee);
    if (was === undefined) return [...judgeAddition(is), ...own.map((guarantee) => lossOf(is, guarantee, 'not'))];
    return judgeChange(was, { part: is, template: after }, own, replaced.get(id) ?? 'no');
  };
  return [...findEmptyTables(before, after), ...[...new Set([...old.keys(), ...current.keys()])].flatMap(judge)];
}

/** A renamed construct is a new, empty table: no key would be found, and no usage either. */
function findEmptyTables(before: Template, after: Template): Finding[] {
  const tablesOf = ({ Resources = {} }: Template, name: string) =>
    Object.values(Resources).flatMap(({ Properties }) => {
      const id = Object(variablesOf(Properties)[name]).Ref;
      return typeof id === 'string' ? [id] : [];
    });
  return ['KEYS_TABLE', 'QUOTA_TABLE'].flatMap((name) => {
    const isInUse = tablesOf(before, name).length > 0;
    const isNew = (id: string) => before.Resources?.[id] === undefined && after.Resources?.[id] !== undefined;
    const empty = new Set(isInUse ? tablesOf(after, name).filter(isNew) : []);
    return [...empty].map((id) => ({
      refused: true,
      where: namesOf(after)[id] ?? id,
      subject: name,
      what: `is new, and so empty, but ${name} points to it: first deploy it beside the old one, then move the items`,
    }));
  });
}

/** Findings with the same text become one line, with all their parts. */
function mergeAlike(findings: readonly Finding[]): Danger[] {
  const alike = Map.groupBy(findings, ({ refused, what }) => `${refused} ${what}`);
  return [...alike.values()].flatMap(([first, ...others]) => {
    if (!first) return [];
    const { refused, what } = first;
    const places = new Set([first, ...others].map(({ where }) => where));
    return [{ refused, where: [...places].sort().join(', '), what }];
  });
}

function danger({ name }: Part, what: string, refused = false, subject = name): Finding {
  return { refused, where: name, what, subject };
}

function lossOf(part: Part, { property, otherwise, at, refused = false }: Named, since: 'not' | 'no longer'): Finding {
  return danger(part, `${since} ${property}: ${otherwise}`, refused, `${part.name} ${at}`);
}

const holdsData = ({ type }: Part): boolean => type === types.table || type === types.secret;

function judgeRemoval(was: Part): Finding {
  return danger(
    was,
    holdsData(was) ? 'is no longer part of the stack (if retained, it stays behind unused)' : 'is removed',
  );
}

function judgeAddition(is: Part): Finding[] {
  if (mayBeAdded.test(is.type) || isPolicy(is.type) || isPartOfNewStack(is)) return [];
  return [danger(is, `is new, and may be a way in: ${is.type} is not known to be harmless`)];
}

/** The outputs and properties of a new stack. The rest of its template could contain a macro, which can do anything. */
function isPartOfNewStack({ type, tree }: Part): boolean {
  if (type === 'Template') return Object.keys(tree).every((name) => /^(Description|Parameters|Rules)$/.test(name));
  return type === 'Outputs' || type === 'Stack';
}

function judgeChange(
  was: Part,
  where: Where,
  broken: readonly Named[],
  replaced: ResourceChange['replaced'],
): Finding[] {
  const is = where.part;
  if (was.type !== is.type) return [danger(is, `is replaced: ${is.type} instead of ${was.type}`)];
  const changes = listChanges(was.tree, is.tree);
  const changed = changes.length === 0 ? [] : guaranteesOf(is.type).filter((one) => !keepsWhatWas(one, was, where));
  const lost = [...broken, ...changed].map((guarantee) => lossOf(is, guarantee, 'no longer'));
  if (replaced === 'no' || mayBeReplaced.test(is.type)) return [...lost, ...findUnknown(is, changes)];
  // Replacement implies the others, unless one of the lost guarantees is refused.
  if (lost.some(({ refused }) => refused)) return lost;
  const by = holdsData(is) ? 'an empty one' : 'one with another name or address';
  const what = `${replaced === 'yes' ? 'is' : 'may be'} replaced by ${by}`;
  return [danger(is, what, replaced === 'yes' && is.type === types.table)];
}

function keepsWhatWas({ keeps, at }: Named, was: Part, where: Where): boolean {
  const [old, values] = [valuesAt(was.tree, at), valuesAt(where.part.tree, at)];
  const places = Array.from({ length: Math.max(old.length, values.length) });
  return keeps === undefined || places.every((_, index) => keeps(old[index], values[index], where));
}

function differs(before: unknown, after: unknown): boolean {
  return listChanges(before, after).length > 0;
}

/** Changes that no guarantee covers, and that are not known to be harmless. */
function findUnknown(is: Part, changes: readonly Change[]): Finding[] {
  if (changes.length === 0) return [];
  const spokenOf = guaranteesOf(is.type).map(({ at }) => at);
  const known = [...mayVaryAnywhere, ...(mayVary[is.type] ?? []), ...spokenOf];
  return changes
    .flatMap(unfold)
    .filter(({ path }) => !isPermission(is.type, path) && !known.some((place) => isWithin(path, place)))
    .map(({ path }) => danger(is, `changes ${path}, which is not known to be harmless`, false, `${is.name} ${path}`));
}

/** The leaves of an added or removed subtree. */
function unfold(change: Change): Change[] {
  const { path, before, after } = change;
  if ((before !== undefined && after !== undefined) || !isTree(before ?? after)) return [change];
  const inside = listChanges(before ?? {}, after ?? {}, path);
  return inside.length > 0 ? inside.flatMap(unfold) : [change];
}
