import { SECRET_VARIABLES } from './secrets.ts';
import { listSettings } from './variables.ts';

const preset = (value: unknown) => {
  if (value === undefined) return 'unset';
  if (Array.isArray(value))
    return value.length === 0 ? 'none' : value.length > 6 ? `${value.length} words` : value.join(', ');
  return `\`${String(value)}\``;
};

/** docs/configuration.md: every setting, made from the schema itself, so that the page cannot say something else. */
export function configurationReference(): string {
  const rows = listSettings().map(({ key, variable, about, preset: value, allowed }) => {
    const choice = allowed ? ` One of ${allowed.map((word) => `\`${word}\``).join(', ')}.` : '';
    return `| \`${key}\` | \`${variable}\` | ${preset(value)} | ${about}${choice} |`;
  });
  const secrets = Object.entries(SECRET_VARIABLES).map(([name, about]) => `| \`${name}\` | ${about} |`);
  return `# Configuration

\`factory.yaml\` at the root, overridden by environment variables, overridden by flags. All mistakes are told at once, each with
its key and line. \`machinery config\` prints what the factory would work with. This page is printed by \`machinery config --reference\`.

Durations are written \`90s\`, \`85m\`, \`2h\`, \`30d\`; sizes \`500MB\`, \`2GB\`. In a variable, a list is separated by commas.

| key | variable | default | what it is for |
|---|---|---|---|
${rows.join('\n')}

Also: \`MACHINERY_CONFIG\` names another \`factory.yaml\`; \`MACHINERY_DATA\` the data folder (default \`.machinery/\` beside it);
\`CHROMIUM_PATH\` the browser; \`ZOT_PATH\` the external harness.

## Secrets

Only from the environment, never from \`factory.yaml\`. Each may be given as \`<NAME>_FILE\`, naming a file whose text is the value.
The addresses of \`webhooks\` are secrets too, so \`MACHINERY_WEBHOOKS_FILE\` may name a file of them, one a line. In a
\`factory.yaml\` that is committed, the agent and whoever reads the repository see them.

| variable | what it is |
|---|---|
${secrets.join('\n')}
`;
}
