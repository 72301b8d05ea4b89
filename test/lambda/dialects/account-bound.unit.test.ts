import { describe, expect } from '@jest/globals';
import { createScanner } from '../../../lambda/json/scan.ts';
import type { DialectName } from '../../support/fixtures.ts';
import { dialectNamed } from '../../support/rewrite.ts';
import { testRows } from '../../support/test-rows.ts';

const isBound = (dialect: DialectName, body: object) =>
  dialectNamed(dialect).isAccountBound(createScanner().scan(JSON.stringify(body)));
const said = (more: object) => ({ messages: [{ role: 'assistant', ...more }] });

describe('data that only the upstream account that produced it can read', () => {
  testRows<[string, DialectName, object]>([
    ['encrypted reasoning', 'responses', { input: [{ type: 'reasoning', encrypted_content: 'x' }] }],
    ['a compacted history', 'responses', { input: [{ type: 'compaction', encrypted_content: 'x' }] }],
    ['signed thinking', 'messages', said({ content: [{ type: 'thinking', thinking: '', signature: 'x' }] })],
    ['redacted thinking', 'messages', said({ content: [{ type: 'redacted_thinking', data: 'x' }] })],
    ['signed reasoning', 'chat', said({ reasoning_details: [{ type: 'reasoning.text', text: '', signature: 'x' }] })],
    ['encrypted reasoning', 'chat', said({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'x' }] })],
    ['a signed call', 'chat', said({ tool_calls: [{ extra_content: { google: { thought_signature: 'x' } } }] })],
  ])('is found in a body', (_, dialect, body) => {
    expect(isBound(dialect, body)).toBe(true);
  });

  testRows<[string, DialectName, object]>([
    ['a body without a history', 'responses', {}],
    ['a body without a history', 'messages', {}],
    ['a body without a history', 'chat', {}],
    ['reasoning in plain text', 'responses', { input: [{ type: 'reasoning', encrypted_content: null }] }],
    ['words about it', 'messages', said({ content: 'signature, encrypted_content, redacted_thinking' })],
    ['a tool with such a parameter', 'chat', { ...said({}), tools: [{ properties: { signature: { type: 'x' } } }] }],
  ])('is not found in what only looks like it', (_, dialect, body) => {
    expect(isBound(dialect, body)).toBe(false);
  });
});
