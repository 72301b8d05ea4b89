import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { CommandError } from '../command-line.ts';

/** Reads standard input to its end; from a terminal, one line without echo. */
export async function readInput(): Promise<string> {
  const { stdin, stderr } = process;
  if (!stdin.isTTY) return text(stdin);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: stdin, output: nowhere, terminal: true });
  // readline has turned the terminal's echo off.
  stderr.write('Paste it and press Enter; it is not shown: ');
  const left = new AbortController();
  reader.once('SIGINT', () => left.abort()).once('close', () => left.abort());
  try {
    return await reader.question('', { signal: left.signal });
  } catch {
    throw new CommandError('nothing was read, so nothing was changed');
  } finally {
    reader.close();
    stderr.write('\n');
  }
}
