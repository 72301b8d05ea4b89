import type { SourceFile } from '../support/imports.ts';
import {
  commonToDialects,
  composition,
  dialectFolders,
  openers,
  outside,
  packageRules,
  rules,
  shared,
  sharedWithLib,
  tooLarge,
} from './rules.ts';

/** The entry points: only they may use the environment and the clock. */
const entries = /^lambda\/((accounts\/|canary\/)?index|server|store\/sqlite\/worker)\.ts$/;

/** Only these may create servers and handle signals. */
const servers = /\bcreateServer\(|\bprocess\.on\(/;
const mayServe = /^lambda\/(engines\/listen|server)\.ts$/;

/** The dialect folder that a file is in; undefined for one that composes them. */
function dialectOf(path: string): string | undefined {
  const [, folder = ''] = /^lambda\/dialects\/(?:([^/]+)\/)/.exec(path) ?? [];
  return dialectFolders.find((name) => name === folder);
}

/** Whether an import leads from one dialect to another, or up from the shared model. */
function crossesDialects(path: string, target: string): boolean {
  if (!target.startsWith('lambda/dialects/') || commonToDialects.test(target)) return false;
  const own = dialectOf(path);
  return own === undefined ? commonToDialects.test(path) : dialectOf(target) !== own;
}

/** A file's room, or its own name if it is directly in lambda/. */
function roomOf(path: string): string {
  return /^lambda\/([^/]+?)(\.ts|\/.*)$/.exec(path)?.[1] ?? '';
}

/** What a room, or a file directly in lambda/, may import; undefined if it has no rule. */
function allowedTo(room: string): readonly string[] | undefined {
  if (shared.includes(room)) return shared;
  const composing = composition[room];
  return (
    rules[room] ?? (composing && [...composing, ...Object.keys(rules).filter((name) => name !== 'accounts'), ...shared])
  );
}

/** Every import, and every use of the environment, the clock or a server, that breaks a rule. */
export function findViolations(sources: readonly SourceFile[]): string[] {
  const violations: string[] = [];
  for (const { path, text, imports } of sources) {
    const room = roomOf(path);
    for (const target of imports) {
      const allowed = path.startsWith('lambda/') ? mayLambdaImport(path, room, target) : mayImportOutside(path, target);
      if (!allowed) violations.push(`${path} must not import ${target}`);
    }
    if (!path.startsWith('lambda/')) continue;
    if (!allowedTo(room)) violations.push(`${path} has no rule: say what it may import`);
    if (/process\.env/.test(text) && !entries.test(path)) violations.push(`${path} must not read the environment`);
    if (servers.test(text) && !mayServe.test(path)) violations.push(`${path} must leave the platform to an engine`);
    if (/Date\.now|new Date\(\)|Math\.random/.test(text) && !entries.test(path)) {
      violations.push(`${path} must be given its clock and its randomness`);
    }
    if (/\bdialect(\.name)? ===/.test(text) || /'(chat|responses|messages)' ===/.test(text)) {
      violations.push(`${path} must not ask which dialect it is`);
    }
  }
  return violations;
}

function mayLambdaImport(path: string, room: string, target: string): boolean {
  const packageRule = packageRules.find(({ name }) => name.test(target));
  if (packageRule) return packageRule.allowed.test(path);
  if (/^(lib|local|operator|bin|bench|test)\//.test(target) || target.startsWith('..')) return false;
  if (!target.startsWith('lambda/')) return true;
  if (crossesDialects(path, target)) return false;
  if (openers.some(({ store, allowed }) => store.test(target) && !allowed.test(path))) return false;
  return roomOf(target) === room || (allowedTo(room) ?? []).includes(roomOf(target));
}

function mayImportOutside(path: string, target: string): boolean {
  if (target === tooLarge) return false;
  const [[folder = '', room = ''], [targetFolder = '', targetRoom = '']] = [placeOf(path), placeOf(target)];
  if (!(targetFolder in outside) && !['lambda', 'test'].includes(targetFolder)) return true; // a package
  if (folder === 'lib' && targetFolder === 'lambda') return sharedWithLib.test(target);
  if (folder !== targetFolder) return (outside[folder] ?? []).includes(targetFolder);
  return folder !== 'operator' || room === targetRoom || targetRoom === '';
}

/** A file's folder, and its subfolder if there is one. */
const placeOf = (path: string) => /^([a-z]+)\/(?:([^/]+)\/)?/.exec(path)?.slice(1) ?? [];
