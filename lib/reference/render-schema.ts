import { code, escapeHtml, prose } from './html.ts';
import { nameOf, type OpenApi, type Ref, resolve, type Schema } from './openapi.ts';

/** The members of an object, one row each: members of inner objects by their path, those of composed schemas together. */
export function renderFields(document: OpenApi, schema: Schema): string {
  const rows = membersOf(document, schema).map(
    ([name, member, required]) =>
      `<div><dt>${code(name)} <span class="type">${renderType(member)}</span>${required ? ' <span class="required">required</span>' : ''}</dt>${renderMeaning(document, member)}</div>`,
  );
  return rows.length > 0 ? `<dl class="fields">${rows.join('')}</dl>` : '';
}

type Member = readonly [name: string, schema: Schema, required: boolean];

function membersOf(document: OpenApi, schema: Schema, within = ''): readonly Member[] {
  const whole = resolve(document, schema as Schema & Ref);
  const parts = (whole.allOf ?? []).flatMap((part) => membersOf(document, part, within));
  const own = Object.entries(whole.properties ?? {}).flatMap(([name, member]): Member[] => {
    // Leave out members that an answer never has.
    if (member === false) return [];
    const path = within + name;
    const inner = member.properties ? membersOf(document, member, `${path}.`) : [];
    return [[path, member, whole.required?.includes(name) ?? false], ...inner];
  });
  return [...parts, ...own];
}

/** What a value may be, in a few words. */
export function renderType({ $ref, const: constant, enum: values, type, items }: Schema): string {
  if ($ref !== undefined) return `<a href="#${nameOf({ $ref })}">${escapeHtml(nameOf({ $ref }))}</a>`;
  if (constant !== undefined) return code(JSON.stringify(constant));
  if (values) return values.map((value) => code(JSON.stringify(value))).join(', ');
  if (items) return `array of ${renderType(items)}`;
  return [type ?? 'any'].flat().join(' or ');
}

function renderMeaning(document: OpenApi, member: Schema): string {
  const { description } = member.$ref ? resolve(document, member as Schema & Ref) : member;
  return description ? `<dd>${prose(description)}</dd>` : '';
}
