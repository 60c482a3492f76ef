// Follows the line: prints the log as it grows, and when something changed asks for this page again and changes the parts that differ.

(() => {
  const what = document.body.dataset.live;
  if (what === undefined) return;
  const paper = document.getElementById('paper');
  const follow = document.getElementById('follow');
  const clock = new Intl.DateTimeFormat('en-GB', { timeZone: paper?.dataset.zone, timeStyle: 'medium' });
  const MOST_LINES = 2000;
  const LEAST_BETWEEN = 600;
  let version = Number(document.body.dataset.version);
  let shift = paper?.dataset.from.split('@')[0] ?? '';
  let asked = 0;
  let timer = null;

  const toEnd = () => {
    if (paper && (!follow || follow.checked)) paper.scrollTop = paper.scrollHeight;
  };

  function timeOf(at) {
    const date = new Date(at);
    return Number.isNaN(date.getTime()) ? '' : clock.format(date);
  }

  function span(name, text) {
    const element = document.createElement('span');
    element.className = name;
    element.textContent = text;
    return element;
  }

  function print(line) {
    const item = document.createElement('li');
    item.dataset.level = line.level;
    if (line.activity) item.dataset.activity = line.activity;
    if (shift !== '' && line.shift !== shift) item.className = 'begins';
    shift = line.shift;
    item.append(
      span('at', timeOf(line.at)),
      ' ',
      span('from', line.station || line.activity || ''),
      ' ',
      span('text', line.text),
    );
    paper.append(item);
    while (paper.children.length > MOST_LINES) paper.firstElementChild.remove();
    toEnd();
  }

  function announce(text) {
    document.getElementById('announce').textContent = text;
  }

  /** A list that grows: items are told apart by their ids, and one that is the same stays, unfolded and scrolled as it is. */
  function grow(old, next) {
    const there = new Map([...old.children].map((item) => [item.id, item]));
    const items = [...next.children].map((item) => {
      const known = there.get(item.id);
      // What the visitor unfolded is no difference.
      const drawn = known?.cloneNode(true);
      for (const each of drawn?.querySelectorAll('details[open]') ?? []) each.open = false;
      return drawn?.isEqualNode(item) ? known : item;
    });
    for (const gone of there.values()) if (!items.includes(gone)) gone.remove();
    items.forEach((item, at) => {
      if (old.children[at] !== item) old.insertBefore(item, old.children[at] ?? null);
    });
  }

  const partOf = (page, name) => page.querySelector(`[data-part="${name}"]`);

  /** A part that the page had not until now goes where the new page has it: after the part before it. */
  function insert(part) {
    let before = part.previousElementSibling;
    while (before && !(before.dataset.part && partOf(document, before.dataset.part)))
      before = before.previousElementSibling;
    const copy = part.cloneNode(true);
    if (before) partOf(document, before.dataset.part).after(copy);
    else document.getElementById('main').prepend(copy);
  }

  /** Puts the new page's parts in the place of those that differ; keeps what has the focus and what is unfolded. */
  function change(html) {
    const fresh = new DOMParser().parseFromString(html, 'text/html');
    for (const old of document.querySelectorAll('[data-part]')) {
      const next = partOf(fresh, old.dataset.part);
      if (!next) old.remove();
      else if ('grow' in old.dataset) grow(old, next);
      else if (old.innerHTML !== next.innerHTML || old.dataset.state !== next.dataset.state)
        replace(old, next.cloneNode(true));
    }
    for (const next of fresh.querySelectorAll('[data-part]')) {
      if (!partOf(document, next.dataset.part)) insert(next);
    }
    document.title = fresh.title;
    version = Number(fresh.body.dataset.version);
  }

  function replace(old, next) {
    const focused = old.contains(document.activeElement) ? document.activeElement.id : '';
    const unfolded = [...old.querySelectorAll('details')].map((each) => each.open);
    const along = old.querySelector('.chart')?.scrollLeft;
    old.replaceWith(next);
    if (along !== undefined) next.querySelector('.chart').scrollLeft = along;
    [...next.querySelectorAll('details')].forEach((each, at) => {
      each.open = unfolded[at] ?? false;
    });
    if (focused) document.getElementById(focused)?.focus();
  }

  async function refresh() {
    timer = null;
    asked = Date.now();
    try {
      const response = await fetch(location.href, { headers: { accept: 'text/html' } });
      if (response.redirected) location.reload();
      else if (response.ok) change(await response.text());
    } catch {
      // The factory is being restarted: the events come again when it is back.
    }
  }

  function refreshSoon() {
    if (timer === null) timer = setTimeout(refresh, Math.max(0, asked + LEAST_BETWEEN - Date.now()));
  }

  const from = paper?.dataset.from ?? document.body.dataset.from;
  const query = new URLSearchParams();
  if (what === 'pages') query.set('log', 'no');
  else if (from) query.set('from', from);
  if (what !== 'line' && what !== 'pages') query.set('shift', what);
  const events = new EventSource(`/api/live?${query}`);
  events.addEventListener('log', ({ data }) => {
    const line = JSON.parse(data);
    if (paper) print(line);
    const doing = document.getElementById('doing');
    if (line.activity && doing) doing.textContent = line.text;
    if ('redraw' in document.body.dataset) refreshSoon();
    if (!line.activity && line.station) announce(`${line.station}: ${line.text}`);
  });
  events.addEventListener('line', ({ data }) => {
    if (JSON.parse(data).version !== version) refreshSoon();
  });
  events.addEventListener('end', () => {
    events.close();
    refreshSoon();
  });
  document.addEventListener('room-changed', refreshSoon);
  toEnd();
  // The newest shift is at the right end of the paper.
  for (const chart of document.querySelectorAll('.chart')) chart.scrollLeft = chart.scrollWidth;
})();
