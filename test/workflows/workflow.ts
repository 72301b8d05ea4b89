import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect } from '@jest/globals';

/** A workflow's text, its jobs, and the scripts of their steps. */
export function readWorkflow(name: string) {
  const text = readFileSync(`.github/workflows/${name}.yml`, 'utf8');
  return {
    text,
    jobOf: (job: string): string => new RegExp(`\\n {2}${job}:\\n((?: {4}.*\\n|\\n)+)`).exec(text)?.[1] ?? '',
    /** The script of a named step, in the whole workflow or in one of its jobs. */
    scriptOf(step: string, job = text): string {
      const lines = new RegExp(`- name: ${step}\\n(?: {8,}.*\\n)*? {8}run: \\|\\n((?: {10}.*\\n)+)`);
      const [, script = ''] = lines.exec(job) ?? [];
      expect(script).not.toBe('');
      return script;
    },
  };
}

/** Runs a script as GitHub does. */
export function runScript(script: string, env: Readonly<Record<string, string>>, cwd = process.cwd()) {
  return spawnSync('bash', ['--noprofile', '--norc', '-e', '-c', script], { cwd, env, encoding: 'utf8' });
}
