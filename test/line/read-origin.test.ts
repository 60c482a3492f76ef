import { describe, expect, it } from 'vitest';
import { readOrigin } from '../../src/line/origin.ts';

describe('readOrigin', () => {
  it.each([
    ['/srv/x', '/srv/x', '/srv/x'],
    ['file:///srv/a%20b', '/srv/a b', '/srv/a b'],
    ['git@example.org:me/x.git', 'git@example.org:me/x.git', null],
    ['ssh://git@example.org/x', 'ssh://git@example.org/x', null],
    ['https://me:tok-123456@example.org/x', 'https://example.org/x', null],
  ])('reads %s', (configured, address, path) => {
    expect(readOrigin(configured)).toMatchObject({ address, path });
  });

  it('binds a token to the host it is for', () => {
    expect(readOrigin('https://example.org/me/x', 'tok-123456').secretConfig).toEqual([
      [
        'http.https://example.org/.extraHeader',
        `Authorization: Basic ${Buffer.from('x-access-token:tok-123456').toString('base64')}`,
      ],
    ]);
    expect(readOrigin('/srv/x', 'tok-123456').secretConfig).toEqual([]);
  });
});
