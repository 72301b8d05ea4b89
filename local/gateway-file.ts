import { lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { type Budget, memberBudgetOf } from '../lambda/budget/budget-window.ts';
import { type Config, reservedByDefault, waysToSignIn } from '../lambda/settings/config.ts';
import type { TableNames } from '../lambda/store/dynamodb/store.ts';

/** What the operator's commands need to know about a gateway, wherever it runs. */
export interface GatewayFacts {
  readonly url: string;
  readonly serviceName: string;
  /** In tokens, where the operator has set it. */
  readonly contextWindow?: number | undefined;
  readonly memberLimit: number;
  /** The currency of its prices. Without prices nobody can have a budget. */
  readonly currency?: string | undefined;
  /** What a request without an output limit reserves for its answer, by model, in micros. */
  readonly reservedByDefault?: Readonly<Record<string, number>>;
  /** The default budget of a member. */
  readonly memberBudget?: Budget | undefined;
  /** With `keys`, linked networks have no effect. */
  readonly access: 'open' | 'keys';
  /** For OIDC sign-in, if configured. */
  readonly oidcIssuer?: string | undefined;
  /** For the device flow, if configured. */
  readonly appUrl?: string | undefined;
}

/** The facts about a gateway on this machine. */
export function factsOf({ service, accounts, quota, budget }: Config, ownUrl: string): GatewayFacts {
  const appUrl = waysToSignIn(accounts).length > 0 ? (accounts.appUrl ?? ownUrl) : undefined;
  return {
    url: service.gatewayUrl ?? ownUrl,
    serviceName: service.serviceName,
    contextWindow: service.contextWindow,
    memberLimit: quota.memberLimit,
    access: accounts.access,
    oidcIssuer: accounts.oidcIssuer,
    appUrl,
    ...(budget.prices && {
      currency: budget.currency,
      memberBudget: memberBudgetOf(budget),
      reservedByDefault: reservedByDefault(budget.prices, budget.reservedOutput),
    }),
  };
}

/** Tells the operator's commands where the store of a running local gateway is. */
export interface GatewayFile extends GatewayFacts {
  readonly pid: number;
  readonly port: number;
  /** Its store: a folder, or tables, with their endpoint if that isn't AWS. */
  readonly dataDir?: string | undefined;
  readonly tables?: TableNames | undefined;
  readonly dynamodbEndpoint?: string | undefined;
  readonly networkSalt: string;
}

/** Holds one file for each port on which this user runs a gateway. */
export function gatewayFileDirectory(): string {
  return join(tmpdir(), `private-inference-gateway-${userInfo().uid}`);
}

/** Writes the file of the gateway on `file.port`; it holds secrets, so nobody else may read it. */
export function writeGatewayFile(file: GatewayFile, directory = gatewayFileDirectory()): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (!isPrivate(directory)) throw new Error(`${directory} belongs to another user or is open to others`);
  const path = filePath(file.port, directory);
  // Written beside it and renamed, so that a reader sees the whole file or none.
  const draft = `${path}.${file.pid}`;
  rmSync(draft, { force: true });
  writeFileSync(draft, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  renameSync(draft, path);
}

/** The file of the gateway on a port, or undefined if none runs. */
export function readGatewayFile(port: number, directory = gatewayFileDirectory()): GatewayFile | undefined {
  try {
    if (!isPrivate(directory)) return undefined;
    const file = JSON.parse(readFileSync(filePath(port, directory), 'utf8')) as GatewayFile;
    return isRunning(file.pid) ? file : undefined;
  } catch {
    return undefined;
  }
}

/** Removes the file of the gateway on a port, unless a later gateway has put its own there. */
export function removeGatewayFile(port: number, pid: number, directory = gatewayFileDirectory()): void {
  if (readGatewayFile(port, directory)?.pid === pid) rmSync(filePath(port, directory), { force: true });
}

const filePath = (port: number, directory: string) => join(directory, `gateway-${port}.json`);

/** Any user may write to the parent directory, so another user's directory can't be trusted. */
function isPrivate(directory: string): boolean {
  const stats = lstatSync(directory);
  return stats.isDirectory() && stats.uid === userInfo().uid && (stats.mode & 0o077) === 0;
}

/** Whether there is a process with this id, of whichever user. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Alive, but owned by another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
