import { describe, expect, test } from '@jest/globals';
import { readAnswer } from '../../../lambda/store/read-answer.ts';

const lines = (...parts: readonly string[]) => parts.join('\r\n');
const json = '{"größe":"\u{1f642}"}';
const length = Buffer.byteLength(json);

const withLength = lines('HTTP/1.1 200 OK', 'Content-Type: application/json', `Content-Length: ${length}`, '', json);
const hexOf = (text: string) => Buffer.byteLength(text).toString(16);
const inChunks = lines(
  ...['HTTP/1.1 400 Bad Request', 'transfer-encoding: chunked', 'date: Sun, 22 Nov 2026 12:00:00 GMT', ''],
  ...[hexOf('{"größe'), '{"größe', `${hexOf('":"\u{1f642}"}').toUpperCase()};more=1`, '":"\u{1f642}"}', '0', '', ''],
);
const withTrailer = inChunks.replace('0\r\n\r\n', '0\r\nx-checksum: 1\r\n\r\n');
const afterOthers = `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${withLength}`;

const read = (text: string, isOver = false) => readAnswer(Buffer.from(text), isOver);

describe('an answer', () => {
  test.each([
    ['of a given length', withLength, 200],
    ['in chunks', inChunks, 400],
    ['in chunks, with headers after them', withTrailer, 400],
    ['after provisional ones', afterOthers, 200],
    ['without a reason', withLength.replace('200 OK', '200'), 200],
  ])('%s is read once its last byte has come', (_name, text, status) => {
    const bytes = Buffer.from(text);
    for (let end = 0; end < bytes.length; end += 1) {
      expect(readAnswer(bytes.subarray(0, end), false)).toBeUndefined();
    }
    expect(readAnswer(bytes, false)).toMatchObject({ status, text: json, keepsConnection: true });
  });

  test('without a length ends with its connection', () => {
    const text = lines('HTTP/1.1 200 OK', '', json);
    expect(read(text)).toBeUndefined();
    expect(read(text, true)).toMatchObject({ status: 200, text: json, keepsConnection: false });
  });

  test('that breaks off is none', () => {
    expect(read(withLength.slice(0, -1), true)).toBeUndefined();
    expect(read(inChunks.slice(0, -2), true)).toBeUndefined();
    expect(read('HTTP/1.1 200 OK\r\ncontent-le', true)).toBeUndefined();
    expect(read('', true)).toBeUndefined();
  });

  test('without a body has none', () => {
    expect(read('HTTP/1.1 204 No Content\r\n\r\n')).toMatchObject({ status: 204, text: '', keepsConnection: true });
  });

  test('tells its date', () => {
    expect(read(inChunks)?.date).toBe('Sun, 22 Nov 2026 12:00:00 GMT');
    expect(read(withLength)?.date).toBe('');
  });
});

test.each([
  ['says so', withLength.replace('\r\n\r\n', '\r\nConnection: Keep-Alive, Close\r\n\r\n')],
  ['is of an old version', withLength.replace('1.1', '1.0')],
  ['is followed by bytes that nobody asked for', `${withLength}H`],
])('an answer that %s ends its connection', (_name, text) => {
  expect(read(text)).toMatchObject({ text: json, keepsConnection: false });
});

test.each([
  ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n\r\n', 'no HTTP answer'],
  ['another version of HTTP', 'HTTP/2 200\r\n\r\n', 'no HTTP answer'],
  ['a change of protocols', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\n\r\n', 'no HTTP answer'],
  ['a status that is none', 'HTTP/1.1 042 What\r\n\r\n', 'no HTTP answer'],
  ['a chunk without a length', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{}\r\n', 'chunk without a length'],
  ['a negative length', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n-1\r\n', 'chunk without a length'],
  [
    'a chunk that is longer',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}XX0\r\n\r\n',
    'another length',
  ],
  ['another encoding', 'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n', 'how long it is'],
  ['a negative content-length', 'HTTP/1.1 200 OK\r\ncontent-length: -2\r\n\r\n{}', 'how long it is'],
  ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\ncontent-length : 3\r\n\r\n{} ', 'how long it is'],
  [
    'a length beside chunks',
    'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    'how long it is',
  ],
  ['too much', `HTTP/1.1 200 OK\r\ncontent-length: 9999999\r\n\r\n${'a'.repeat(1024 * 1024)}`, 'too large'],
])('%s is refused', (_name, text, reason) => {
  expect(() => read(text)).toThrow(reason);
});
