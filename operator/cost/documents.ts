import { blocks } from './blocks.ts';

/** The paths of the documents with computed parts, and of the picture. */
export const documents = ['docs/costs.md', 'docs/scaling.md'] as const;
export const picture = 'docs/images/costs.svg';

/** Renews the computed parts of a document, those between `<!-- computed: NAME -->` and `<!-- end -->`. */
export function renderDocument(text: string): string {
  return text.replace(/(<!-- computed: (\w+) -->\n)[\s\S]*?(<!-- end -->)/g, (_, begin, name, end) => {
    const block = blocks[name];
    if (!block) throw new Error(`nothing is computed under the name ${name}`);
    return `${begin}\n${block()}\n\n${end}`;
  });
}
