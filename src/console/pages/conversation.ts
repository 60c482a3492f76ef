import type { ChatMessage } from '../../trajectory/types.ts';
import { type Conversation, type Look, TURNS_A_PAGE, callLine } from '../conversation.ts';
import { type Html, html, nothing, plural } from '../parts/html.ts';
import { type Frame, heading, page } from '../parts/layout.ts';

/** Longer text is cut on the page; the row itself is a download. */
const LONGEST = 20_000;
/** An image as a row names it. */
export const IMAGE = /^images\/([0-9a-f]{64}\.(?:png|jpg|gif|webp|bin))$/;

const cut = (text: string) =>
  text.length <= LONGEST
    ? text
    : `${text.slice(0, LONGEST)}\n… ${text.length - LONGEST} more characters are in the row`;

const text = (value: unknown) => (typeof value === 'string' ? value : '');

/** A row turn by turn: calls folded, images where the model saw them. */
export function conversationPage(frame: Frame, id: string, { keys, messages, total }: Conversation, at: number): Html {
  const chain = Array.isArray(keys.chain) ? keys.chain.map(text) : [];
  const run = text((keys.machinery as { run?: unknown } | undefined)?.run);
  const shift = /(\d{8}-\d{6}(?:-\d+)?)$/.exec(run)?.[1];
  const outcome = (keys.outcome as { reason?: unknown } | undefined)?.reason;
  const body = html`${heading(html`Row ${id}`, html`<p class="asked">${plural(total, 'turn')}, ${text(keys.model)} of ${text(keys.provider)}, ${text(outcome) || 'cut short'}</p>`)}
<p class="ways">${shift ? html`<a href="/shifts/${shift}">The shift</a> ` : nothing}<a href="/rows/${id}/critiques">Where it looked at its design</a> <a href="/rows/${id}/${id}.jsonl" download>The row itself</a></p>
${chain.length > 1 ? html`<p>Chain: ${chain.map((link, n) => html`${n > 0 ? ' → ' : ''}${link === id ? link : html`<a href="/rows/${link}">${link}</a>`}`)}</p>` : nothing}
${at === 1 && text(keys.task) ? html`<details class="task"><summary>The order, as the agent was given it</summary><p class="pre">${cut(text(keys.task))}</p></details>` : nothing}
<ol class="turns" start="${(at - 1) * TURNS_A_PAGE + 1}">${messages.map(({ at: number, message }) => turn({ id: `turn-${number + 1}`, mark: String(number + 1), images: imagesOf(id) }, message))}</ol>
${pager(id, at, Math.ceil(total / TURNS_A_PAGE))}`;
  return page(frame, { title: `Row ${id}`, at: 'Rows', body });
}

const WHO = { system: 'told', user: 'factory', assistant: 'agent', tool: 'tool' } as const;

/** How a turn is named on its page, and where its images are. */
export interface Turn {
  id: string;
  mark: string;
  /** The address that an image's name is put after. */
  images: string;
}

const imagesOf = (row: string) => `/rows/${row}/images/`;

export function turn({ id, mark, images }: Turn, message: ChatMessage): Html {
  const { role, type, content, reasoning, tool_calls: calls = [] } = message;
  const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  const words = html`${parts.map((part) =>
    part.type === 'image'
      ? image(images, part.image)
      : part.text === ''
        ? nothing
        : html`<p class="pre">${cut(part.text)}</p>`,
  )}`;
  return html`<li id="${id}" class="turn" data-role="${role}">
<p class="whose"><a href="#${id}">${mark}</a> ${WHO[role] ?? role}${type === 'checkpoint' ? ' (summary of what came before)' : ''}${message.name ? html` <code>${message.name}</code>` : nothing}</p>
${reasoning ? html`<details><summary>thought</summary><p class="pre">${cut(reasoning)}</p></details>` : nothing}
${role === 'tool' ? html`<details><summary>${firstLine(parts)}</summary>${words}</details>` : words}
${calls.map(({ function: { name, arguments: args } }) => html`<details class="call"><summary><code>${callLine(name, args)}</code></summary><p class="pre">${cut(args)}</p></details>`)}
</li>`;
}

function firstLine(parts: readonly { type: string; text?: string }[]): string {
  const words = parts.find(({ type }) => type === 'text')?.text ?? '';
  return words.split('\n', 1)[0]?.slice(0, 120) || 'nothing';
}

function image(images: string, path: string): Html {
  const name = IMAGE.exec(path)?.[1];
  if (name === undefined) return html`<p class="small">an image that is not named as one</p>`;
  return html`<a class="seen" href="${images}${name}"><img src="${images}${name}" alt="What the model saw" loading="lazy"></a>`;
}

function pager(id: string, at: number, pages: number): Html {
  if (pages < 2) return nothing;
  return html`<nav class="pager" aria-label="Pages">${at > 1 ? html`<a href="/rows/${id}?page=${at - 1}">Earlier</a>` : nothing}
<span>Page ${at} of ${pages}</span>
${at < pages ? html`<a href="/rows/${id}?page=${at + 1}">Later</a>` : nothing}</nav>`;
}

/** Design-critique turns: what it saw, what it then said, what it then changed, side by side. */
export function critiquesPage(frame: Frame, id: string, critiques: readonly Look[]): Html {
  const body = html`${heading(html`Row ${id}`, html`<p class="asked">${plural(critiques.length, 'look', 'looks')} at its design</p>`)}
<p class="ways"><a href="/rows/${id}">The whole conversation</a></p>
${critiques.length === 0 ? html`<p class="empty">It never looked.</p>` : nothing}
${critiques.map(
  ({ at, path, image: shown, said, reasoning: thought, did }) => html`<article class="critique">
<div class="saw"><h2 class="tag">Saw</h2>${shown ? image(imagesOf(id), shown) : html`<p class="empty">the image was lost</p>`}<p class="small"><code>${path}</code></p></div>
<div class="then"><h2 class="tag">Then said</h2>${said ? html`<p class="pre">${cut(said)}</p>` : html`<p class="empty">nothing</p>`}${thought ? html`<details><summary>thought</summary><p class="pre">${cut(thought)}</p></details>` : nothing}</div>
<div class="did"><h2 class="tag">Then did</h2>${did.length === 0 ? html`<p class="empty">nothing more</p>` : html`<ul>${did.map((line) => html`<li><code>${line}</code></li>`)}</ul>`}<p class="small"><a href="/rows/${id}?page=${Math.floor(at / TURNS_A_PAGE) + 1}#turn-${at + 1}">turn ${at + 1}</a></p></div>
</article>`,
)}`;
  return page(frame, { title: `Row ${id}, looks`, at: 'Rows', body });
}
