/**
 * Keeps the setup of a documented snippet and replaces its last paragraph, which sends the request, with `asking`. Imports may be
 * anywhere in a module, so `asking` may have its own.
 */
export function withTool(block: string, asking: string): string {
  const setup = block.slice(0, block.lastIndexOf('\n\n'));
  if (setup === '') throw new Error('the block has no blank line before it asks');
  return `${setup}\n${asking}\n`;
}
