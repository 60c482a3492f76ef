/* Saltersgate Cliff Lift. Two cars on one rope; the upper car takes on water until it is the heavier, and gravity does the rest. */
(function () {
  'use strict';

  /* ------------------------------------------------------------------ the line, in SI units */
  const STEP = 0.05; // seconds; every tick is cut into these, so 10 x 1 s and 1 x 10 s are the same run
  const LENGTH = 84; // metres of travel
  const PULL = 9.81 * 0.55; // newtons along the rail for each kilogram of overbalance
  const CWT = 50.8; // kilograms
  const TANK = 2500; // litres in a car's ballast tank
  const CISTERN = 12000;
  const SUMP = 8000;
  const VOLTS = 220;
  const STUDS = [0, 8, 5, 3.2, 2, 1.2, 0.6]; // ohms left in circuit at each stud; none at OFF
  const FAULTS = ['Weed on screen', 'Plug off seat', 'Governor belt off', 'Sea fret'];

  const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
  const toward = (from, to, seconds, lag) => from + (to - from) * (1 - Math.exp(-seconds / lag));

  function cold() {
    return {
      clock: 9 * 3600 + 40 * 60,
      carry: 0, // seconds not yet ticked
      dice: 1926,
      home: 0, // index of the car that is, or was last, at the upper station
      u: 0, // metres the home car has descended
      v: 0,
      tanks: [300, 0],
      aboard: [0, 0],
      alight: [0, 0],
      queue: [3, 2], // upper, lower landing
      nextGuest: 6,
      boarding: 0,
      cistern: 4700,
      sump: 5200,
      fill: 0,
      fillFlow: 0,
      brake: 10,
      chain: false,
      snatches: 0,
      gates: false, // locked
      starter: 0,
      omega: 0, // pump, radians a second
      amps: 0,
      flow: 0,
      prime: 0.04,
      overload: 0,
      resistors: 0,
      dry: 0,
      blocks: 14, // brake blocks, degrees Celsius
      wet: 0.05,
      fret: 0,
      sand: 0,
      sandbox: 100,
      belt: 1, // governor belt tension
      foul: 0.05,
      gripped: false,
      struck: false,
      guard: false,
      guardDrop: 0,
      call: 0, // 0 shut, 1 called, 2 clear
      answer: 0,
      uncleared: false,
      trips: 0,
      carried: 0,
      causes: { weed: false, plug: false, belt: false, fret: false },
      flaps: [],
      ringing: false,
      strokes: 0, // things struck since reset: the sound follows these
    };
  }

  let s = cold();

  function dice() {
    s.dice = (s.dice * 1103515245 + 12345) % 2147483648;
    return s.dice / 2147483648;
  }

  const other = () => 1 - s.home;
  const docked = () => s.u === 0 && s.v === 0;
  const guests = (car) => s.aboard[car] + s.alight[car];
  const grip = () => clamp(1 - 0.62 * s.wet * (1 - s.sand), 0.2, 1);
  const overbalance = () =>
    s.tanks[s.home] - s.tanks[other()] + 70 * (guests(s.home) - guests(other())) + 6 * (s.u - LENGTH / 2);

  /* ------------------------------------------------------------------ one step of everything */
  function step() {
    const h = STEP;
    s.clock = (s.clock + h) % 86400;
    stepWater(h);
    stepPump(h);
    stepCars(h);
    stepRail(h);
    stepGuests(h);
    stepBell(h);
    stepFlaps();
  }

  function stepWater(h) {
    const head = Math.sqrt(clamp(s.cistern / CISTERN, 0, 1));
    const wanted = 150 * (s.fill / 4) * head;
    s.fillFlow = toward(s.fillFlow, wanted, h, 0.5);
    const drawn = Math.min(s.cistern, s.fillFlow * h);
    s.cistern -= drawn;
    // Away from the landing the spout pours on the track, and the rails are the wetter for it.
    const room = docked() ? TANK - s.tanks[s.home] : 0;
    const kept = Math.min(room, drawn);
    s.tanks[s.home] += kept;
    let spilt = drawn - kept;
    if (!docked() && drawn > 0.01) s.wet = clamp(s.wet + 0.02 * h, 0, 1);
    if (s.causes.plug) {
      const lost = Math.min(s.tanks[s.home], 55 * h * Math.sqrt(0.1 + s.tanks[s.home] / TANK));
      s.tanks[s.home] -= lost;
      spilt += lost;
    }
    if (s.chain && docked()) {
      const let_go = Math.min(s.tanks[other()], 190 * h * Math.sqrt(0.06 + s.tanks[other()] / TANK));
      s.tanks[other()] -= let_go;
      spilt += let_go;
    }
    if (s.sump < 2000) spilt += 4 * h; // town main, on a ball valve
    s.sump = Math.min(SUMP, s.sump + spilt); // the rest goes over the sea wall
  }

  function stepPump(h) {
    const ohms = STUDS[s.starter];
    const target = ohms ? (VOLTS - 2.1 * s.omega) / ohms : 0;
    s.amps = toward(s.amps, target, h, 0.06);
    const lift = clamp((s.prime - 0.35) * 2, 0, 1) * (1 - s.foul * 0.97) * (s.sump > 160 ? 1 : 0);
    const load = 0.001 * s.omega * s.omega + 0.004 * s.omega * s.omega * lift;
    s.omega = clamp(s.omega + ((2.1 * s.amps - load - 1.5) / 6) * h, 0, 130);
    s.flow = toward(s.flow, s.omega > 25 ? 62 * (s.omega / 94) * lift : 0, h, 0.8);
    const moved = Math.min(s.sump, s.flow * h);
    s.sump -= moved;
    const over = Math.max(0, s.cistern + moved - CISTERN);
    s.cistern += moved - over;
    s.sump = Math.min(SUMP, s.sump + over); // the weir runs back down the cliff
    if (s.omega > 30 && s.foul > 0.6) s.prime = clamp(s.prime - 0.02 * h, 0, 1);
    else if (s.flow > 15) s.prime = clamp(s.prime + 0.02 * h, 0, 1);
    else s.prime = clamp(s.prime - 0.002 * h, 0, 1);
    s.overload = clamp(s.overload + (s.amps > 45 ? h : -h * 0.5), 0, 2);
    s.resistors = clamp(s.resistors + (s.starter > 0 && s.starter < 6 ? h : -h), 0, 30);
    s.dry = clamp(s.dry + (s.omega > 40 && s.flow < 12 ? h : -h), 0, 60);
    if (s.starter && (s.overload > 0.35 || s.resistors > 24 || s.dry > 40)) {
      s.starter = 0; // the no-volt coil lets go and the arm flies back
      s.strokes += 1;
      drop('PUMP TRIPPED');
    }
    s.foul = s.causes.weed ? toward(s.foul, 1, h, 9) : toward(s.foul, 0.05, h, 4);
  }

  function stepCars(h) {
    const fade = s.blocks < 170 ? 1 : Math.max(0.45, 1 - (s.blocks - 170) / 140);
    const blocks = 30000 * Math.pow(s.brake / 10, 1.6) * grip() * fade;
    const resist = 900 + blocks + (s.gripped ? 46000 : 0);
    const mass = 8500 + s.tanks[0] + s.tanks[1] + 70 * (guests(0) + guests(1));
    const drive = overbalance() * PULL - 1800 * s.v;
    if (Math.abs(s.v) < 0.012 && Math.abs(drive) <= resist) {
      s.v = 0;
    } else {
      const way = s.v === 0 ? Math.sign(drive) : Math.sign(s.v);
      const next = s.v + ((drive - way * resist) / mass) * h;
      s.v = s.v !== 0 && Math.sign(next) !== Math.sign(s.v) ? 0 : next;
    }
    s.blocks += (blocks * Math.abs(s.v) * h) / 28000;
    s.blocks = toward(s.blocks, 14, h, 240);
    s.u += s.v * h;
    if (s.u <= 0) {
      s.u = 0;
      s.v = 0;
    }
    if (s.u > 0.05 && s.call !== 2 && !s.uncleared) {
      s.uncleared = true;
      drop('RAN UNCLEARED');
    }
    if (s.v > 3.2 && s.belt > 0.5 && !s.gripped) {
      s.gripped = true;
      s.strokes += 1;
    }
    if (s.u >= LENGTH) arrive();
    s.belt = s.causes.belt ? toward(s.belt, 0, h, 1.6) : toward(s.belt, 1, h, 0.8);
  }

  function arrive() {
    const guestsHurt = guests(0) + guests(1);
    s.struck = s.struck || s.v > 1.8;
    if (s.struck) s.gripped = true;
    else s.carried += guestsHurt;
    s.trips += 1;
    s.alight = [guests(0), guests(1)];
    s.aboard = [0, 0];
    s.home = other();
    s.u = 0;
    s.v = 0;
    s.call = 0;
    s.uncleared = false;
    s.strokes += 1;
  }

  function stepRail(h) {
    s.fret = toward(s.fret, s.causes.fret ? 1 : 0, h, s.causes.fret ? 11 : 20);
    const damp = 0.05 + 0.95 * s.fret;
    s.wet = toward(s.wet, damp, h, damp > s.wet ? 6 : 30);
    s.sand = clamp(s.sand - 0.0015 * h - 0.004 * Math.abs(s.v) * h, 0, 1);
  }

  function stepGuests(h) {
    s.nextGuest -= h;
    if (s.nextGuest <= 0) {
      s.nextGuest += 5 + 9 * dice();
      const landing = dice() < 0.5 ? 0 : 1;
      s.queue[landing] = Math.min(24, s.queue[landing] + 1 + Math.floor(dice() * 3));
    }
    if (!docked() || s.gates || s.gripped) return;
    s.boarding += h;
    if (s.boarding < 0.9) return;
    s.boarding = 0;
    for (let landing = 0; landing < 2; landing += 1) {
      const car = landing === 0 ? s.home : other();
      if (s.alight[car] > 0) s.alight[car] -= 1;
      else if (s.queue[landing] > 0 && s.aboard[car] < 14) {
        s.queue[landing] -= 1;
        s.aboard[car] += 1;
      }
    }
  }

  function stepBell(h) {
    if (s.call === 1) {
      s.answer -= h;
      if (s.answer <= 0) {
        s.call = 2;
        s.strokes += 1;
      }
    }
    if (docked() && !s.gates) s.call = 0;
    if (s.guard && s.guardDrop > 0) {
      s.guardDrop -= h;
      if (s.guardDrop <= 0) s.guard = false;
    }
  }

  /* ------------------------------------------------------------------ the annunciator */
  const CAUSES = {
    'SAFETY GEAR ON': () => s.gripped,
    'BUFFERS STRUCK': () => s.struck,
    'RAN UNCLEARED': () => s.uncleared && Math.abs(s.v) > 0,
    'GOVERNOR DEAD': () => s.belt < 0.5,
    'RAILS GREASY': () => grip() < 0.65,
    'BRAKES HOT': () => s.blocks > 150,
    'PLUG OFF SEAT': () => s.causes.plug,
    'SCREEN FOUL': () => s.foul > 0.6,
    'PUMP TRIPPED': () => false,
    'WATER OVER': () => s.cistern > CISTERN * 0.985 || s.sump > SUMP * 0.985,
  };

  function drop(flap) {
    if (s.flaps.includes(flap)) return;
    s.flaps.push(flap);
    s.ringing = true;
  }

  function stepFlaps() {
    for (const flap of Object.keys(CAUSES)) if (CAUSES[flap]()) drop(flap);
  }

  /* ------------------------------------------------------------------ what the hands do */
  const acts = {
    fill(value) {
      s.fill = clamp(Math.round(value), 0, 4);
    },
    brake(value) {
      s.brake = clamp(Math.round(value * 2) / 2, 0, 10);
    },
    starter(value) {
      s.starter = clamp(Math.round(value), 0, 6);
    },
    prime() {
      s.prime = clamp(s.prime + 0.21, 0, 1);
    },
    rake() {
      if (s.omega > 12) return; // the suction holds the weed on
      s.foul = clamp(s.foul - 0.34, 0, 1);
      if (s.foul < 0.1) s.causes.weed = false;
    },
    bell() {
      s.strokes += 1;
      if (!docked() || !s.gates || s.gripped || s.call === 2) return;
      s.call = 1;
      s.answer = 3.5;
    },
    gates() {
      if (docked()) s.gates = !s.gates; // the lock is held while a car is on the line
    },
    chain() {
      s.chain = !s.chain;
      if (s.chain || !s.causes.plug) return;
      s.snatches = s.fill === 0 ? s.snatches + 1 : 0;
      if (s.snatches >= 3) {
        s.causes.plug = false;
        s.snatches = 0;
      }
    },
    sand() {
      if (s.sandbox < 2) return;
      s.sandbox -= 2;
      s.sand = clamp(s.sand + 0.16, 0, 1);
      if (s.causes.fret && grip() > 0.84) s.causes.fret = false;
    },
    guard() {
      s.guard = !s.guard;
      s.guardDrop = 0;
    },
    rearm() {
      if (!s.guard) return;
      s.guardDrop = 1.2;
      if (s.brake < 9.5 || s.v !== 0) return;
      s.gripped = false;
      s.struck = false;
      s.causes.belt = false;
      s.belt = Math.max(s.belt, 0.6);
      s.strokes += 1;
    },
    restore() {
      s.ringing = false;
      s.flaps = s.flaps.filter((flap) => CAUSES[flap]());
    },
  };

  const machine = {
    name: 'Saltersgate Cliff Lift',
    faults: FAULTS.slice(),
    state() {
      return {
        clock: s.clock,
        descended: s.u,
        speed: s.v,
        carAtTop: s.home + 1,
        ballast: s.tanks.slice(),
        passengers: [guests(0), guests(1)],
        waiting: s.queue.slice(),
        overbalance: overbalance() / CWT,
        cistern: s.cistern,
        sump: s.sump,
        fillCock: s.fill,
        brakeWheel: s.brake,
        dischargeChain: s.chain,
        gatesLocked: s.gates,
        starter: s.starter,
        pumpSpeed: s.omega,
        amperes: s.amps,
        delivery: s.flow,
        prime: s.prime,
        screen: s.foul,
        brakeBlocks: s.blocks,
        adhesion: grip(),
        sandbox: s.sandbox,
        governorBelt: s.belt,
        safetyGear: s.gripped ? 'on' : 'armed',
        guard: s.guard,
        line: ['shut', 'called', 'clear'][s.call],
        trips: s.trips,
        carried: s.carried,
        ringing: s.ringing,
        alarms: s.flaps.slice(),
      };
    },
    tick(seconds) {
      s.carry += clamp(Number(seconds) || 0, 0, 36000);
      const steps = Math.floor(s.carry / STEP + 1e-6);
      s.carry = Math.max(0, s.carry - steps * STEP);
      for (let n = 0; n < steps; n += 1) step();
    },
    inject(fault) {
      const name = FAULTS.find((known) => known.toLowerCase() === String(fault).trim().toLowerCase());
      if (!name) throw new Error('Saltersgate knows no fault called ' + fault);
      s.snatches = 0;
      if (name === 'Weed on screen') s.causes.weed = true;
      if (name === 'Plug off seat') s.causes.plug = true;
      if (name === 'Governor belt off') s.causes.belt = true;
      if (name === 'Sea fret') {
        s.causes.fret = true;
        s.sand = Math.min(s.sand, 0.2);
      }
    },
    reset() {
      s = cold();
      render();
    },
  };
  window.machine = machine;

  /* ------------------------------------------------------------------ drawing */
  const $ = (selector) => document.querySelector(selector);
  const $$ = (selector) => Array.from(document.querySelectorAll(selector));
  const SVG = 'http://www.w3.org/2000/svg';

  function add(parent, tag, attributes, text) {
    const node = document.createElementNS(SVG, tag);
    for (const key of Object.keys(attributes)) node.setAttribute(key, attributes[key]);
    if (text !== undefined) node.textContent = text;
    parent.appendChild(node);
    return node;
  }

  const polar = (cx, cy, radius, degrees) => {
    const radians = ((degrees - 90) * Math.PI) / 180;
    return [cx + radius * Math.cos(radians), cy + radius * Math.sin(radians)];
  };
  const arc = (cx, cy, radius, from, to) => {
    const a = polar(cx, cy, radius, from);
    const b = polar(cx, cy, radius, to);
    return `M${a[0]} ${a[1]} A${radius} ${radius} 0 ${to - from > 180 ? 1 : 0} 1 ${b[0]} ${b[1]}`;
  };

  const SWEEP = 130; // a dial runs from -130 to +130 degrees
  const dials = {};

  function drawDial(group) {
    const low = Number(group.dataset.min);
    const high = Number(group.dataset.max);
    const at = (value) => -SWEEP + ((clamp(value, low, high) - low) / (high - low)) * 2 * SWEEP;
    dials[group.dataset.dial] = at;
    for (const band of ['green', 'red']) {
      if (!group.dataset[band]) continue;
      const [from, to] = group.dataset[band].split(',').map(Number);
      add(group, 'path', { d: arc(60, 60, 48, at(from), at(to)), class: `band-${band}` });
    }
    const minor = Number(group.dataset.minor);
    const major = Number(group.dataset.step);
    for (let value = low; value <= high + 1e-6; value += minor) {
      const long = Math.abs(value / major - Math.round(value / major)) < 1e-6;
      const a = polar(60, 60, 50, at(value));
      const b = polar(60, 60, long ? 43 : 46.5, at(value));
      add(group, 'path', { d: `M${a[0]} ${a[1]} L${b[0]} ${b[1]}`, class: long ? 'tick long' : 'tick' });
      if (!long) continue;
      const c = polar(60, 60, 36, at(value));
      add(group, 'text', { x: c[0], y: c[1] + 3, class: 'figure' }, String(value));
    }
  }

  function drawOnce() {
    $$('[data-dial]').forEach(drawDial);
    const ticks = $('[data-clock-ticks]');
    for (let minute = 0; minute < 60; minute += 1) {
      const a = polar(60, 60, 45, minute * 6);
      const b = polar(60, 60, minute % 5 ? 42.5 : 39, minute * 6);
      add(ticks, 'path', { d: `M${a[0]} ${a[1]} L${b[0]} ${b[1]}`, class: minute % 5 ? 'tick' : 'tick long' });
      if (minute % 15 === 0) {
        const c = polar(60, 60, 31, minute * 6);
        add(ticks, 'text', { x: c[0], y: c[1] + 4, class: 'hour' }, ['XII', 'III', 'VI', 'IX'][minute / 15]);
      }
    }
    const sleepers = $('[data-sleepers]');
    for (let n = 0; n <= 20; n += 1) {
      const x = 292 + n * 12.9;
      const y = 386 - n * 13.9;
      add(sleepers, 'path', { d: `M${x} ${y} H${x + 84 - n * 0.4}` });
    }
    const studs = $('[data-studs]');
    for (let n = 0; n <= 6; n += 1) {
      const c = polar(85, 98, 67, starterAngle(n));
      add(studs, 'circle', { cx: c[0], cy: c[1], r: n === 0 ? 5 : 7, fill: n === 0 ? '#4c5355' : 'url(#brass)', stroke: '#0a0d0d' });
      if (n > 0) add(studs, 'text', { x: c[0], y: c[1] + 3.2, class: 'stud' }, String(n));
    }
    const fillTicks = $('[data-fill-ticks]');
    ['SHUT', '¼', '½', '¾', 'FULL'].forEach((word, n) => {
      const c = polar(104, 124, 97, fillAngle(n));
      const turned = `rotate(${fillAngle(n)} ${c[0]} ${c[1]})`;
      add(fillTicks, 'text', { x: c[0], y: c[1] + 4.5, class: n % 4 ? 'quarter' : 'quarter end', transform: turned }, word);
    });
    const brakeTicks = $('[data-brake-ticks]');
    for (let n = 0; n <= 10; n += 1) {
      const c = polar(130, 130, 94, brakeAngle(n));
      add(brakeTicks, 'text', { x: c[0], y: c[1] + 5, class: 'brake-figure' }, String(n));
    }
    const links = $('[data-links]');
    for (let n = 0; n < 11; n += 1) {
      const y = 12 + n * 10;
      if (n % 2) add(links, 'path', { d: `M40 ${y} v11` });
      else add(links, 'ellipse', { cx: 40, cy: y + 5, rx: 4.2, ry: 7 });
    }
  }

  const starterAngle = (value) => -66 + value * 22;
  const fillAngle = (value) => -76 + value * 22;
  const brakeAngle = (value) => -66 + value * 13.2;

  const TOP = [[538, 125], [592, 125]]; // rail centre of cars 1 and 2 at the upper landing
  const FALL = [-222, 239.3]; // to the lower landing
  let swell = 0;
  let shown = '';

  const held = {};
  const part = (selector) => held[selector] || (held[selector] = $(selector));
  const said = new Map();

  /** Sets an attribute, but only when it is another than last time: a panel at rest is not painted again. */
  function put(selector, attribute, value) {
    const key = `${selector} ${attribute}`;
    if (said.get(key) === value) return;
    said.set(key, value);
    part(selector).setAttribute(attribute, value);
  }

  function word(selector, text) {
    if (said.get(selector) === text) return;
    said.set(selector, text);
    part(selector).textContent = text;
  }

  const turn = (selector, degrees, cx, cy) => put(selector, 'transform', `rotate(${degrees.toFixed(1)} ${cx} ${cy})`);

  function level(name, fraction, bottom, height) {
    const full = height * clamp(fraction, 0, 1);
    put(`[data-level="${name}"]`, 'height', full.toFixed(1));
    put(`[data-level="${name}"]`, 'y', (bottom - full).toFixed(1));
  }

  function needle(name, value) {
    turn(`[data-needle="${name}"]`, dials[name](value), 60, 60);
  }

  function placeCar(car) {
    const descended = s.home === car ? s.u : LENGTH - s.u;
    const f = descended / LENGTH;
    const x = TOP[car][0] + FALL[0] * f + 8;
    const y = TOP[car][1] + FALL[1] * f - 29;
    put(`[data-car="${car + 1}"]`, 'transform', `translate(${x.toFixed(2)} ${y.toFixed(2)}) scale(0.86)`);
    put(`[data-rope="${car}"]`, 'd', `M${624 + 18 * car} ${72 - 6 * car} L${x.toFixed(1)} ${(y + 14).toFixed(1)}`);
    level(`car${car + 1}`, s.tanks[car] / TANK, 20, 16);
    return [x, y];
  }

  function render() {
    needle('over', overbalance() / CWT);
    needle('speed', Math.abs(s.v));
    needle('heat', s.blocks);
    needle('amps', s.amps);
    needle('flow', s.flow);
    turn('[data-needle="block"]', [-34, 0, 34][s.call], 65, 78);
    put('[data-slide="grip"]', 'transform', `translate(${(20 + 180 * clamp((grip() - 0.2) / 0.8, 0, 1)).toFixed(1)} 0)`);
    turn('[data-hand="hour"]', s.clock / 120, 60, 60);
    turn('[data-hand="minute"]', s.clock / 10, 60, 60);
    turn('[data-hand="second"]', Math.floor(s.clock) * 6, 60, 60);
    word('[data-tally="trips"]', String(s.trips % 1000).padStart(3, '0'));
    word('[data-tally="carried"]', String(s.carried % 10000).padStart(4, '0'));
    level('cistern', s.cistern / CISTERN, 138, 126);
    level('tower', s.cistern / CISTERN, 41, 28);
    level('sump', s.sump / SUMP, 138, 126);
    put('[data-level="sandbox"]', 'width', (0.52 * s.sandbox).toFixed(1));
    put('[data-ball]', 'cy', (60 - 44 * clamp((s.prime - 0.1) / 0.85, 0, 1)).toFixed(1));
    const at = [placeCar(0), placeCar(1)];
    turn('[data-sheave]', (s.home === 0 ? 1 : -1) * s.u * 76 * -1, 636, 80);
    put('[data-fret]', 'opacity', (0.94 * s.fret).toFixed(3));
    put('[data-swell]', 'transform', `translate(${(14 * Math.sin(Math.floor(swell * 12) / 36)).toFixed(1)} ${(2 * Math.sin(Math.floor(swell * 12) / 20)).toFixed(1)})`);
    put('[data-spray]', 'd', spray(at));
    turn('[data-arm]', starterAngle(s.starter), 85, 98);
    turn('[data-lever="fill"]', fillAngle(s.fill), 104, 124);
    turn('[data-wheel]', s.brake * 54, 130, 130);
    turn('[data-brake-pointer]', brakeAngle(s.brake), 130, 130);
    turn('[data-key]', s.gates ? 90 : 0, 60, 78);
    put('[data-chain]', 'transform', `translate(0 ${s.chain ? 26 : 0})`);
    word('[data-gear-word]', s.gripped ? 'Gripping' : s.belt < 0.5 ? 'Belt off' : 'Armed');
    put('[data-rearm]', 'transform', `translate(0 ${s.gripped || s.belt < 0.5 ? 46 : 0})`);
    part('[data-part="guard"]').classList.toggle('lifted', s.guard);
    speak();
    const words = s.flaps.join('|');
    if (words !== shown) {
      shown = words;
      $$('[data-flap]').forEach((node) => node.classList.toggle('fallen', s.flaps.includes(node.dataset.flap)));
      word('[data-spoken]', s.flaps.length ? `Flaps down: ${s.flaps.join(', ').toLowerCase()}` : '');
    }
  }

  /* Water seen on the poster: from the spout, from the lower car, from a plug that will not seat. */
  function spray(at) {
    const lines = [];
    const wave = (swell * 9) % 3;
    const fall = (x, y, reach) => lines.push(`M${x} ${y} q-3 ${reach / 2} -1 ${reach} M${x + 4} ${y + wave} q-2 ${reach / 2} 1 ${reach - wave}`);
    if (s.fillFlow > 4) fall(at[s.home][0] - 8, at[s.home][1] - 54, 20);
    if (s.chain && docked() && s.tanks[other()] > 5) fall(at[other()][0] - 14, at[other()][1] + 20, 24);
    if (s.causes.plug && s.tanks[s.home] > 5) fall(at[s.home][0] - 14, at[s.home][1] + 20, 28);
    return lines.length ? lines.join(' ') : 'M0 0';
  }

  function speak() {
    put('[data-control="FILL COCK"]', 'aria-valuenow', String(s.fill));
    put('[data-control="FILL COCK"]', 'aria-valuetext', ['Shut', 'Quarter', 'Half', 'Three quarters', 'Full'][s.fill]);
    put('[data-control="BRAKE WHEEL"]', 'aria-valuenow', String(s.brake));
    put('[data-control="BRAKE WHEEL"]', 'aria-valuetext', s.brake === 10 ? '10, hard on' : s.brake === 0 ? '0, off' : String(s.brake));
    put('[data-control="PUMP STARTER"]', 'aria-valuenow', String(s.starter));
    put('[data-control="PUMP STARTER"]', 'aria-valuetext', s.starter === 0 ? 'Off' : s.starter === 6 ? 'Stud 6, run' : `Stud ${s.starter}`);
    put('[data-control="GATE KEY"]', 'aria-checked', String(s.gates));
    put('[data-control="DISCHARGE CHAIN"]', 'aria-checked', String(s.chain));
    put('[data-part="guard"]', 'aria-pressed', String(s.guard));
  }

  /* ------------------------------------------------------------------ sound, only after a hand has touched the desk */
  let audio = null;
  let rush = null;
  let rumble = null;
  let struckSoFar = 0;
  let trembler = 0;
  let muffled = false;

  function wake() {
    if (audio) return;
    const Kind = window.AudioContext || window.webkitAudioContext;
    if (!Kind) return;
    audio = new Kind();
    const noise = audio.createBuffer(1, audio.sampleRate * 2, audio.sampleRate);
    const data = noise.getChannelData(0);
    let seed = 7;
    for (let n = 0; n < data.length; n += 1) {
      seed = (seed * 16807) % 2147483647;
      data[n] = (seed / 2147483647) * 2 - 1;
    }
    const voice = (frequency, q) => {
      const source = audio.createBufferSource();
      const filter = audio.createBiquadFilter();
      const gain = audio.createGain();
      source.buffer = noise;
      source.loop = true;
      filter.type = 'bandpass';
      filter.frequency.value = frequency;
      filter.Q.value = q;
      gain.gain.value = 0;
      source.connect(filter).connect(gain).connect(audio.destination);
      source.start();
      return { filter, gain };
    };
    rush = voice(1400, 0.6);
    rumble = voice(110, 1.2);
    struckSoFar = s.strokes;
  }

  function bell(pitch, loud, length) {
    const now = audio.currentTime;
    for (const [ratio, share] of [[1, 1], [2.76, 0.45], [5.4, 0.2]]) {
      const tone = audio.createOscillator();
      const gain = audio.createGain();
      tone.frequency.value = pitch * ratio;
      gain.gain.setValueAtTime(loud * share, now);
      gain.gain.exponentialRampToValueAtTime(0.0001, now + length / Math.sqrt(ratio));
      tone.connect(gain).connect(audio.destination);
      tone.start(now);
      tone.stop(now + length);
    }
  }

  function sound(seconds) {
    if (!audio || audio.state !== 'running') return;
    if (muffled) {
      rush.gain.gain.value = 0;
      rumble.gain.gain.value = 0;
      struckSoFar = s.strokes;
      return;
    }
    const now = audio.currentTime;
    const pouring = s.fillFlow / 150 + (s.chain && docked() && s.tanks[other()] > 5 ? 0.7 : 0);
    rush.gain.gain.setTargetAtTime(Math.min(0.05, 0.045 * pouring), now, 0.15);
    rumble.gain.gain.setTargetAtTime(Math.min(0.22, 0.07 * Math.abs(s.v) + s.omega / 1400), now, 0.15);
    rumble.filter.frequency.setTargetAtTime(80 + 40 * Math.abs(s.v) + s.omega * 0.5, now, 0.2);
    if (s.strokes !== struckSoFar) {
      struckSoFar = s.strokes;
      bell(880, 0.09, 1.6);
    }
    trembler -= seconds;
    if (s.ringing && trembler <= 0) {
      trembler = 0.13;
      bell(1250, 0.035, 0.3);
    }
  }

  /* ------------------------------------------------------------------ hands: pointer, touch, keyboard */
  /** A lever or a wheel: `angle` is degrees a step; dragging round the pivot turns it, arrow keys move it a step. */
  function slider(name, read, act, most, angle, stride, dragged) {
    const node = $(`[data-control="${name}"]`);
    const pivot = node.querySelector('.pivot');
    let last = null;
    let exact = 0;
    const bearing = (event) => {
      const box = pivot.getBoundingClientRect();
      return (Math.atan2(event.clientX - box.x - box.width / 2, box.y + box.height / 2 - event.clientY) * 180) / Math.PI;
    };
    node.addEventListener('pointerdown', (event) => {
      node.setPointerCapture(event.pointerId);
      node.focus({ preventScroll: true });
      last = bearing(event);
      exact = read();
      event.preventDefault();
    });
    node.addEventListener('pointermove', (event) => {
      if (last === null) return;
      const now = bearing(event);
      const moved = ((now - last + 540) % 360) - 180;
      last = now;
      exact = clamp(exact + moved / (dragged || angle), 0, most);
      act(exact);
    });
    for (const end of ['pointerup', 'pointercancel', 'lostpointercapture']) node.addEventListener(end, () => (last = null));
    const keys = { ArrowUp: stride, ArrowRight: stride, ArrowDown: -stride, ArrowLeft: -stride, PageUp: stride * 2, PageDown: -stride * 2 };
    node.addEventListener('keydown', (event) => {
      if (event.key === 'Home') act(0);
      else if (event.key === 'End') act(most);
      else if (keys[event.key]) act(clamp(read() + keys[event.key], 0, most));
      else return;
      event.preventDefault();
    });
    node.addEventListener('wheel', (event) => {
      if (document.activeElement !== node) return;
      act(clamp(read() + (event.deltaY < 0 ? stride : -stride), 0, most));
      event.preventDefault();
    }, { passive: false });
  }

  function press(selector, act) {
    const node = $(selector);
    node.addEventListener('click', () => {
      act();
      node.classList.remove('worked');
      void node.getBoundingClientRect();
      node.classList.add('worked');
    });
  }

  function wire() {
    slider('FILL COCK', () => s.fill, acts.fill, 4, 22, 1);
    slider('BRAKE WHEEL', () => s.brake, acts.brake, 10, 13.2, 1, 54);
    slider('PUMP STARTER', () => s.starter, acts.starter, 6, 22, 1);
    press('[data-control="PRIMING PLUNGER"]', acts.prime);
    press('[data-control="SCREEN RAKE"]', acts.rake);
    press('[data-control="STATION BELL"]', acts.bell);
    press('[data-control="GATE KEY"]', acts.gates);
    press('[data-control="DISCHARGE CHAIN"]', acts.chain);
    press('[data-control="SAND PEDAL"]', acts.sand);
    press('[data-control="FLAP RESTORE"]', acts.restore);
    press('[data-part="guard"]', acts.guard);
    press('[data-part="rearm"]', acts.rearm);
    $$('[data-fault]').forEach((peg) => peg.addEventListener('click', () => machine.inject(peg.dataset.fault)));
    $('[data-muffle]').addEventListener('click', (event) => {
      muffled = !muffled;
      event.currentTarget.setAttribute('aria-pressed', String(muffled));
    });
    const booklet = $('[data-manual]');
    $('[data-action="manual"]').addEventListener('click', () => booklet.showModal());
    $('[data-action="close-manual"]').addEventListener('click', () => booklet.close());
    document.addEventListener('pointerdown', wake);
    document.addEventListener('keydown', wake);
  }

  const pegs = $$('.peg');
  const still = window.matchMedia('(prefers-reduced-motion: reduce)');
  let before = 0;
  function frame(at) {
    const seconds = clamp((at - before) / 1000, 0, 0.25);
    before = at;
    if (!still.matches) swell += seconds;
    machine.tick(seconds);
    render();
    pegs.forEach((peg, n) => peg.classList.toggle('turned', [s.causes.weed, s.causes.plug, s.causes.belt, s.causes.fret][n]));
    part('.annunciator').classList.toggle('ringing', s.ringing);
    sound(seconds);
    requestAnimationFrame(frame);
  }

  drawOnce();
  wire();
  render();
  requestAnimationFrame((at) => {
    before = at;
    frame(at);
  });
})();
