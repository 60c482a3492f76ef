/* Caldecote Puller No. 3: a crystal of silicon drawn out of its melt. A minute of the log passes in a second. */
(function () {
  'use strict';

  /* ------------------------------------------------------------------ constants: log minutes (= seconds here), mm, kg, degrees C */
  const STEP = 0.05; // every tick is cut into these, so ten of one second and one of ten are the same run
  const FREEZE = 1414; // silicon
  const FULL = 45; // kW the transformer gives
  const CHARGE = 8; // kg of polycrystalline silicon
  const DENSITY = 2.33e-6; // kg a cubic millimetre
  const LATENT = 160; // kW minutes to melt the charge
  const SEED = 5; // mm
  const JOG = 15; // mm a minute
  const FAULTS = ['Bottle empty', 'Strainer choked', 'Cable slip'];

  const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
  const toward = (from, to, time, lag) => from + (to - from) * (1 - Math.exp(-time / lag));

  function cold() {
    return {
      carry: 0,
      log: 0,
      source: 'PLANT', // cooling water
      choked: false,
      water: 9, // litres a minute
      waterOut: 18,
      bottle: 'A',
      empty: false,
      valve: 0, // argon asked for, litres a minute
      argon: 0,
      pump: false,
      torr: 760,
      heater: false,
      tripped: false,
      starved: 0,
      power: 0,
      trim: 0, // the controller's integral
      set: 1380,
      melt: 20,
      molten: 0, // share of the charge
      was: false, // has been molten
      cracked: false,
      fume: 0,
      mass: CHARGE,
      height: 180, // seed above the melt
      jog: 0,
      dipped: false,
      pull: 0,
      rate: 0, // pull as the motor gives it
      slip: false,
      spin: 0,
      spun: 0,
      unspun: 0,
      follow: false,
      drop: 0, // melt level below its mark
      width: 0,
      growth: 0, // mm of width gained a minute
      length: 0,
      neck: 0, // mm grown thin
      single: true,
      good: 0,
      racked: 0,
      parted: false,
      profile: [],
      waits: {},
      alarms: [],
      sounding: false,
      clicks: 0,
    };
  }

  let s = cold();

  const pyro = () => s.melt - 45 * s.fume;
  const loss = () => 24 * Math.pow(Math.max(s.melt, 20) / 1420, 2) + 0.35 * (s.mass - 6) * s.molten + 0.04 * Math.max(0, s.argon - 20);

  /** How fast the melt would freeze on to this crystal, mm a minute: what the pull has to match. A thin neck cools best. */
  const freezing = () =>
    2.6 - 0.12 * (s.melt - FREEZE) - 0.01 * s.width - 0.0005 * s.length - 0.03 * s.drop + 0.12 * Math.max(0, 6 - s.width);

  /* ------------------------------------------------------------------ one step of everything */
  function step() {
    const h = STEP;
    s.log += h;
    stepServices(h);
    stepHeat(h);
    stepLift(h);
    if (s.dipped) stepCrystal(h);
    stepAlarms(h);
  }

  function stepServices(h) {
    const fed = s.source === 'TOWN' ? 7 : s.source === 'PLANT' ? (s.choked ? 1.2 : 9) : 0;
    s.water = toward(s.water, fed, h, 1.5);
    const carried = (s.power * 9) / Math.max(s.water, 0.8);
    s.waterOut = clamp(toward(s.waterOut, 16 + carried, h, 5), 5, 140);
    const bottled = s.bottle === 'B' || !s.empty;
    s.argon = toward(s.argon, bottled ? s.valve : 0, h, 1.2);
    const floor = s.pump ? 0.05 + s.argon : 760;
    s.torr = toward(s.torr, floor, h, s.pump ? (s.torr > floor ? 4 : 1) : 14);
    const boils = s.melt > 1300 && s.argon < 10;
    s.fume = toward(s.fume, boils ? 1 : 0, h, boils ? 26 : 12);
  }

  function stepHeat(h) {
    s.starved = s.heater && s.water < 4 ? s.starved + h : 0;
    if (s.heater && (s.starved > 22 || s.waterOut > 75 || s.torr > 120)) {
      s.heater = false;
      s.tripped = true;
      s.clicks += 1;
    }
    let asked = 0;
    if (s.heater) {
      const error = s.set - pyro();
      const feed = 24 * Math.pow(s.set / 1420, 2);
      if (Math.abs(error) < 25) s.trim = clamp(s.trim + error * 0.02 * h, -8, 8);
      asked = clamp(feed + 1.1 * error + s.trim, 0, FULL);
    } else s.trim = 0;
    s.power = toward(s.power, asked, h, 0.8);
    const net = s.power - loss();
    const plateau = (net > 0 && s.molten < 1 && s.melt >= FREEZE) || (net < 0 && s.molten > 0 && s.melt <= FREEZE);
    if (plateau) {
      s.molten = clamp(s.molten + (net / LATENT) * h, 0, 1);
      s.melt = FREEZE;
    } else {
      const next = s.melt + net * 1.3 * h;
      // Neither way is the plateau stepped over.
      const held = (s.melt < FREEZE && next > FREEZE && s.molten < 1) || (s.melt > FREEZE && next < FREEZE && s.molten > 0);
      s.melt = clamp(held ? FREEZE : next, 20, 1700);
    }
    if (s.molten >= 1) s.was = true;
    // Silicon swells as it freezes.
    if (s.was && s.molten < 0.45) s.cracked = true;
  }

  function stepLift(h) {
    s.spun = toward(s.spun, s.spin, h, 1.5);
    s.rate = toward(s.rate, s.pull * (s.slip ? 0.3 : 1), h, 0.6);
    const travel = s.jog * JOG * (s.slip ? 0.3 : 1);
    if (s.dipped && s.jog > 0) part();
    if (s.dipped) return;
    s.height = clamp(s.height + (travel + (s.jog === 0 && s.length > 0 ? s.rate : 0)) * h, 0, 260);
    if (s.height > 0 || s.jog >= 0) return;
    s.jog = 0;
    s.clicks += 1;
    if (s.molten < 1 || s.length > 0) {
      s.height = 0.5; // there is nothing to dip into, or a crystal hangs there already
    } else if (s.melt > 1434) {
      s.height = 6; // it melts off to a stump
      s.parted = true;
    } else {
      Object.assign(s, { dipped: true, width: SEED, length: 0, neck: 0, single: true, good: 0, parted: false, profile: [SEED] });
    }
  }

  /** The crystal leaves the melt: a thick end takes the shock, and slip runs back up it by its own width. */
  function part() {
    s.dipped = false;
    s.height = 0.1;
    if (s.width > 15) s.good = Math.max(0, s.good - s.width);
    s.growth = 0;
    if (s.length < 2) Object.assign(s, { length: 0, profile: [], width: 0 });
  }

  function stepCrystal(h) {
    const gain = clamp((0.55 + 1.65 * Math.min(1, s.width / 30)) * (freezing() - s.rate), -6, 6);
    s.growth = toward(s.growth, gain, h, 0.6);
    s.width = clamp(s.width + s.growth * h, 0, 118);
    const grown = s.rate * h;
    s.length += grown;
    const taken = Math.min(s.mass - 0.4, DENSITY * 0.7854 * s.width * s.width * grown);
    s.mass = Math.max(0.4, s.mass - Math.max(0, taken));
    s.drop = s.follow ? toward(s.drop, 0, h, 20) : clamp(s.drop + taken * 3.2, 0, 30);
    if (s.width <= 6.2 && s.length < 90) s.neck += grown;
    s.unspun = s.width > 20 && s.spun < 4 ? s.unspun + h : 0;
    const shaken = s.growth > 4.2 || s.fume > 0.65 || s.unspun > 12 || s.molten < 0.97;
    if (s.width > 20 && (s.neck < 20 || shaken)) s.single = false;
    if (s.single && s.width >= 68 && s.width <= 82) s.good += grown;
    while (s.profile.length <= s.length) s.profile.push(s.width);
    if (s.profile.length > 700) s.profile.length = 700;
    if (s.width < 1.6) {
      // The neck parts, and what hung on it goes back into the pot.
      Object.assign(s, { dipped: false, height: 4, length: 0, width: 0, growth: 0, profile: [], parted: true, good: 0 });
    } else if (s.length > 640 || s.mass < 0.6) part();
  }

  /* ------------------------------------------------------------------ the annunciator */
  const CAUSES = {
    'WATER LOW': [() => s.water < 4, 1],
    'FURNACE TRIP': [() => s.tripped, 0],
    'ARGON LOW': [() => (s.empty && s.bottle === 'A') || (s.melt > 1300 && s.argon < 10), 2],
    'CABLE SLACK': [() => s.slip, 0.5],
    'MELT HOT': [() => s.melt > 1450, 2],
    FREEZING: [() => s.was && !s.cracked && s.molten < 0.97, 1],
    OVERSIZE: [() => s.dipped && s.width > 88, 1],
    'NECK PARTED': [() => s.parted, 0],
    'STRUCTURE LOST': [() => s.dipped && !s.single, 0],
    'POT CRACKED': [() => s.cracked, 0],
  };

  function stepAlarms(h) {
    for (const name of Object.keys(CAUSES)) {
      const [cause, delay] = CAUSES[name];
      const waited = cause() ? Math.min(600, (s.waits[name] || 0) + h) : 0;
      s.waits[name] = waited;
      const at = s.alarms.indexOf(name);
      if (waited > delay && at < 0) {
        s.alarms.push(name);
        s.sounding = true;
      } else if (waited === 0 && at >= 0) s.alarms.splice(at, 1);
    }
    if (s.alarms.length === 0) s.sounding = false;
  }

  /* ------------------------------------------------------------------ what the hands do */
  const acts = {
    source: (place) => (s.source = place),
    bottle: (place) => (s.bottle = place),
    valve: (value) => (s.valve = clamp(Math.round(value), 0, 40)),
    pump: () => (s.pump = !s.pump),
    heater() {
      // The key turns only with water, and with the air out.
      s.heater = !s.heater && !s.tripped && s.water > 4 && s.torr < 60;
    },
    reset() {
      if (s.water > 4 && s.waterOut < 60) s.tripped = false;
    },
    set: (value) => (s.set = clamp(Math.round(value), 1380, 1459)),
    pull: (value) => (s.pull = clamp(Math.round(value * 10) / 10, 0, 4)),
    spin: (value) => (s.spin = clamp(Math.round(value), 0, 30)),
    jog: (value) => (s.jog = clamp(Math.round(value), -1, 1)),
    follow: () => (s.follow = !s.follow),
    clamp() {
      if (s.pull === 0 && s.jog === 0) s.slip = false;
    },
    unload() {
      if (s.cracked && s.melt < 900) {
        Object.assign(s, { cracked: false, was: false, molten: 0, mass: CHARGE, length: 0, profile: [], width: 0, dipped: false, height: 180 });
      }
      if (s.dipped || s.height < 120) return;
      s.racked += s.good;
      const low = s.mass < 5;
      Object.assign(s, { length: 0, profile: [], width: 0, good: 0, single: true, parted: false, height: 180, jog: 0 });
      if (low) Object.assign(s, { mass: CHARGE, molten: s.molten * 0.8, drop: 0, was: false });
    },
    accept: () => (s.sounding = false),
  };

  const machine = {
    name: 'Caldecote Puller No. 3',
    faults: FAULTS.slice(),
    state() {
      return {
        log: s.log,
        waterFrom: s.source,
        water: s.water,
        waterOut: s.waterOut,
        bottle: s.bottle,
        argonValve: s.valve,
        argon: s.argon,
        pump: s.pump,
        pressure: s.torr,
        heater: s.heater,
        tripped: s.tripped,
        power: s.power,
        meltSet: s.set,
        melt: s.melt,
        pyrometer: pyro(),
        molten: s.molten,
        charge: s.mass,
        fume: s.fume,
        seedHeight: s.height,
        jog: s.jog,
        dipped: s.dipped,
        pullSpeed: s.pull,
        pulling: s.rate,
        rotation: s.spin,
        follow: s.follow,
        levelDrop: s.drop,
        diameter: s.width,
        widening: s.growth,
        length: s.length,
        neck: s.neck,
        single: s.single,
        good: s.good,
        racked: s.racked,
        sounding: s.sounding,
        alarms: s.alarms.slice(),
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
      if (!name) throw new Error('No. 3 knows no fault called ' + fault);
      s.clicks += 1;
      if (name === 'Bottle empty') s.empty = true;
      if (name === 'Strainer choked') s.choked = true;
      if (name === 'Cable slip') s.slip = true;
    },
    reset() {
      s = cold();
      render();
    },
  };
  window.machine = machine;

  /* ------------------------------------------------------------------ drawing */
  const SVG = 'http://www.w3.org/2000/svg';
  const $ = (selector) => document.querySelector(selector);
  const $$ = (selector) => Array.from(document.querySelectorAll(selector));
  const held = {};
  const part1 = (selector) => held[selector] || (held[selector] = $(selector));

  function add(parent, tag, attributes, text) {
    const node = document.createElementNS(SVG, tag);
    for (const key of Object.keys(attributes)) node.setAttribute(key, attributes[key]);
    if (text !== undefined) node.textContent = text;
    parent.appendChild(node);
    return node;
  }

  /* What is on the page already is not written again. */
  const written = {};
  function put(selector, attribute, value) {
    const key = selector + '@' + attribute;
    if (written[key] === value) return;
    written[key] = value;
    if (attribute === 'text') part1(selector).textContent = value;
    else part1(selector).setAttribute(attribute, value);
  }
  function mark(selector, name, on) {
    const key = selector + '.' + name;
    if (written[key] === on) return;
    written[key] = on;
    part1(selector).classList.toggle(name, on);
  }

  /* Edgewise meters: a scale 180 units high and a pointer that slides. */
  const meters = {};
  function drawMeter(group) {
    const { meter, min, max, step: big, minor, green, red } = group.dataset;
    const low = Number(min);
    const high = Number(max);
    const at = (value) => 196 - ((clamp(value, low, high) - low) / (high - low)) * 180;
    meters[meter] = at;
    for (const [range, kind] of [[green, 'good'], [red, 'bad']]) {
      if (!range) continue;
      const [from, to] = range.split(',').map(Number);
      add(group, 'rect', { x: 43, y: at(to), width: 6, height: at(from) - at(to), class: kind });
    }
    for (let n = 0; n <= (high - low) / minor + 1e-6; n += 1) {
      const value = low + n * minor;
      const whole = Math.abs((value - low) / big - Math.round((value - low) / big)) < 1e-6;
      add(group, 'path', { d: `M${whole ? 30 : 36} ${at(value)} H42`, class: whole ? 'tick long' : 'tick' });
      if (whole) add(group, 'text', { x: 27, y: at(value) + 4, class: 'figure' }, String(Math.round(value * 10) / 10));
    }
  }

  const polar = (cx, cy, radius, degrees) => {
    const a = ((degrees - 90) * Math.PI) / 180;
    return (cx + radius * Math.cos(a)).toFixed(1) + ' ' + (cy + radius * Math.sin(a)).toFixed(1);
  };

  function drawKnob(group) {
    const low = Number(group.dataset.min);
    const high = Number(group.dataset.max);
    const big = Number(group.dataset.step);
    const turn = Number(group.dataset.turn);
    for (let value = low; value <= high; value += big) {
      const angle = -turn / 2 + ((value - low) / (high - low)) * turn;
      add(group, 'path', { d: `M${polar(70, 70, 47, angle)} L${polar(70, 70, 53, angle)}`, class: 'mark' });
      const [x, y] = polar(70, 70, 61, angle).split(' ').map(Number);
      add(group, 'text', { x, y: y + 4, class: 'knob-figure' }, String(value));
    }
  }

  function drawOnce() {
    $$('[data-meter]').forEach(drawMeter);
    $$('[data-knob-scale]').forEach(drawKnob);
  }

  const MELT_Y = 690;
  const MM = 0.95; // units a millimetre

  /** Outline of what has grown, hanging from y = 0 at the melt upward; the seed on top of it. */
  function outline() {
    const sides = s.profile.map((width, n) => [width / 2, (n - s.length) * MM]);
    sides.push([s.width / 2, 0]);
    const right = sides.map(([half, y]) => `${(half * 1.1).toFixed(1)} ${y.toFixed(1)}`);
    const left = sides.map(([half, y]) => `${(-half * 1.1).toFixed(1)} ${y.toFixed(1)}`).reverse();
    // The foot is round, as the melt sees it.
    const foot = s.width * 0.55;
    return `M${right.join(' L')} A${foot.toFixed(1)} ${(foot * 0.16).toFixed(1)} 0 0 1 ${(-foot).toFixed(1)} 0 L${left.join(' L')} Z`;
  }

  function ridges() {
    const line = (share) => s.profile.map((width, n) => `${(width * share).toFixed(1)} ${((n - s.length) * MM).toFixed(1)}`).join(' L');
    return s.profile.length > 3 ? `M${line(0.34)} M${line(-0.3)}` : 'M0 0';
  }

  const hot = (t) => clamp((t - 700) / 720, 0, 1);
  function glow(t) {
    const g = hot(t);
    if (g === 0) return '#22201f';
    return `rgb(${Math.round(60 + 195 * Math.min(1, g * 1.3))} ${Math.round(24 + 190 * g * g)} ${Math.round(18 + 110 * g ** 4)})`;
  }

  /** Cold silicon is a grey metal to look at; hot, it gives its own light. */
  function lump(t) {
    const warm = clamp((t - 650) / 350, 0, 1);
    const own = glow(t * 0.97).match(/\d+/g).map(Number);
    const grey = [112, 121, 128];
    return t < 650 ? '#707980' : `rgb(${grey.map((c, n) => Math.round(c + (own[n] - c) * warm)).join(' ')})`;
  }

  let drawn = '';
  function renderFurnace() {
    const height = s.dipped ? 0 : s.height * MM;
    put('[data-hang]', 'transform', `translate(250 ${(MELT_Y - height).toFixed(1)})`);
    const shape = `${s.profile.length}/${s.dipped ? s.width.toFixed(1) : ''}/${s.length.toFixed(1)}`;
    if (shape !== drawn) {
      drawn = shape;
      const body = s.length > 0 ? outline() : 'M0 0';
      put('[data-crystal]', 'd', body);
      put('[data-crystal-heat]', 'd', body);
      put('[data-crystal-heat]', 'opacity', s.dipped ? '1' : '0.35');
      put('[data-ridges]', 'd', s.length > 0 ? ridges() : 'M0 0');
      put('[data-seed]', 'transform', `translate(0 ${(-s.length * MM).toFixed(1)})`);
    }
    mark('[data-ridges]', 'gone', !s.single);
    put('[data-melt]', 'fill', glow(s.melt));
    put('[data-wall]', 'fill', glow(s.melt * 0.86));
    put('[data-lumps]', 'opacity', s.melt < FREEZE && s.molten < 0.5 ? '1' : (1 - s.molten).toFixed(2));
    put('[data-lumps]', 'fill', lump(s.melt));
    put('[data-ring]', 'opacity', s.dipped ? '1' : '0');
    put('[data-ring]', 'rx', (s.width * 0.55 + 3).toFixed(1));
    put('[data-fume]', 'opacity', (0.86 * s.fume).toFixed(2));
    put('[data-crack]', 'opacity', s.cracked ? '1' : '0');
    put('[data-level]', 'transform', `translate(0 ${(s.drop * 0.8).toFixed(1)})`);
  }

  function renderMeters() {
    const show = { melt: pyro(), diameter: s.width, power: s.power, pressure: Math.log10(Math.max(0.05, s.torr)), water: s.waterOut };
    for (const name of Object.keys(show)) put(`[data-pointer="${name}"]`, 'transform', `translate(0 ${meters[name](show[name]).toFixed(1)})`);
    put('[data-led="melt"]', 'text', String(Math.round(pyro())).padStart(4, '0'));
    put('[data-led="length"]', 'text', String(Math.floor(s.length)).padStart(3, '0'));
    put('[data-led="good"]', 'text', String(Math.floor(s.good)).padStart(3, '0'));
    put('[data-led="racked"]', 'text', String(Math.floor(s.racked)).padStart(4, '0'));
    put('[data-led="charge"]', 'text', s.mass.toFixed(1));
    put('[data-float]', 'cy', (96 - 84 * clamp(s.argon / 40, 0, 1)).toFixed(1));
    put('[data-balance]', 'transform', `rotate(${clamp(s.dipped ? s.growth * 14 : 0, -52, 52).toFixed(1)} 60 62)`);
  }

  function renderControls() {
    const toggles = { PUMP: s.pump, HEATER: s.heater, 'CRUCIBLE FOLLOW': s.follow };
    for (const name of Object.keys(toggles)) {
      mark(`[data-control="${name}"]`, 'on', toggles[name]);
      put(`[data-control="${name}"]`, 'aria-checked', String(toggles[name]));
    }
    const digits = String(s.set);
    for (let n = 0; n < 4; n += 1) put(`[data-digit="${n}"]`, 'text', digits[n]);
    put('[data-control="MELT SET"]', 'aria-valuenow', digits);
    put('[data-control="MELT SET"]', 'aria-valuetext', `${digits} degrees`);
    for (const [name, key, value, low, range, turn] of [
      ['PULL SPEED', 'pull', s.pull, 0, 4, 320],
      ['SEED ROTATION', 'spin', s.spin, 0, 30, 270],
      ['ARGON FLOW', 'valve', s.valve, 0, 40, 280],
    ]) {
      put(`[data-knob="${key}"]`, 'transform', `rotate(${(-turn / 2 + ((value - low) / range) * turn).toFixed(1)} 70 70)`);
      put(`[data-control="${name}"]`, 'aria-valuenow', String(value));
    }
    put('[data-dial="pull"]', 'text', s.pull.toFixed(1));
    put('[data-control="JOG"]', 'aria-valuenow', String(s.jog));
    put('[data-control="JOG"]', 'aria-valuetext', ['Down', 'Stop', 'Up'][s.jog + 1]);
    put('[data-paddle]', 'transform', `translate(0 ${-26 * s.jog})`);
    mark('[data-control="TRIP RESET"]', 'lit', s.tripped);
    mark('[data-control="CABLE CLAMP"]', 'open', s.slip);
    for (const name of ['PLANT', 'OFF', 'TOWN']) {
      const input = part1(`[data-water="${name}"]`);
      if (input.checked !== (s.source === name)) input.checked = s.source === name;
    }
    for (const name of ['A', 'B']) {
      const input = part1(`[data-bottle="${name}"]`);
      if (input.checked !== (s.bottle === name)) input.checked = s.bottle === name;
    }
    put('[data-cock]', 'transform', `rotate(${{ PLANT: -60, OFF: 0, TOWN: 60 }[s.source]} 45 45)`);
    put('[data-changeover]', 'transform', `rotate(${s.bottle === 'A' ? -45 : 45} 45 45)`);
    FAULTS.forEach((fault, n) => mark(`[data-fault="${fault}"]`, 'in', [s.empty, s.choked, s.slip][n]));
  }

  let told = '';
  function render() {
    renderFurnace();
    renderMeters();
    renderControls();
    mark('.caps', 'sounding', s.sounding);
    const words = s.alarms.join(', ');
    if (words === told) return;
    told = words;
    $$('[data-cap]').forEach((node) => node.classList.toggle('lit', s.alarms.includes(node.dataset.cap)));
    part1('[data-spoken]').textContent = words ? `Annunciator: ${words.toLowerCase()}` : '';
  }

  /* ------------------------------------------------------------------ sound, only after a hand has touched the rack */
  let audio = null;
  let hum = null;
  let heard = 0;
  let pulse = 0;
  let muted = false;

  function wake() {
    const Kind = window.AudioContext || window.webkitAudioContext;
    if (audio || !Kind) return;
    audio = new Kind();
    const tone = audio.createOscillator();
    hum = audio.createGain();
    hum.gain.value = 0;
    tone.type = 'triangle';
    tone.frequency.value = 100; // the transformer, on fifty cycles
    tone.connect(hum).connect(audio.destination);
    tone.start();
    heard = s.clicks;
  }

  function note(pitch, loud, length, kind) {
    const tone = audio.createOscillator();
    const gain = audio.createGain();
    tone.type = kind;
    tone.frequency.value = pitch;
    gain.gain.setValueAtTime(loud, audio.currentTime);
    gain.gain.exponentialRampToValueAtTime(0.0001, audio.currentTime + length);
    tone.connect(gain).connect(audio.destination);
    tone.start();
    tone.stop(audio.currentTime + length);
  }

  function sound(seconds) {
    if (!audio || audio.state !== 'running') return;
    hum.gain.setTargetAtTime(muted ? 0 : 0.0016 * s.power, audio.currentTime, 0.2);
    if (heard !== s.clicks) {
      heard = s.clicks;
      if (!muted) note(90, 0.12, 0.08, 'square');
    }
    pulse -= seconds;
    if (s.sounding && pulse <= 0 && !muted) {
      pulse = 0.9;
      note(880, 0.035, 0.4, 'sine');
    }
  }

  /* ------------------------------------------------------------------ hands: pointer, touch, keyboard */
  /** A knob about its `.pivot`; `angle` is degrees for one unit. */
  function rotary(name, read, act, high, stride, angle) {
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
      exact = clamp(exact + (((now - last + 540) % 360) - 180) / angle, 0, high);
      last = now;
      act(exact);
    });
    for (const end of ['pointerup', 'pointercancel', 'lostpointercapture']) node.addEventListener(end, () => (last = null));
    keyed(node, read, act, 0, high, stride);
  }

  function keyed(node, read, act, low, high, stride) {
    const keys = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, PageUp: 10, PageDown: -10 };
    node.addEventListener('keydown', (event) => {
      if (event.key === 'Home') act(low);
      else if (event.key === 'End') act(high);
      else if (keys[event.key]) act(clamp(read() + keys[event.key] * stride, low, high));
      else return;
      event.preventDefault();
    });
  }

  function wire() {
    rotary('PULL SPEED', () => s.pull, acts.pull, 4, 0.1, 80);
    rotary('SEED ROTATION', () => s.spin, acts.spin, 30, 1, 9);
    rotary('ARGON FLOW', () => s.valve, acts.valve, 40, 1, 7);
    const wheels = $('[data-control="MELT SET"]');
    keyed(wheels, () => s.set, acts.set, 1380, 1459, 1);
    wheels.addEventListener('click', (event) => {
      // The upper half of a wheel rolls it up, the lower half down. The two at the left are pinned.
      const wheel = event.target.closest('[data-digit]');
      if (!wheel || Number(wheel.dataset.digit) < 2) return;
      const box = wheel.getBoundingClientRect();
      const way = event.clientY < box.y + box.height / 2 ? 1 : -1;
      acts.set(s.set + way * (wheel.dataset.digit === '2' ? 10 : 1));
    });
    const jog = $('[data-control="JOG"]');
    keyed(jog, () => s.jog, acts.jog, -1, 1, 1);
    jog.addEventListener('click', (event) => {
      const box = jog.getBoundingClientRect();
      const third = Math.floor(((event.clientY - box.y) / box.height) * 3);
      acts.jog(1 - clamp(third, 0, 2));
    });
    const buttons = {
      PUMP: acts.pump,
      HEATER: acts.heater,
      'CRUCIBLE FOLLOW': acts.follow,
      'TRIP RESET': acts.reset,
      'CABLE CLAMP': acts.clamp,
      UNLOAD: acts.unload,
      ACCEPT: acts.accept,
    };
    for (const name of Object.keys(buttons)) {
      $(`[data-control="${name}"]`).addEventListener('click', () => {
        s.clicks += 1;
        buttons[name]();
        render();
      });
    }
    for (const name of ['PLANT', 'OFF', 'TOWN']) part1(`[data-water="${name}"]`).addEventListener('change', () => acts.source(name));
    for (const name of ['A', 'B']) part1(`[data-bottle="${name}"]`).addEventListener('change', () => acts.bottle(name));
    $$('[data-fault]').forEach((jack) => jack.addEventListener('click', () => machine.inject(jack.dataset.fault)));
    const mute = $('[data-mute]');
    mute.addEventListener('click', () => {
      muted = !muted;
      mute.setAttribute('aria-pressed', String(muted));
    });
    const book = $('[data-manual]');
    $('[data-action="manual"]').addEventListener('click', () => book.showModal());
    $('[data-action="close-manual"]').addEventListener('click', () => book.close());
    document.addEventListener('pointerdown', wake);
    document.addEventListener('keydown', wake);
  }

  let before = 0;
  let since = 0;
  function frame(at) {
    const seconds = clamp((at - before) / 1000, 0, 0.25);
    before = at;
    machine.tick(seconds);
    sound(seconds);
    since += seconds;
    if (since >= 0.032) {
      since = 0;
      render();
    }
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
