import type { Finding } from '../../gates/finding.ts';
import { type RuleGroup, shotFor } from '../shift-files.ts';
import { type Html, html, nothing } from './html.ts';

/** Findings by rule, each group beside the screenshot that shows what it is about. */
export function findingGroups(shift: string, groups: readonly RuleGroup[], shots: readonly string[]): Html {
  return html`${groups.map((group) => {
    const shot = shotFor(group.rule, group.findings[0]?.machine ?? '', shots);
    return html`<article class="finding" data-severity="${group.severity}">
<div class="said"><h3><span class="severity">${group.severity}</span> <code>${group.rule}</code> <span class="gate">${group.gate}</span></h3>
<ul>${group.findings.map(oneFinding)}</ul></div>
${shot ? html`<a class="shot" href="/shifts/${shift}/${shot}"><img src="/shifts/${shift}/${shot}" alt="Screenshot ${shot}" loading="lazy"></a>` : nothing}
</article>`;
  })}`;
}

function oneFinding({ machine, message, file, line }: Finding): Html {
  const place = file ? html` <code class="place">${file}${line ? `:${line}` : ''}</code>` : nothing;
  return html`<li>${machine ? html`<b>${machine}</b> ` : nothing}<span class="pre">${message}</span>${place}</li>`;
}
