// Reads the catalogue, and treats every word in it as a stranger's: it becomes text, never markup.
// Classic scripts that share one name, because modules load neither from disk nor in a sandbox without an origin.
globalThis.shelf = (() => {
  // The slug becomes part of an address, so it has to have the catalogue's own form.
  const SLUG = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
  const COLOUR = /^#[0-9a-f]{6}$/i;

  const byId = (id) => document.getElementById(id);

  /** Makes an element: attributes by name, children as elements or as text. */
  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }

  /** The entries that can be shown, oldest first, with every field made a string or a list of strings. */
  function readCatalogue(json) {
    if (!Array.isArray(json)) throw new TypeError('machines.json is not a list');
    const word = (value) => (typeof value === 'string' ? value.trim() : '');
    const words = (value) => (Array.isArray(value) ? value.map(word).filter(Boolean) : []);
    return json.flatMap((entry, index) => {
      if (!entry || typeof entry !== 'object' || !SLUG.test(word(entry.slug))) return [];
      const machine = { number: index + 1, slug: word(entry.slug) };
      for (const key of ['name', 'kind', 'domain', 'era', 'design', 'interaction', 'tagline', 'created']) {
        machine[key] = word(entry[key]);
      }
      for (const key of ['controls', 'faults', 'palette']) machine[key] = words(entry[key]);
      machine.name ||= machine.slug;
      machine.palette = machine.palette.filter((colour) => COLOUR.test(colour));
      machine.text = [machine.slug, machine.name, machine.kind, machine.domain, machine.era, machine.design]
        .concat(machine.interaction, machine.tagline, machine.controls, machine.faults)
        .join(' ')
        .toLowerCase();
      return [machine];
    });
  }

  const address = (machine) => `machines/${machine.slug}/`;

  const FROM_DISK =
    'This page was opened from disk, where a browser lets it read no list. Serve the folder instead, ' +
    'for example with "npx serve site" or "python3 -m http.server --directory site". ' +
    'Every machine also runs from disk by itself: open machines/<its name>/index.html.';

  /** Fetches machines.json beside the page. An error's message is what the visitor is told. */
  async function load() {
    if (location.protocol === 'file:') throw new Error(FROM_DISK);
    const answer = await fetch('machines.json', { cache: 'no-cache' }).catch(() => null);
    if (!answer) throw new Error('The list of machines, machines.json, could not be reached. Reload to try again.');
    if (!answer.ok) throw new Error(`The list of machines, machines.json, could not be read (${answer.status}).`);
    const json = await answer.json().catch(() => undefined);
    if (json === undefined) throw new Error('The list of machines, machines.json, is not valid JSON.');
    return readCatalogue(json);
  }

  /** Tells the visitor one thing above the shelf, or nothing. */
  function say(message) {
    byId('notice').textContent = message;
    byId('notice').hidden = message === '';
  }

  return { byId, make, say, address, load };
})();
