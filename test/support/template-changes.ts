import { expect } from '@jest/globals';
import { compareTemplates } from '../../lib/diff/changes.ts';
import { findDangers } from '../../lib/diff/judge.ts';
import { partsOf, type Template } from '../../lib/diff/template.ts';

// biome-ignore lint/suspicious/noExplicitAny: a change may reach into a template as deep as it pleases
export type AnyTree = any;
export type Change = (template: AnyTree) => void;

/** Edits a template's parts by construct path, and asks the gate about the result. */
export function createTemplateEditor(base: Template) {
  const ids = Object.fromEntries(partsOf(base).map(({ id, name }) => [name, id]));
  const resourceIn = (template: AnyTree, name: string): AnyTree => {
    const resource = template.Resources[ids[name] ?? ''];
    if (resource === undefined) throw new Error(`there is no ${name} among ${Object.keys(ids).join(', ')}`);
    return resource;
  };
  return {
    resourceIn,
    propertiesIn: (template: AnyTree, name: string): AnyTree => resourceIn(template, name).Properties,
    remove(template: AnyTree, ...names: string[]) {
      for (const name of names) delete template.Resources[ids[name] ?? name];
    },
    /** The dangers of going from one edit of the template to another. */
    dangersBetween(before: Change, after: Change): string[] {
      const [old, current] = [structuredClone(base), structuredClone(base)];
      before(old);
      after(current);
      expect(JSON.stringify(current)).not.toBe(JSON.stringify(old));
      return dangersOf(old, current);
    },
  };
}

export function dangersOf(before: Template, after: Template): string[] {
  return findDangers(compareTemplates(before, after)).map(
    ({ refused, where, what }) => `${refused ? 'REFUSED ' : ''}${where}: ${what}`,
  );
}

interface TemplateChange {
  /** Such as `AWS::Lambda::Function Environment.Variables.GUEST_LIMIT`; `[]` stands for any element of a list. */
  readonly place: string;
  readonly how: string;
  readonly after: Template;
}

type Tree = Record<string, unknown>;
type Step = string | number;

/** Every single change of a template: each value removed, changed, or extended. */
export function* everyChange(template: Template): Generator<TemplateChange> {
  for (const [steps, value] of walk(template)) {
    const changes: [string, unknown][] = [['removed', undefined], ...alternatives(value)];
    for (const [how, other] of changes) {
      if (other === value) continue;
      yield { place: placeOf(template, steps), how, after: put(template, steps, other) };
    }
  }
}

function* walk(value: unknown, steps: readonly Step[] = []): Generator<[readonly Step[], unknown]> {
  if (steps.length > 0) yield [steps, value];
  if (typeof value !== 'object' || value === null) return;
  const names: Step[] = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  for (const name of names) yield* walk((value as Tree)[name], [...steps, name]);
}

function alternatives(value: unknown): [string, unknown][] {
  if (typeof value === 'string') return [['another text', `${value}-other`]];
  if (typeof value === 'boolean') return [['the opposite', !value]];
  if (typeof value === 'number') {
    return [
      ['more', value + 1],
      ['far more', value * 1000 + 7],
      ['nothing', 0],
    ];
  }
  if (Array.isArray(value)) {
    return [
      ['one more element', [...value, 'other']],
      ['no elements', []],
    ];
  }
  return [['one more member', { ...(value as Tree), Other: 'other' }]];
}

/** Copies only the path and shares the rest of the tree: copying all of it for each change would be most of the work. */
function put<T>(tree: T, [step = '', ...steps]: readonly Step[], value: unknown): T {
  const copy = (Array.isArray(tree) ? [...tree] : { ...tree }) as Tree;
  if (steps.length > 0) copy[step] = put(copy[step], steps, value);
  else if (value !== undefined) copy[step] = value;
  else if (Array.isArray(copy)) copy.splice(Number(step), 1);
  else delete copy[step];
  return copy as T;
}

function placeOf({ Resources = {} }: Template, [section = '', id = '', ...steps]: readonly Step[]): string {
  const words = (names: readonly Step[]) =>
    names
      .map((name) => (typeof name === 'number' ? '[]' : name))
      .join('.')
      .replaceAll('.[]', '[]');
  if (section !== 'Resources' || id === '') return words([section, ...(id === '' ? [] : [id]), ...steps]);
  return `${Resources[id]?.Type} ${words(steps[0] === 'Properties' && steps.length > 1 ? steps.slice(1) : steps)}`.trimEnd();
}
