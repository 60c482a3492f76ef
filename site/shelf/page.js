// Puts the page together once the catalogue is read.
(() => {
  const { byId, say, load, showRack, showBoard, showSlip } = globalThis.shelf;

  const DOMAINS = (
    'aerospace agriculture aviation broadcast chemical civic cold-chain data-centre deep-sea energy laboratory marine ' +
    'medical military mining nuclear oil-and-gas power-grid rail road space telecom theatre water weather'
  ).split(' ');
  const ERAS = '1920s 1940s 1950s 1960s 1970s 1980s 1990s 2000s 2020s speculative'.split(' ');

  /** The lists of the factory, and after them any word the catalogue has beyond them (the lists can be widened). */
  function widen(list, machines, key) {
    return [...new Set([...list, ...machines.map((machine) => machine[key]).filter(Boolean)])];
  }

  async function open() {
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
    byId('live').checked = !still && !navigator.connection?.saveData;
    const { machines, trouble } = await load().then(
      (machines) => ({ machines, trouble: '' }),
      (error) => ({ machines: [], trouble: error.message }),
    );
    const domains = widen(DOMAINS, machines, 'domain');
    const eras = widen(ERAS, machines, 'era');
    const rack = showRack(machines);
    showBoard(machines, domains, eras);
    showSlip(machines, domains, eras, rack);
    if (machines.length === 0) say(trouble || 'The shelf is empty. The first shift that lands puts a machine here.');
    document.documentElement.dataset.ready = 'true';
  }

  open();
})();
