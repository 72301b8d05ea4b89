import { type Part, partsOf, remember, type Template, valuesAt } from '../template.ts';
import { confidential, durable, exact } from './data.ts';
import type { Guarantee } from './guarantee.ts';
import { bounded, reachable, watched } from './service.ts';

/** A guarantee with the property of the gateway that it belongs to. */
export type Named = Guarantee & { readonly property: string };

const properties = { durable, exact, private: confidential, reachable, bounded, watched };

/** Everything that a deployed gateway must keep. */
export const guarantees: readonly Named[] = Object.entries(properties).flatMap(([property, own]) =>
  own.map((guarantee) => ({ ...guarantee, property })),
);

const byType = Map.groupBy(guarantees, ({ of }) => of);

export function guaranteesOf(type: string): readonly Named[] {
  return byType.get(type) ?? [];
}

/** A part of a template that breaks a guarantee. */
interface Broken {
  readonly part: Part;
  readonly guarantee: Named;
  /** The values found instead. */
  readonly values: readonly unknown[];
}

/** The guarantees that a template breaks by itself, whatever was deployed before. The synthesis and the gate share them. */
export const findBroken = remember((template: Template): readonly Broken[] =>
  partsOf(template).flatMap((part) =>
    guaranteesOf(part.type).flatMap((guarantee) => {
      const { must, at } = guarantee;
      if (must === undefined) return [];
      const values = valuesAt(part.tree, at);
      return values.every((value) => must(value, { part, template })) ? [] : [{ part, guarantee, values }];
    }),
  ),
);

/** Judges a template at synthesis. Faults stop it. What an operator's setting may choose is only a warning. */
export function judgeTemplate(template: Template): { readonly faults: string[]; readonly warnings: string[] } {
  const [faults, warnings]: [string[], string[]] = [[], []];
  for (const { part, guarantee } of findBroken(template)) {
    const list = guarantee.chosen ? warnings : faults;
    list.push(`${part.name} is not ${guarantee.property}: ${guarantee.otherwise}`);
  }
  return { faults, warnings };
}
