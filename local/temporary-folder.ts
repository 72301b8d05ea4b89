import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A private folder that is deleted when the process exits. */
export function makeTemporaryFolder() {
  const path = mkdtempSync(join(tmpdir(), 'private-inference-gateway-data-'));
  const remove = () => rmSync(path, { recursive: true, force: true });
  process.once('exit', remove);
  return { path, [Symbol.dispose]: remove };
}
