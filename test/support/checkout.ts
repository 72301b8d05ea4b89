import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new repository with one commit of these parts of the product. */
export function createCheckout(parts: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-checkout-'));
  const git = (...words: string[]) => {
    const who = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com'];
    execFileSync('git', [...who, ...words], { cwd: folder });
  };
  const filter = (path: string) => !path.endsWith('/node_modules');
  for (const part of parts) cpSync(part, join(folder, part), { recursive: true, filter });
  symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'));
  git('init', '--quiet');
  git('add', ...parts);
  git('commit', '--quiet', '--message', 'base');
  return { folder, git, remove: () => rmSync(folder, { recursive: true }) };
}
