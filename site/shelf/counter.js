// The counter: the slip that filters the rack, and the board of places taken and free.
(() => {
  const { byId, make, say, address } = globalThis.shelf;

  /** The board and the counts. A domain's or an era's own key asks the slip for it, or for any again. */
  function showBoard(machines, domains, eras) {
    const placed = machines.filter((machine) => machine.domain && machine.era);
    const taken = new Map(placed.map((machine) => [`${machine.domain} ${machine.era}`, machine]));
    const header = (scope, key, word) => {
      const button = make(
        'button',
        { type: 'button', 'aria-pressed': 'false', 'data-key': key, 'data-word': word },
        word,
      );
      button.addEventListener('click', () => {
        const select = byId(key);
        select.value = select.value === word ? '' : word;
        select.dispatchEvent(new Event('input', { bubbles: true }));
      });
      return make('th', { scope }, button);
    };
    byId('board-eras').append(...eras.map((era) => header('col', 'era', era)));
    for (const domain of domains) {
      const row = make('tr', {}, header('row', 'domain', domain));
      for (const era of eras) {
        const machine = taken.get(`${domain} ${era}`);
        const cell = make('td', {});
        if (machine) {
          const disc = make(
            'a',
            { class: 'disc', href: address(machine), title: machine.name },
            String(machine.number),
          );
          disc.setAttribute('aria-label', `${machine.name}: ${domain}, ${era}`);
          cell.append(disc);
        } else cell.append(make('span', { class: 'unseen' }, 'free'));
        row.append(cell);
      }
      byId('board-domains').append(row);
    }
    const places = domains.length * eras.length;
    byId('count-machines').textContent = String(machines.length);
    byId('count-places').textContent = String(taken.size);
    byId('count-free').textContent = String(places - taken.size);
  }

  function fillChoices(select, list, machines, key) {
    for (const word of list) {
      const count = machines.filter((machine) => machine[key] === word).length;
      select.append(make('option', { value: word }, `${word} (${count})`));
    }
  }

  /** Hides what the slip does not ask for, says how many are left, and keeps the wish in the page's address. */
  function applySlip(slip, bays) {
    const wish = { q: slip.q.value.trim(), domain: slip.domain.value, era: slip.era.value };
    const wanted = wish.q.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const { machine, element } of bays) {
      const fits =
        (!wish.domain || machine.domain === wish.domain) &&
        (!wish.era || machine.era === wish.era) &&
        wanted.every((word) => machine.text.includes(word));
      element.hidden = !fits;
      if (fits) found += 1;
    }
    const of = `${bays.length} ${bays.length === 1 ? 'machine' : 'machines'}`;
    byId('found').textContent = found === bays.length ? `All ${of}` : `${found} of ${of}`;
    say(
      found === 0 && bays.length > 0 ? 'Nothing on the shelf answers to that. Clear the slip to see everything.' : '',
    );
    for (const button of document.querySelectorAll('#board button')) {
      button.setAttribute('aria-pressed', String(wish[button.dataset.key] === button.dataset.word));
    }
    const query = new URLSearchParams(Object.entries(wish).filter(([, value]) => value)).toString();
    try {
      history.replaceState(null, '', query ? `?${query}` : location.pathname + location.hash);
    } catch {
      // Where the page has no origin of its own (a sandbox), the wish is not kept. Nothing else depends on it.
    }
  }

  /** Fills the slip from the lists and from the page's address, and applies it now and whenever it changes. */
  function showSlip(machines, domains, eras, { bays, arrange }) {
    const slip = byId('slip').elements;
    fillChoices(slip.domain, domains, machines, 'domain');
    fillChoices(slip.era, eras, machines, 'era');
    const asked = new URLSearchParams(location.search);
    for (const key of ['q', 'domain', 'era']) slip[key].value = asked.get(key) ?? '';
    // A word that no list has leaves its select empty; "any" is what it should say.
    for (const key of ['domain', 'era']) if (slip[key].selectedIndex < 0) slip[key].value = '';

    const apply = () => {
      applySlip(slip, bays);
      arrange();
    };
    byId('slip').addEventListener('input', (event) => event.target.id !== 'live' && apply());
    byId('slip').addEventListener('submit', (event) => event.preventDefault());
    byId('slip').addEventListener('reset', (event) => {
      event.preventDefault();
      for (const key of ['q', 'domain', 'era']) slip[key].value = '';
      apply();
    });
    apply();
  }

  Object.assign(globalThis.shelf, { showBoard, showSlip });
})();
