import type { SourceFile } from '../support/imports.ts';
import { operatorRooms, outside, packageRules, rules, sharedWithLib, tooLarge, walletSteps } from './rules.ts';

/** The entries: only they may use the environment and the clock. */
const entries = /^lambda\/((wallet\/|canary\/)?index|server)\.ts$/;

/** Only these may create servers and handle signals. */
const servers = /\bcreateServer\(|\bprocess\.on\(/;
const mayServe = /^lambda\/(engines\/listen|server)\.ts$/;

const dialectFiles = /^lambda\/dialects\/(chat|responses|messages)\.ts$/;

function unitOf(path: string): string {
  return /^lambda\/((?:http|report|settings|engines)\/[^/]+?|[^/]+?)(\.ts|\/.*)$/.exec(path)?.[1] ?? '';
}

/** Every import, and every use of the environment, the clock or a server, that breaks a rule. */
export function findViolations(sources: readonly SourceFile[]): string[] {
  const violations: string[] = [];
  for (const { path, text, imports } of sources) {
    const unit = unitOf(path);
    for (const target of imports) {
      const allowed = path.startsWith('lambda/') ? mayLambdaImport(path, unit, target) : mayImportOutside(path, target);
      if (!allowed) violations.push(`${path} must not import ${target}`);
    }
    if (!path.startsWith('lambda/')) continue;
    if (!(unit in rules)) violations.push(`${path} has no rule: say what it may import`);
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

function mayLambdaImport(path: string, unit: string, target: string): boolean {
  const packageRule = packageRules.find(({ name }) => name.test(target));
  if (packageRule) return packageRule.allowed.test(path);
  if (/^(lib|local|operator|bin|bench|test)\//.test(target) || target.startsWith('..')) return false;
  if (!target.startsWith('lambda/')) return true;
  if (dialectFiles.test(path) && dialectFiles.test(target)) return false;
  const steps = [path, target].map((file) => /^lambda\/wallet\/([^/.]+)/.exec(file)?.[1]);
  if (steps.every((step) => step !== undefined)) {
    const [from = 0, to = 0] = steps.map((step = '') => walletSteps.indexOf(step));
    return from !== -1 && to !== -1 && to <= from;
  }
  return unitOf(target) === unit || (rules[unit] ?? []).includes(unitOf(target));
}

function mayImportOutside(path: string, target: string): boolean {
  if (target === tooLarge) return false;
  const [[folder = '', room = ''], [targetFolder = '', targetRoom = '']] = [placeOf(path), placeOf(target)];
  if (!(targetFolder in outside) && !['lambda', 'test'].includes(targetFolder)) return true; // a package
  if (folder === 'lib' && targetFolder === 'lambda') return sharedWithLib.test(target);
  if (folder !== targetFolder) return (outside[folder] ?? []).includes(targetFolder);
  if (folder !== 'operator' || room === targetRoom || targetRoom === '') return true;
  return (operatorRooms[room] ?? []).includes(targetRoom);
}

/** A file's folder, and its subfolder if it is in one. */
const placeOf = (path: string) => /^([a-z]+)\/(?:([^/]+)\/)?/.exec(path)?.slice(1) ?? [];
