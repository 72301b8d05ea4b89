import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type GatewayFile, readGatewayFile, removeGatewayFile, writeGatewayFile } from '../../local/gateway-file.ts';
import { runningPorts } from '../../local/running-gateways.ts';

const file: GatewayFile = {
  pid: process.pid,
  port: 8787,
  url: 'http://127.0.0.1:8787',
  dataDir: '/var/lib/gateway',
  serviceName: 'svc',
  networkSalt: 'sixteen characters at least',
  access: 'open',
  memberLimit: 50,
};

describe("a gateway's file", () => {
  let parent = '';
  let directory = '';
  beforeEach(() => {
    parent = mkdtempSync(join(tmpdir(), 'gateway-test-'));
    directory = join(parent, 'files');
  });
  afterEach(() => rmSync(parent, { recursive: true }));

  test('is found by its port, and only by that', () => {
    writeGatewayFile(file, directory);
    writeGatewayFile({ ...file, port: 8788, dataDir: '/other' }, directory);
    expect(readGatewayFile(8787, directory)).toEqual(file);
    expect(readGatewayFile(8788, directory)?.dataDir).toBe('/other');
    expect(readGatewayFile(8789, directory)).toBeUndefined();
  });

  test('tells the ports of all that run', () => {
    expect(runningPorts(directory)).toEqual([]);
    for (const port of [9000, 8787]) writeGatewayFile({ ...file, port }, directory);
    writeGatewayFile({ ...file, port: 8788, pid: spawnSync('true').pid }, directory);
    writeFileSync(join(directory, 'gateway-x.json'), '{}');
    expect(runningPorts(directory)).toEqual([8787, 9000]);
  });

  test('is readable only by its user, and leaves no draft behind', () => {
    writeGatewayFile(file, directory);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(statSync(join(directory, 'gateway-8787.json')).mode & 0o777).toBe(0o600);
    expect(readdirSync(directory)).toEqual(['gateway-8787.json']);
  });

  test('is replaced by a later gateway, and then only that one can remove it', () => {
    const ended = spawnSync('true').pid;
    writeGatewayFile({ ...file, pid: ended }, directory);
    expect(readGatewayFile(8787, directory)).toBeUndefined();
    writeGatewayFile(file, directory);
    removeGatewayFile(8787, ended, directory);
    expect(readGatewayFile(8787, directory)).toEqual(file);
    removeGatewayFile(8787, process.pid, directory);
    expect(readdirSync(directory)).toEqual([]);
    removeGatewayFile(8787, process.pid, directory);
  });

  test('is neither trusted nor written in a directory that others may enter or that is a link', () => {
    writeGatewayFile(file, directory);
    chmodSync(directory, 0o777);
    expect(readGatewayFile(8787, directory)).toBeUndefined();
    expect(() => writeGatewayFile(file, directory)).toThrow(/open to others/);
    chmodSync(directory, 0o700);
    const link = join(parent, 'link');
    symlinkSync(directory, link);
    expect(readGatewayFile(8787, link)).toBeUndefined();
  });

  test('is ignored if it is damaged', () => {
    writeGatewayFile(file, directory);
    writeFileSync(join(directory, 'gateway-8787.json'), '{"pid":');
    expect(readGatewayFile(8787, directory)).toBeUndefined();
  });
});
