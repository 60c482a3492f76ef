// Follows the line: prints the log as it grows, and when something changed asks for this page again and changes the parts that differ.

(() => {
  const what = document.body.dataset.live;
  if (what === undefined) return;
  const paper = document.getElementById('paper');
  const follow = document.getElementById('follow');
  const MOST_LINES = 2000;
  const LEAST_BETWEEN = 600;
  let version = Number(document.body.dataset.version);
  let shift = paper?.dataset.from.split('@')[0] ?? '';
  let asked = 0;
  let timer = null;

  const toEnd = () => {
    if (paper && (!follow || follow.checked)) paper.scrollTop = paper.scrollHeight;
  };

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
      span('at', line.at.slice(11, 19)),
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

  /** Puts the new page's parts in the place of those that differ; keeps what has the focus and what is unfolded. */
  function change(html) {
    const fresh = new DOMParser().parseFromString(html, 'text/html');
    for (const old of document.querySelectorAll('[data-part]')) {
      const next = fresh.querySelector(`[data-part="${old.dataset.part}"]`);
      if (!next) {
        old.hidden = true;
        continue;
      }
      if (old.innerHTML === next.innerHTML && old.dataset.state === next.dataset.state) continue;
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
    document.title = fresh.title;
    version = Number(fresh.body.dataset.version);
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

  const query = new URLSearchParams();
  if (what === 'pages') query.set('log', 'no');
  else if (paper?.dataset.from) query.set('from', paper.dataset.from);
  if (what !== 'line' && what !== 'pages') query.set('shift', what);
  const events = new EventSource(`/api/live?${query}`);
  events.addEventListener('log', ({ data }) => {
    const line = JSON.parse(data);
    if (paper) print(line);
    const doing = document.getElementById('doing');
    if (line.activity && doing) doing.textContent = line.text;
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
