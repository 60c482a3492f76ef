// The rack: a bay for each machine, and the few panels that run at a time.
(() => {
  const { byId, make, address } = globalThis.shelf;

  // A preview is a whole simulation. This many run at once, however large the screen.
  const LIVE_LIMIT = 9;
  // A preview is laid out as on the desktop and scaled down to its bay.
  const PREVIEW_WIDTH = 1440;
  // Panels start once the shelf has stood still for so long: flung past, a bay keeps its shutter closed.
  const STILL_MS = 160;

  /** One bay: the panel (behind its shutter until it runs) and the bin card on the shelf's edge. */
  function makeBay(machine, newest) {
    const bay = make('li', { class: 'bay', id: `bay-${machine.slug}` });
    const view = make('div', { class: 'view', inert: '', 'aria-hidden': 'true' }, make('div', { class: 'shutter' }));
    const [chassis, accent] = machine.palette;
    if (chassis) bay.style.setProperty('--chassis', chassis);
    if (accent) bay.style.setProperty('--accent', accent);

    const title = make('h3', {}, make('a', { class: 'take', href: address(machine) }, machine.name));
    const chips = make('span', { class: 'chips', 'aria-hidden': 'true' });
    for (const colour of machine.palette.slice(0, 6)) {
      const chip = make('span', {});
      chip.style.background = colour;
      chips.append(chip);
    }
    const facts = make('dl', {});
    const fact = (label, ...value) => facts.append(make('div', {}, make('dt', {}, label), make('dd', {}, ...value)));
    fact('From', [machine.domain, machine.era].filter(Boolean).join(', ') || 'unknown');
    fact('Received', machine.created || 'unknown');
    fact('Controls', String(machine.controls.length));
    fact('Faults', String(machine.faults.length));

    const card = make('div', { class: 'card' });
    card.append(make('p', { class: 'number' }, 'No. ', make('b', {}, String(machine.number).padStart(3, '0'))));
    if (newest) card.append(make('p', { class: 'stamp' }, 'Just in'));
    card.append(title, make('p', { class: 'kind' }, machine.kind), make('p', { class: 'tagline' }, machine.tagline));
    const manual = make('a', { class: 'manual', href: `${address(machine)}manual.html` }, 'Manual');
    manual.setAttribute('aria-label', `Manual of ${machine.name}`);
    card.append(facts, make('p', { class: 'card-foot' }, chips, manual));
    bay.append(view, card);
    return bay;
  }

  /** Opens a bay: its machine runs, alone in its own origin, with nothing but scripts allowed to it. */
  function mount(bay) {
    const view = bay.element.querySelector('.view');
    if (view.querySelector('iframe')) return;
    const frame = make('iframe', { sandbox: 'allow-scripts', title: `Panel of ${bay.machine.name}`, scrolling: 'no' });
    frame.addEventListener('load', () => view.classList.add('open'), { once: true });
    frame.src = `${address(bay.machine)}index.html`;
    view.prepend(frame);
  }

  function unmount(bay) {
    const view = bay.element.querySelector('.view');
    view.classList.remove('open');
    view.querySelector('iframe')?.remove();
  }

  /** Keeps the bays nearest the middle of the screen running, and no more of them than the limit. */
  function arrangePreviews(near, all) {
    const middle = innerHeight / 2;
    const distance = (bay) => {
      const box = bay.element.getBoundingClientRect();
      return Math.abs(box.top + box.height / 2 - middle);
    };
    const running = byId('live').checked
      ? [...near].filter((bay) => !bay.element.hidden).map((bay) => [distance(bay), bay])
      : [];
    const chosen = new Set(
      running
        .sort((a, b) => a[0] - b[0])
        .slice(0, LIVE_LIMIT)
        .map((pair) => pair[1]),
    );
    for (const bay of all) if (!chosen.has(bay)) unmount(bay);
    for (const bay of chosen) mount(bay);
  }

  function showRack(machines) {
    const rack = byId('rack');
    const newest = machines.at(-1);
    const bays = machines.toReversed().map((machine) => ({ machine, element: makeBay(machine, machine === newest) }));
    rack.append(...bays.map((bay) => bay.element));

    const near = new Set();
    const arrange = () => arrangePreviews(near, bays);
    let pending = 0;
    const arrangeWhenStill = () => {
      clearTimeout(pending);
      pending = setTimeout(arrange, STILL_MS);
    };
    addEventListener('scroll', arrangeWhenStill, { passive: true });
    const byElement = new Map(bays.map((bay) => [bay.element.querySelector('.view'), bay]));
    const watcher = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) {
          const bay = byElement.get(entry.target);
          if (entry.isIntersecting) near.add(bay);
          else if (near.delete(bay)) unmount(bay);
        }
        arrangeWhenStill();
      },
      { rootMargin: '160px 0px' },
    );
    for (const view of byElement.keys()) watcher.observe(view);
    byId('live').addEventListener('change', arrange);

    // All bays are as wide as the first one that is shown.
    new ResizeObserver(() => {
      const width = bays.find((bay) => !bay.element.hidden)?.element.querySelector('.view').clientWidth;
      if (width) rack.style.setProperty('--scale', String(width / PREVIEW_WIDTH));
    }).observe(rack);
    return { bays, arrange };
  }

  globalThis.shelf.showRack = showRack;
})();
