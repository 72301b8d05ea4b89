import { blocks } from './blocks.ts';

/** The documents that hold computed parts, and the picture, by their paths. */
export const documents = ['docs/costs.md', 'docs/scaling.md'] as const;
export const picture = 'docs/images/costs.svg';

/** A document with its computed parts as they are now: what stands between `<!-- computed: NAME -->` and `<!-- end -->`. */
export function renderDocument(text: string): string {
  return text.replace(/(<!-- computed: (\w+) -->\n)[\s\S]*?(<!-- end -->)/g, (_, begin, name, end) => {
    const block = blocks[name];
    if (!block) throw new Error(`nothing is computed under the name ${name}`);
    return `${begin}\n${block()}\n\n${end}`;
  });
}
