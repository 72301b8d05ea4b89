/**
 * A library's block that sets up the same, but is asked by other code: what stands after its last blank line is what asks.
 * Imports may stand anywhere in a module.
 */
export function withTool(block: string, asking: string): string {
  const setup = block.slice(0, block.lastIndexOf('\n\n'));
  if (setup === '') throw new Error('the block has no blank line before it asks');
  return `${setup}\n${asking}\n`;
}
