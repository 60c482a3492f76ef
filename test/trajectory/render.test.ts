import { describe, expect, it } from 'vitest';
import type { SessionMessage } from '../../src/session/types.ts';
import { Renderer } from '../../src/trajectory/render.ts';
import type { ChatMessage } from '../../src/trajectory/types.ts';
import {
  type Line,
  attachment,
  bot,
  call,
  checkpoint,
  message,
  reasoning,
  request,
  response,
  user,
} from '../session/logs.ts';

function render(...lines: Line[]): ChatMessage[] {
  const chat: ChatMessage[] = [];
  const renderer = new Renderer((pieces) => chat.push(JSON.parse(pieces.join(''))));
  for (const line of lines) renderer.add((line as { message: SessionMessage }).message, []);
  renderer.close();
  return chat;
}

const turn = (more: Partial<ChatMessage>) => ({ role: 'assistant', type: 'bot', content: '', ...more });
const toolCall = (id: string, name: string, args: string) => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});

describe('a conversation rendered as chat', () => {
  it('gives instructions and checkpoints to the system, and what was told to the user', () => {
    expect(
      render(
        message({ type: 'instructions', text: 'i' }),
        checkpoint('c'),
        user('u'),
        message({ type: 'nudge', text: 'n' }),
      ),
    ).toEqual([
      { role: 'system', type: 'instructions', content: 'i' },
      { role: 'system', type: 'checkpoint', content: 'c' },
      { role: 'user', type: 'user', content: 'u' },
      { role: 'user', type: 'nudge', content: 'n' },
    ]);
  });

  it('folds reasoning, text and calls into one assistant turn', () => {
    expect(
      render(
        reasoning('first'),
        reasoning('second'),
        bot('I look.'),
        request('c1', 'read', '{"path": "a"}'),
        request('c2', 'list', ''),
      ),
    ).toEqual([
      turn({
        content: 'I look.',
        reasoning: 'first\n\nsecond',
        tool_calls: [toolCall('c1', 'read', '{"path": "a"}'), toolCall('c2', 'list', '')] as never,
      }),
    ]);
  });

  it('closes a turn with whatever else comes, an answer too', () => {
    const chat = render(...call('c1', 'read', {}), ...call('c2', 'read', {}), user('go on'), reasoning('r'));
    expect(chat.map((said) => said.role)).toEqual(['assistant', 'tool', 'assistant', 'tool', 'user', 'assistant']);
    expect(chat.at(-1)).toEqual(turn({ reasoning: 'r' }));
  });

  it('opens a new turn for text when the open one has text or calls', () => {
    expect(render(bot('one'), bot('two'), request('c', 'read', '{}'), bot('three'))).toEqual([
      turn({ content: 'one' }),
      turn({ content: 'two', tool_calls: [toolCall('c', 'read', '{}')] as never }),
      turn({ content: 'three' }),
    ]);
  });

  it('folds reasoning that comes late into the turn that is open', () => {
    expect(render(bot('said'), reasoning('thought'))).toEqual([turn({ content: 'said', reasoning: 'thought' })]);
  });

  it('takes the summaries of the reasoning state when there is no other reasoning', () => {
    const reasoning_items = [
      { id: 'r1', summary: [{ type: 'summary_text', text: '  one \n' }, { text: '   ' }, { text: 7 }] },
      { id: 'r2', summary: [{ type: 'summary_text', text: 'two' }] },
      { id: 'r3', summary: 'none' },
      null,
    ];
    const asked = request('c', 'read', '{}', { reasoning_items });
    expect(render(asked)[0]?.reasoning).toBe('one\n\ntwo');
    expect(render(reasoning('own'), asked)[0]?.reasoning).toBe('own');
    expect(render(request('c', 'read', '{}', { reasoning_items: [{ summary: [] }] }))[0]).not.toHaveProperty(
      'reasoning',
    );
  });

  it.each([
    ['a failure before a result', { failure: 'no such file', result: 'x' }, 'no such file'],
    ['a string as it is', { result: ' two\nlines ' }, ' two\nlines '],
    ['nothing for null', { result: null }, ''],
    ['nothing for none', {}, ''],
    ['compact JSON for the rest', { result: { a: [1, 2], b: 'c' } }, '{"a":[1,2],"b":"c"}'],
    ['false as JSON', { result: false }, 'false'],
    ['zero as JSON', { result: 0 }, '0'],
  ])('answers with %s', (_, more, content) => {
    expect(render(response('c1', 'read', more))).toEqual([
      { role: 'tool', type: 'activity', content, tool_call_id: 'c1', name: 'read' },
    ]);
  });

  it('survives a result nested deeper than the stack', () => {
    const deep = JSON.parse(`${'['.repeat(200_000)}${']'.repeat(200_000)}`);
    expect(render(response('c1', 'read', { result: deep }))[0]?.content).toBe('');
  });

  it('says nothing for an activity without one, and leaves the turn open', () => {
    expect(render(bot('a'), message({ type: 'activity', text: 'lost' }), reasoning('r'))).toEqual([
      turn({ content: 'a', reasoning: 'r' }),
    ]);
  });

  it('gives any other activity to the user', () => {
    expect(render(message({ type: 'activity', text: 'now', activity: { kind: 'trigger' } }))).toEqual([
      { role: 'user', type: 'activity', content: 'now' },
    ]);
  });

  it('keeps the text of an attachment whose images are lost', () => {
    expect(render(attachment('/tmp/a.png'))).toEqual([
      { role: 'user', type: 'attachment', content: [{ type: 'text', text: '/tmp/a.png' }] },
    ]);
  });

  it('writes the keys in their order and leaves out what is not there', () => {
    const [said] = render(request('c', 'read', '{}'), reasoning('late'));
    expect(Object.keys(said as ChatMessage)).toEqual(['role', 'type', 'content', 'reasoning', 'tool_calls']);
    const [, answered] = render(...call('c', 'read', {}));
    expect(Object.keys(answered as ChatMessage)).toEqual(['role', 'type', 'content', 'tool_call_id', 'name']);
  });
});
