/* Kelburn Heart-Lung: a disc oxygenator and its roller pump, which stand in for a heart while it is mended.
   Blood runs at its own pace; the clock on the wall, and with it heat, drugs and brain, is geared: a minute in three seconds. */
(function () {
  'use strict';

  /* ------------------------------------------------------------------ constants: seconds, ml, l/min, mmHg, degrees C */
  const STEP = 0.05; // every tick is cut into these, so ten of one second and one of ten are the same run
  const CLOCK = 20; // seconds on the wall for one at the pumps
  const ML = 1000 / 60; // ml a second in one l/min
  const FULL = 3000; // the glass cylinder
  const MOUTH = 120; // under this the outlet draws air
  const ROTOR = 0.045; // litres a turn: half-inch tube under two rollers
  const BODY = 4880; // ml that fill the patient to a venous pressure of 6
  const SLACK = 4400; // ml at which the great veins are flat
  const GIVE = 80; // ml for one mmHg in the veins
  const CARRY = 200; // ml of oxygen in a litre of fully red blood
  const NEED = 250; // ml of oxygen a minute at 37 degrees; halves for every 7 degrees less
  const RESERVE = 6; // minutes a warm brain lasts with nothing
  const HALF = 180; // seconds in which half the heparin is gone: an hour on the wall
  const STITCHES = 24;
  const SLIP = 380; // mmHg at which the pump's clutch lets go
  const FAULTS = ['Fuse blown', 'Bottle empty', 'Trap float stuck', 'Steam valve stuck'];

  const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
  const toward = (from, to, time, lag) => from + ((to - from) * time) / (lag + time); // first order, stable for any step

  /** A patient on the table: chest open, cannulae in, every line clamped. */
  function patient() {
    return {
      body: BODY,
      map: 85,
      bodyTemp: 37,
      venousSat: 0.74,
      rhythm: 'beating',
      strength: 1,
      stage: 'ready', // ready, bypass, open, closed, off
      settled: 0,
      stitches: 0,
      field: 0, // ml lying in the chest
      reserve: RESERVE,
      acid: 0,
      heparin: 0, // units in a ml
      lost: false,
    };
  }

  function cold() {
    return {
      ...patient(),
      carry: 0,
      clock: 8 * 60 + 30, // the list begins at half past eight
      mains: false,
      blown: false,
      donor: 4000,
      drip: 0, // roller clamp, 0 to 10
      vol: 0,
      venous: 0, // screw clamp, 0 shut to 10
      drained: 0,
      pumpSet: 0,
      rotor: 0, // turns a second
      owed: 0, // turns of the rotor that the crank still has in hand
      cranked: 0,
      clutch: false, // slipped
      forceps: true, // on the arterial line
      flow: 0,
      line: 0,
      air: 0, // ml in the trap
      stuck: false,
      shut: false,
      vent: false,
      purge: 0,
      clot: 0,
      filter: 'A',
      suction: 0,
      sucker: 0,
      discSet: 0,
      discs: 0,
      gasSet: 0,
      gas: 0,
      bottle: 'A',
      empty: false,
      content: 120, // bar behind the regulator
      mix: 20,
      steam: true, // cock open
      scald: false,
      water: 20,
      blood: 20, // leaving the exchanger
      sat: 0, // leaving the cylinder
      foam: 0,
      plasma: 4, // free haemoglobin, mg in 100 ml
      cases: 0,
      starved: 0, // minutes, over all cases
      spin: 0, // turns of the rotor since the start, for the drawing
      wheel: 0, // turns of the discs
      suckSpin: 0,
      waits: CAUSES.map(() => 0),
      on: CAUSES.map(() => false),
      ringing: false,
      clicks: 0,
    };
  }

  const live = () => s.mains && !s.blown;
  const veins = () => (s.body - SLACK) / GIVE;
  const heartFlow = () => (s.rhythm === 'beating' ? clamp((5 * s.strength * veins()) / 6, 0, 7) : 0);
  const need = () => NEED * Math.pow(2, (s.bodyTemp - 37) / 7);
  const wet = () => s.vol > 30;

  /* ------------------------------------------------------------------ one step of everything */
  function step() {
    s.clock += (STEP * CLOCK) / 60;
    stepPump(STEP);
    stepVolumes(STEP);
    stepGas(STEP);
    stepHeat(STEP);
    stepBlood(STEP);
    stepPatient(STEP);
    stepSurgeon(STEP);
    stepAlarms(STEP);
  }

  function stepPump(h) {
    const motor = live() && !s.clutch ? s.pumpSet / (60 * ROTOR) : 0;
    const hand = Math.min(s.owed, 1.6 * h);
    s.owed -= hand;
    s.cranked = toward(s.cranked, hand / h, h, 0.3);
    const asked = Math.max(motor, s.cranked);
    s.rotor = toward(s.rotor, asked, h, asked > s.rotor ? 0.9 : 0.6);
    if (s.rotor < 0.001) s.rotor = 0;
    s.spin += s.rotor * h;

    const thrown = s.rotor * ROTOR * 60; // l/min, of whatever the outlet gives
    const airy = s.vol < MOUTH ? 1 - s.vol / MOUTH : 0;
    s.air = clamp(s.air + thrown * airy * ML * h * 0.5, 0, 90);
    const barred = s.forceps || s.shut;
    const lost = s.vent ? Math.min(thrown, 0.4) : 0;
    const through = barred ? 0 : Math.max(0, thrown * (1 - airy) - lost);
    s.flow = toward(s.flow, through, h, 0.25);
    if (s.flow < 0.002) s.flow = 0;
    const back = barred ? (s.vent ? 30 : s.line + thrown * 160 * h) : s.map * (thrown > 0.05 ? 1 : 0) + 4 * s.flow * s.flow * (1 + 3 * s.clot);
    s.line = clamp(barred && !s.vent && thrown > 0.02 ? back : toward(s.line, barred ? 0 : back, h, 0.5), 0, 450);
    if (s.line < 0.05) s.line = 0;
    if (s.line > SLIP && !s.clutch) {
      s.clutch = true;
      s.owed = 0;
      s.clicks += 1;
    }
    if (s.line > SLIP) s.rotor = 0;

    // The float: it sinks on to its seat when air takes the blood from under it, and lifts when the trap is full again.
    if (s.vent) s.air = Math.max(0, s.air - 14 * h);
    s.purge = s.vent && s.pumpSet === 0 ? s.purge + h : 0;
    if (s.stuck && s.purge > 4) s.stuck = false;
    if (s.stuck || s.air > 40) {
      if (!s.shut) s.clicks += 1;
      s.shut = true;
    } else if (s.air < 5) s.shut = false;
  }

  function stepVolumes(h) {
    const draining = s.vol < FULL ? clamp(1.05 * (veins() + 3), 0, 7) * (s.venous / 10) : 0;
    s.drained = toward(s.drained, draining, h, 0.5);
    if (s.drained < 0.002) s.drained = 0;
    const out = Math.min(s.drained * ML * h, Math.max(0, s.body - SLACK + 300));
    const given = Math.min(s.flow * ML * h, s.vol);
    const dripped = Math.min(s.drip * 9 * h, s.donor, Math.max(0, FULL - s.vol));
    s.sucker = toward(s.sucker, live() ? s.suction : 0, h, 0.5);
    if (s.sucker < 0.005) s.sucker = 0;
    s.suckSpin += s.sucker * 0.12 * h;
    const saved = Math.min(s.sucker * 2.2 * h, s.field);
    const leak = s.stage === 'open' ? Math.min((3 + 0.03 * s.map) * h, Math.max(0, s.body - SLACK)) : 0;
    s.donor -= dripped;
    s.vol = clamp(s.vol + out - given + dripped + saved, 0, FULL);
    s.body = clamp(s.body - out + given - leak, 3600, 7000);
    s.field = clamp(s.field + leak - saved, 0, 400);
  }

  function stepGas(h) {
    const turned = live() ? s.discSet : 0;
    s.discs = toward(s.discs, turned, h, 1.6);
    if (s.discs < 0.05) s.discs = 0;
    s.wheel += (s.discs / 60) * h;
    const supplied = s.bottle === 'B' || !s.empty;
    s.content = toward(s.content, supplied ? 120 : 0, h, supplied ? 0.5 : 3);
    s.gas = toward(s.gas, s.gasSet * clamp(s.content / 30, 0, 1), h, 0.7);
    if (s.gas < 0.005) s.gas = 0;
    const through = Math.max(0.3, s.flow);
    const film = 0.05 * s.discs * clamp(s.gas / through, 0, 1) * clamp(s.vol / 600, 0, 1) * (1 - s.foam / 200);
    const reddened = s.venousSat + (0.985 - s.venousSat) * clamp(film / through, 0, 1);
    s.sat = wet() ? toward(s.sat < 0.1 ? s.venousSat : s.sat, reddened, h, 1.5) : 0;
  }

  function stepHeat(h) {
    const sent = s.steam && s.scald ? 58 : s.steam ? s.mix : Math.min(s.mix, 14);
    s.water = toward(s.water, sent, h, 3);
    s.blood = toward(s.blood, s.bodyTemp + (s.water - s.bodyTemp) * 0.75, h, 2);
    s.bodyTemp += (s.blood - s.bodyTemp) * s.flow * 0.006 * h;
    // Off the machine the patient's own warmth mends him, slowly.
    s.bodyTemp += clamp(36.8 - s.bodyTemp, -1, 1) * heartFlow() * 0.004 * h;
    s.bodyTemp = clamp(s.bodyTemp, 12, 44);
  }

  function stepBlood(h) {
    const moving = s.flow > 0.2;
    const beaten = Math.max(0, s.discs - 120) * 0.05;
    const dry = s.field < 2 ? s.sucker * 0.12 : s.sucker * 0.02;
    const scalded = moving ? Math.max(0, s.blood - 41) * 0.8 : 0;
    const crushed = s.line > 300 ? 0.5 : 0;
    const froth = wet() ? beaten * 1.5 + s.sucker * 0.25 + (moving ? Math.max(0, Math.abs(s.water - s.bodyTemp) - 24) * 0.6 : 0) : 0;
    s.foam = clamp(s.foam + (froth - s.foam * 0.06) * h, 0, 100);
    s.plasma = clamp(s.plasma + (beaten * 0.4 + dry * 0.4 + scalded + crushed - (s.plasma - 4) / 400) * h, 4, 250);
    s.heparin -= ((s.heparin * Math.LN2) / HALF) * h;
    if (s.heparin < 0.001) s.heparin = 0;
    const thick = s.flow + s.drained > 0.2 && s.heparin < 1;
    s.clot = clamp(s.clot + (thick ? 0.02 * (1.3 - s.heparin) : 0) * h, 0, 1);
  }

  function stepPatient(h) {
    const own = heartFlow();
    const total = own + s.flow;
    const asked = need();
    const resistance = 17 * (1 + 0.018 * (37 - s.bodyTemp)) * (1 - s.acid / 60);
    s.map = toward(s.map, clamp(total * resistance, 0, 190), h, 2);
    const arterial = total > 0.01 ? (s.flow * s.sat + own * 0.97) / total : 0;
    const returned = total > 0.05 ? clamp(arterial - asked / (total * CARRY), 0.12, 0.95) : 0.12;
    s.venousSat = toward(s.venousSat, returned, h, 4);
    const supply = total * CARRY * arterial * (s.map < 30 ? s.map / 30 : 1);
    const short = clamp(1 - (supply * 0.62) / asked, 0, 1);
    const minutes = (h * CLOCK) / 60;
    if (short > 0) s.reserve -= short * minutes * (asked / NEED);
    else s.reserve += minutes * 0.25;
    s.reserve = clamp(s.reserve, 0, RESERVE);
    s.acid = clamp(s.acid + (short * 2 - 0.06) * minutes, 0, 25);
    if (s.reserve > 0) s.strength = clamp(s.strength + (veins() > 14 ? -0.02 : 0.004) * h, 0.2, 1);
    else {
      s.starved = Math.min(9999, s.starved + minutes);
      s.strength = clamp(s.strength - 0.03 * h, 0.2, 1);
      if (s.rhythm === 'beating') s.rhythm = 'fibrillating';
      if (!s.lost && s.acid > 14) s.lost = true;
    }
    if (s.bodyTemp < 30.5 && s.rhythm === 'beating') s.rhythm = 'fibrillating';
  }

  /* What the surgeon does follows from what he is given: an empty, quiet heart, a dry field, blood that does not clot. */
  function stepSurgeon(h) {
    const next = (ready, seconds, stage) => {
      s.settled = ready ? s.settled + h : 0;
      if (s.settled < seconds) return;
      s.settled = 0;
      s.stage = stage;
      s.clicks += 1;
    };
    if (s.lost) return;
    if (s.stage === 'ready') next(s.flow > 1 && s.drained > 1, 1, 'bypass');
    else if (s.stage === 'bypass') next(s.rhythm !== 'beating' && veins() < 3 && s.flow > 2.5 && s.heparin > 1, 3, 'open');
    else if (s.stage === 'open') {
      if (s.field < 120 && veins() < 4 && s.rhythm !== 'beating') s.stitches = Math.min(STITCHES, s.stitches + 0.5 * h);
      next(s.stitches >= STITCHES, 1, 'closed');
    } else if (s.stage === 'closed') next(s.rhythm === 'beating' && s.flow === 0 && s.drained === 0 && s.map > 55, 4, 'off');
  }

  /* ------------------------------------------------------------------ the tallies: name, cause, seconds it must last */
  const CAUSES = [
    ['LEVEL LOW', () => s.vol < 450 && s.flow + s.rotor > 0.1, 1],
    ['LEVEL HIGH', () => s.vol > 2700, 1],
    ['TRAP SHUT', () => s.shut, 0.2],
    ['LINE HIGH', () => s.line > 280, 0.3],
    ['CLUTCH OUT', () => s.clutch, 0],
    ['PRESSURE LOW', () => s.map < 42, 2],
    ['DARK BLOOD', () => s.flow > 0.5 && s.sat < 0.88, 3],
    ['OXYGEN LOW', () => s.content < 20, 0.5],
    ['MAINS FAILED', () => s.blown, 0.3],
    ['WATER HOT', () => s.water > 43, 1],
    ['CLOTTING', () => s.clot > 0.25, 1],
    ['STARVED', () => s.reserve < 2.5 || s.lost, 0.5],
  ];

  function stepAlarms(h) {
    let any = false;
    for (let n = 0; n < CAUSES.length; n += 1) {
      const caused = CAUSES[n][1]();
      s.waits[n] = caused ? Math.min(600, s.waits[n] + h) : 0;
      const on = s.on[n] ? caused : s.waits[n] > CAUSES[n][2];
      if (on && !s.on[n]) s.ringing = true;
      s.on[n] = on;
      any = any || on;
    }
    if (!any) s.ringing = false;
  }

  let s = null;
  s = cold();
  const alarms = () => CAUSES.filter((_, n) => s.on[n]).map((cause) => cause[0]);

  /* ------------------------------------------------------------------ what the hands do */
  const tenth = (value, low, high) => clamp(Math.round(value * 10) / 10, low, high);
  const acts = {
    mains: () => (s.mains = !s.mains),
    fuse: () => (s.blown = false),
    drip: (value) => (s.drip = clamp(Math.round(value), 0, 10)),
    venous: (value) => (s.venous = tenth(value, 0, 10)),
    pump: (value) => (s.pumpSet = tenth(value, 0, 6)),
    crank(turns) {
      if (s.line <= SLIP) s.owed = clamp(s.owed + turns, 0, 8);
    },
    clutch() {
      if (s.pumpSet === 0 && s.line < 250) s.clutch = false;
    },
    forceps: () => (s.forceps = !s.forceps),
    vent: () => (s.vent = !s.vent),
    filter() {
      s.filter = s.filter === 'A' ? 'B' : 'A';
      s.clot = 0; // sister puts a clean gauze in the side that is out
    },
    suction: (value) => (s.suction = clamp(Math.round(value), 0, 10)),
    discs: (value) => (s.discSet = clamp(Math.round(value / 5) * 5, 0, 160)),
    gas: (value) => (s.gasSet = tenth(value, 0, 10)),
    bottle(place) {
      s.bottle = place;
      if (place === 'B') s.empty = false; // the porter takes the other one away full again
    },
    mix(value) {
      s.mix = clamp(Math.round(value), 5, 42);
      if (s.mix === 5 && !s.steam) s.scald = false; // with the steam off and cold water through, the seat frees itself
    },
    steam() {
      s.steam = !s.steam;
      if (s.mix === 5 && !s.steam) s.scald = false;
    },
    heparin: () => (s.heparin = Math.min(9, s.heparin + 3)),
    protamine: () => (s.heparin = Math.max(0, s.heparin - 3)),
    shock() {
      if (s.rhythm === 'beating') {
        s.rhythm = 'fibrillating';
        return;
      }
      if (s.bodyTemp >= 33.5 && s.map > 45 && s.reserve > 0) s.rhythm = 'beating';
      else s.strength = Math.max(0.2, s.strength - 0.05);
    },
    nextCase() {
      if (!(s.stage === 'off' || s.lost || s.stage === 'ready') || s.flow > 0 || s.drained > 0) return;
      if (s.stage === 'off' && !s.lost) s.cases += 1;
      Object.assign(s, patient());
    },
    silence: () => (s.ringing = false),
  };

  const machine = {
    name: 'Kelburn Heart-Lung',
    faults: FAULTS.slice(),
    state() {
      return {
        clock: s.clock,
        mains: s.mains,
        fuse: !s.blown,
        stage: s.lost ? 'lost' : s.stage,
        stitches: Math.floor(s.stitches + 1e-9),
        rhythm: s.rhythm,
        heartStrength: s.strength,
        arterialPressure: s.map,
        venousPressure: veins(),
        bodyTemperature: s.bodyTemp,
        bodyVolume: s.body,
        field: s.field,
        reserve: s.reserve,
        acid: s.acid,
        starved: s.starved,
        cases: s.cases,
        donorBlood: s.donor,
        donorClamp: s.drip,
        level: s.vol,
        foam: s.foam,
        venousClamp: s.venous,
        drained: s.drained,
        arterialPump: s.pumpSet,
        flow: s.flow,
        rotor: s.rotor * 60,
        turns: s.spin,
        arterialClamp: s.forceps,
        linePressure: s.line,
        clutch: s.clutch,
        trapAir: s.air,
        trapShut: s.shut,
        trapVent: s.vent,
        filter: s.filter,
        clot: s.clot,
        suction: s.suction,
        discsSet: s.discSet,
        discs: s.discs,
        oxygenSet: s.gasSet,
        oxygen: s.gas,
        bottle: s.bottle,
        bottlePressure: s.content,
        waterMixer: s.mix,
        steamCock: s.steam,
        water: s.water,
        bloodTemperature: s.blood,
        arterialSaturation: s.sat,
        venousSaturation: s.venousSat,
        plasma: s.plasma,
        heparin: s.heparin,
        ringing: s.ringing,
        alarms: alarms(),
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
      if (!name) throw new Error('the Kelburn knows no fault called ' + fault);
      s.clicks += 1;
      if (name === 'Fuse blown') s.blown = true;
      if (name === 'Bottle empty') {
        s.empty = true;
        s.bottle = 'A';
      }
      if (name === 'Trap float stuck') s.stuck = true;
      if (name === 'Steam valve stuck') {
        s.scald = true;
        s.steam = true;
      }
    },
    reset() {
      s = cold();
      render();
    },
  };
  window.machine = machine;

  /* ------------------------------------------------------------------ drawing: scales once, then only what has changed */
  const SVG = 'http://www.w3.org/2000/svg';
  const $ = (selector) => document.querySelector(selector);
  const $$ = (selector) => Array.from(document.querySelectorAll(selector));
  const found = {};
  const one = (selector) => found[selector] || (found[selector] = $(selector));
  const still = window.matchMedia('(prefers-reduced-motion: reduce)');

  function add(parent, tag, attributes, text) {
    const node = document.createElementNS(SVG, tag);
    for (const key of Object.keys(attributes)) node.setAttribute(key, attributes[key]);
    if (text !== undefined) node.textContent = text;
    parent.appendChild(node);
    return node;
  }

  const written = {};
  function put(selector, attribute, value) {
    const key = selector + '@' + attribute;
    if (written[key] === value) return;
    written[key] = value;
    const node = one(selector);
    if (attribute === 'text') node.textContent = value;
    else node.setAttribute(attribute, value);
  }
  function mark(selector, name, on) {
    const key = selector + '.' + name;
    if (written[key] === on) return;
    written[key] = on;
    one(selector).classList.toggle(name, on);
  }

  const polar = (cx, cy, radius, degrees) => {
    const a = ((degrees - 90) * Math.PI) / 180;
    return [cx + radius * Math.cos(a), cy + radius * Math.sin(a)];
  };
  const stroke = (cx, cy, from, to, degrees) => {
    const [x1, y1] = polar(cx, cy, from, degrees);
    const [x2, y2] = polar(cx, cy, to, degrees);
    return `M${x1.toFixed(1)} ${y1.toFixed(1)} L${x2.toFixed(1)} ${y2.toFixed(1)}`;
  };
  const arc = (cx, cy, radius, from, to) => {
    const [x1, y1] = polar(cx, cy, radius, from);
    const [x2, y2] = polar(cx, cy, radius, to);
    return `M${x1.toFixed(1)} ${y1.toFixed(1)} A${radius} ${radius} 0 ${to - from > 180 ? 1 : 0} 1 ${x2.toFixed(1)} ${y2.toFixed(1)}`;
  };
  const numbers = (node) => ['min', 'max', 'step', 'minor', 'turn'].map((key) => Number(node.dataset[key]));
  const ranges = (node) => [['green', 'good'], ['red', 'bad']]
    .filter(([key]) => node.dataset[key])
    .map(([key, kind]) => [...node.dataset[key].split(',').map(Number), kind]);

  const angles = {}; // by needle or knob: value to degrees
  const heights = {}; // by column: value to y

  function drawKnob(group) {
    const [low, high, big, , turn] = numbers(group);
    const at = (value) => -turn / 2 + ((value - low) / (high - low)) * turn;
    angles[group.parentNode.querySelector('[data-knob]').dataset.knob] = at;
    for (let value = low; value <= high + 1e-6; value += big / 2) {
      const whole = Math.abs(value / big - Math.round(value / big)) < 1e-6;
      add(group, 'path', { d: stroke(75, 75, 50, whole ? 57 : 54, at(value)), class: 'tick' });
      if (!whole) continue;
      const [x, y] = polar(75, 75, 66, at(value));
      add(group, 'text', { x: x.toFixed(1), y: (y + 4.5).toFixed(1), class: 'figure' }, String(value));
    }
  }

  function drawDial(group) {
    const [low, high, big, minor] = numbers(group);
    const at = (value) => -130 + ((clamp(value, low, high) - low) / (high - low)) * 260;
    angles[group.dataset.dial] = at;
    for (const [from, to, kind] of ranges(group)) add(group, 'path', { d: arc(80, 80, 61, at(from), at(to)), class: 'zone ' + kind });
    for (let value = low; value <= high + 1e-6; value += minor) {
      const whole = Math.abs(value / big - Math.round(value / big)) < 1e-6;
      add(group, 'path', { d: stroke(80, 80, whole ? 53 : 58, 65, at(value)), class: 'tick' });
      if (!whole) continue;
      const [x, y] = polar(80, 80, 42, at(value));
      add(group, 'text', { x: x.toFixed(1), y: (y + 4.5).toFixed(1), class: 'figure' }, String(value));
    }
  }

  function drawColumn(group) {
    const [low, high, big, minor] = numbers(group);
    const at = (value) => 240 - ((clamp(value, low, high) - low) / (high - low)) * 222;
    heights[group.dataset.column] = at;
    for (const [from, to, kind] of ranges(group)) add(group, 'rect', { x: 30, y: at(to), width: 6, height: at(from) - at(to), class: kind });
    for (let value = low; value <= high + 1e-6; value += minor) {
      const whole = Math.abs((value - low) / big - Math.round((value - low) / big)) < 1e-6;
      add(group, 'path', { d: `M30 ${at(value).toFixed(1)} h${whole ? 13 : 8}`, class: 'tick' });
      if (whole) add(group, 'text', { x: 80, y: (at(value) + 6).toFixed(1), class: 'figure end' }, String(value));
    }
  }

  const satAt = (value) => 60 + clamp(value, 0.3, 1) * 377 - 113;
  function drawOnce() {
    $$('[data-scale]').forEach(drawKnob);
    $$('[data-dial]').forEach(drawDial);
    $$('[data-column]').forEach(drawColumn);
    const sat = $('[data-sat]');
    add(sat, 'rect', { x: satAt(0.92), y: 44, width: satAt(1) - satAt(0.92), height: 5, class: 'good' });
    add(sat, 'rect', { x: satAt(0.6), y: 52, width: satAt(0.85) - satAt(0.6), height: 5, class: 'good' });
    for (let n = 30; n <= 100; n += 2) {
      const x = satAt(n / 100);
      const whole = n % 10 === 0;
      add(sat, 'path', { d: `M${x.toFixed(1)} ${whole ? 40 : 46} V${whole ? 60 : 54}`, class: 'tick' });
    }
    for (let n = 30; n <= 100; n += 10) add(sat, 'text', { x: satAt(n / 100), y: 92, class: 'figure' }, String(n));
    const etch = $('[data-etch]');
    add(etch, 'rect', { x: 54, y: 34, width: 62, height: 136, rx: 3, class: 'strip' });
    for (let n = 250; n <= 3000; n += 250) {
      const y = pondAt(n);
      add(etch, 'path', { d: `M58 ${y.toFixed(1)} h${n % 500 ? 8 : 15}`, class: n === 500 ? 'tick low' : 'tick' });
      if (n % 1000 === 0 || n === 500) add(etch, 'text', { x: 78, y: (y + 4.5).toFixed(1), class: 'figure start' }, String(n));
    }
    const rota = $('[data-rotascale]');
    for (let n = 0; n <= 10; n += 1) {
      add(rota, 'path', { d: `M34 ${rotaAt(n)} h${n % 2 ? 4 : 7}`, class: 'tick' });
      if (n % 2 === 0) add(rota, 'text', { x: 13, y: rotaAt(n) + 4, class: 'figure' }, String(n));
    }
    const bend = $('[data-arc]');
    for (const [from, to, kind] of [[5, 16, 'chill'], [16, 34, 'tepid'], [34, 42, 'warm']]) {
      add(bend, 'path', { d: arc(95, 112, 84, mixAt(from), mixAt(to)), class: 'band ' + kind });
    }
    for (const n of [5, 10, 15, 20, 25, 30, 35, 40]) {
      add(bend, 'path', { d: stroke(95, 112, 77, 91, mixAt(n)), class: 'tick' });
      const [x, y] = polar(95, 112, 100, mixAt(n));
      if (n % 10 === 0 || n === 5) add(bend, 'text', { x: x.toFixed(1), y: (y + 3).toFixed(1), class: 'figure' }, String(n));
    }
    for (const disc of Array.from($('[data-discs]').children)) {
      const sunk = disc.querySelector('.disc').cloneNode(false);
      const place = add($('[data-sunk]'), 'g', { transform: disc.getAttribute('transform') });
      place.appendChild(sunk);
    }
  }
  function pondAt(ml) {
    return 168 - (clamp(ml, 0, FULL) / FULL) * 128;
  }
  function rotaAt(litres) {
    return 174 - clamp(litres, 0, 10) * 15.6;
  }
  function mixAt(degrees) {
    return -66 + ((degrees - 5) / 37) * 132;
  }

  /* Blood from nearly black to bright, by how much oxygen is in it. */
  const DARK = [58, 12, 34];
  const BRIGHT = [190, 14, 34];
  function hue(sat) {
    const t = Math.round(Math.pow(clamp((sat - 0.5) / 0.47, 0, 1), 1.7) * 24) / 24;
    const mix = DARK.map((from, n) => Math.round(from + (BRIGHT[n] - from) * t));
    return `rgb(${mix.join(',')})`;
  }
  const CLEAR = '#e9f3f5';

  const fixed = (value, places) => value.toFixed(places);
  function read(key, text) {
    put(`[data-read="${key}"]`, 'text', text);
  }
  function worth(name, value, text) {
    put(`[data-control="${name}"]`, 'aria-valuenow', String(value));
    if (text) put(`[data-control="${name}"]`, 'aria-valuetext', text);
  }
  function toggled(name, on) {
    put(`[data-control="${name}"]`, 'aria-checked', String(on));
  }
  const turned = (selector, degrees, cx, cy) => put(selector, 'transform', `rotate(${degrees.toFixed(1)} ${cx} ${cy})`);

  const STAGES = {
    ready: 'Chest open. Cannulae in, lines clamped.',
    bypass: 'On bypass. Cool him under 30, keep him empty.',
    open: 'Heart open. Sewing.',
    closed: 'Heart closed. Warm him over 34, then shock.',
    off: 'Off bypass. His heart carries. Next case.',
    lost: 'Starved too long. The list is stopped.',
  };
  let told = '';

  function render() {
    if (!found.ready) return;
    renderTubes();
    renderGlass();
    renderPatient();
    renderGauges();
    renderControls();
    const words = alarms().join(', ');
    mark('.rail', 'ringing', s.ringing);
    if (words === told) return;
    told = words;
    CAUSES.forEach(([name], n) => mark(`[data-tally="${name}"]`, 'down', s.on[n]));
    put('[data-spoken]', 'text', words ? `Tallies down: ${words.toLowerCase()}` : '');
  }

  function renderTubes() {
    const full = wet();
    const red = full ? hue(s.sat) : CLEAR;
    const dark = hue(s.venousSat);
    const paint = (name, colour) => put(`[data-tube="${name}"]`, 'stroke', colour);
    paint('venous', full ? dark : CLEAR);
    paint('venousin', dark);
    paint('venous2', dark);
    paint('arterial2', full ? red : CLEAR);
    for (const name of ['outlet', 'pumped', 'warmed', 'arterial', 'head']) paint(name, red);
    mark('.tubes', 'primed', full);
    paint('donor', s.drip > 0 && s.donor > 0 ? '#701427' : CLEAR);
    const sucks = s.sucker > 0.3 && s.field > 0.5;
    for (const name of ['sucked', 'sucked2', 'suckhead', 'returned']) paint(name, sucks ? '#8e1a30' : CLEAR);
  }

  function renderGlass() {
    const top = pondAt(s.vol);
    put('[data-pond]', 'transform', `translate(0 ${(wet() ? top : 200).toFixed(1)})`);
    put('[data-sunk]', 'transform', `translate(0 ${(-top).toFixed(1)})`);
    put('[data-stop="in"]', 'stop-color', hue(s.venousSat));
    put('[data-stop="out"]', 'stop-color', hue(s.sat));
    const deep = s.foam * 0.5;
    put('[data-suds]', 'y', (top - deep).toFixed(1));
    put('[data-suds]', 'height', deep.toFixed(1));
    put('[data-suds]', 'opacity', s.foam > 3 && wet() ? '0.95' : '0');
    mark('.oxygenator', 'filmed', wet() && s.discs > 15);
    const wheels = still.matches ? Math.round(s.wheel * 4) / 4 : s.wheel;
    turned('[data-pulley]', (wheels * 360) % 360, 0, 0);
    const rotor = still.matches ? Math.round(s.spin * 4) / 4 : s.spin;
    turned('[data-rotor="arterial"]', (rotor * 360) % 360, 92, 66);
    const sucker = still.matches ? Math.round(s.suckSpin * 4) / 4 : s.suckSpin;
    turned('[data-rotor="suction"]', (sucker * 360) % 360, 65, 58);
    put('[data-trap]', 'y', (wet() ? 20 + s.air * 0.9 : 140).toFixed(1));
    put('[data-trap]', 'fill', hue(s.sat));
    put('[data-float]', 'transform', `translate(0 ${(s.shut ? 26 : wet() ? clamp(s.air * 0.5 - 10, -10, 26) : 20).toFixed(1)})`);
    put('[data-clot]', 'opacity', fixed(s.clot, 2));
    put('[data-jacket]', 'stroke', s.water > 43 ? '#d8301f' : s.water > 32 ? '#c98a4b' : s.water > 18 ? '#6f9fb8' : '#2f6f9f');
    put('[data-bottle-shape]', 'opacity', s.donor > 0 ? '1' : '0.45');
    put('[data-donor]', 'transform', `translate(0 ${(s.donor > 0 ? (1 - (((s.donor - 1) % 500) + 1) / 500) * 48 : 70).toFixed(0)})`);
  }

  function renderPatient() {
    const second = s.clock * 3;
    let beat = 'scale(1)';
    if (s.rhythm === 'beating' && !still.matches && second % 0.85 < 0.3) beat = 'translate(165 250) scale(.955) translate(-165 -250)';
    if (s.rhythm === 'fibrillating' && !still.matches) beat = `translate(${Math.floor(second * 4) % 2 ? 1 : -0.4} ${Math.floor(second * 3) % 2 ? 0.8 : 0})`;
    put('[data-heart]', 'transform', beat);
    put('[data-pool]', 'transform', `translate(0 ${(-s.field * 0.22).toFixed(1)})`);
    const open = s.stage === 'open';
    put('[data-slit]', 'visibility', open ? 'visible' : 'hidden');
    put('[data-seam]', 'visibility', s.stage === 'closed' || s.stage === 'off' ? 'visible' : 'hidden');
    const sewn = Math.floor(s.stitches + 1e-9);
    for (let n = 0; n < STITCHES; n += 1) put(`[data-stitch="${n}"]`, 'visibility', n < sewn ? 'visible' : 'hidden');
    const full = veins() > 12 ? ', overfull' : veins() < 3.5 ? ', empty' : '';
    put('[data-rhythm]', 'text', `Heart ${s.rhythm}${full}`);
    put('[data-stage]', 'text', STAGES[s.lost ? 'lost' : s.stage]);
    read('stitches', `${sewn} of ${STITCHES}`);
    read('cases', String(s.cases));
    read('starved', `${fixed(s.starved, 1)} min`);
    const minute = Math.floor(s.clock) % 1440;
    read('clock', `${String(Math.floor(minute / 60)).padStart(2, '0')}.${String(minute % 60).padStart(2, '0')}`);
  }

  function renderGauges() {
    turned('[data-needle="flow"]', angles.flow(s.flow), 80, 80);
    turned('[data-needle="line"]', angles.line(s.line), 80, 80);
    const columns = { map: s.map, cvp: veins(), body: s.bodyTemp, blood: s.blood, water: s.water };
    for (const key of Object.keys(columns)) {
      const y = heights[key](columns[key]);
      put(`[data-rise="${key}"]`, 'y', y.toFixed(1));
      put(`[data-rise="${key}"]`, 'height', (250 - y).toFixed(1));
    }
    put('[data-pointer="sa"]', 'transform', `translate(${satAt(s.sat).toFixed(1)} 0)`);
    put('[data-pointer="sv"]', 'transform', `translate(${satAt(s.venousSat).toFixed(1)} 0)`);
    read('content', String(Math.round(s.content)));
    turned('[data-needle="content"]', angles.content(s.content), 80, 80);
    read('gas', fixed(s.gasSet, 1));
    read('heparin', fixed(s.heparin, 1));
    const stain = clamp((s.plasma - 4) / 90, 0, 1);
    put('[data-plasma]', 'style', `background:rgb(${Math.round(240 - stain * 40)},${Math.round(222 - stain * 150)},${Math.round(150 - stain * 80)})`);
  }

  function renderControls() {
    const plain = { pump: [s.pumpSet, 'ARTERIAL PUMP', 'litres a minute'], discs: [s.discSet, 'DISCS', 'revolutions a minute'], gas: [s.gasSet, 'OXYGEN', 'litres a minute'] };
    for (const key of Object.keys(plain)) {
      const [value, name, unit] = plain[key];
      turned(`[data-knob="${key}"]`, angles[key](value), 75, 75);
      worth(name, value, `${value} ${unit}`);
    }
    read('pump', fixed(s.pumpSet, 1));
    read('discs', String(s.discSet));
    read('turning', String(Math.round(s.discs)).padStart(3, '0'));
    put('[data-bobbin]', 'transform', `translate(0 ${rotaAt(s.gas).toFixed(1)})`);
    worth('VENOUS CLAMP', s.venous, s.venous === 0 ? 'shut' : s.venous === 10 ? 'open' : `open ${s.venous} tenths`);
    read('venous', fixed(s.venous, s.venous % 1 ? 1 : 0));
    put('[data-jaw]', 'transform', `translate(0 ${(20 - s.venous * 1.7).toFixed(1)})`);
    worth('DONOR CLAMP', s.drip, s.drip === 0 ? 'shut' : `open ${s.drip} tenths`);
    read('drip', String(s.drip));
    read('donor', String(Math.round(s.donor / 10) * 10));
    put('[data-roller]', 'transform', `translate(0 ${70 - s.drip * 5.4})`);
    worth('SUCTION', s.suction, `${s.suction} tenths`);
    put('[data-grip]', 'transform', `translate(0 ${158 - s.suction * 14})`);
    worth('WATER', s.mix, `${s.mix} degrees`);
    turned('[data-lever]', mixAt(s.mix), 95, 112);
    read('mix', String(s.mix));
    worth('HAND CRANK', Math.round(s.spin), `turned ${Math.round(s.spin)} times`);
    toggled('MAINS', s.mains);
    toggled('ARTERIAL CLAMP', s.forceps);
    read('forceps', s.forceps ? 'on' : 'off');
    toggled('TRAP VENT', s.vent);
    toggled('FILTER', s.filter === 'B');
    read('filter', s.filter);
    toggled('STEAM COCK', s.steam);
    read('steam', s.steam ? 'open' : 'shut');
    mark('.fuse', 'gone', s.blown);
    read('fuse', s.blown ? 'blown' : 'whole');
    mark('.stud', 'out', s.clutch);
    for (const letter of ['A', 'B']) {
      const node = one(`[data-bottle="${letter}"]`);
      if (node.checked !== (s.bottle === letter)) node.checked = s.bottle === letter;
    }
    const given = clamp(s.heparin / 9, 0, 1);
    put('[data-plunger="heparin"]', 'transform', `translate(${(-given * 62).toFixed(1)} 0)`);
    put('[data-dose="heparin"]', 'width', (70 - given * 62).toFixed(1));
  }

  /* ------------------------------------------------------------------ sound, only after a hand has touched the trolley */
  let audio = null;
  let whirr = null;
  let tone = null;
  let heard = 0;
  let pulse = 0;
  let muted = false;

  function wake() {
    const Kind = window.AudioContext || window.webkitAudioContext;
    if (audio || !Kind) return;
    audio = new Kind();
    tone = audio.createOscillator();
    whirr = audio.createGain();
    whirr.gain.value = 0;
    tone.type = 'triangle';
    tone.frequency.value = 48;
    tone.connect(whirr).connect(audio.destination);
    tone.start();
    heard = s.clicks;
  }

  function note(pitch, loud, length, kind) {
    const voice = audio.createOscillator();
    const gain = audio.createGain();
    voice.type = kind;
    voice.frequency.value = pitch;
    gain.gain.setValueAtTime(loud, audio.currentTime);
    gain.gain.exponentialRampToValueAtTime(0.0001, audio.currentTime + length);
    voice.connect(gain).connect(audio.destination);
    voice.start();
    voice.stop(audio.currentTime + length);
  }

  function sound(seconds) {
    if (!audio || audio.state !== 'running') return;
    const busy = s.rotor + s.discs / 200;
    whirr.gain.setTargetAtTime(muted ? 0 : clamp(busy * 0.02, 0, 0.05), audio.currentTime, 0.15);
    tone.frequency.setTargetAtTime(46 + s.rotor * 30, audio.currentTime, 0.15);
    if (heard !== s.clicks) {
      heard = s.clicks;
      if (!muted) note(190, 0.09, 0.06, 'square');
    }
    pulse -= seconds;
    if (s.ringing && pulse <= 0 && !muted) {
      pulse = 1.1;
      note(1320, 0.03, 0.5, 'sine');
      note(1980, 0.012, 0.35, 'sine');
    }
  }

  /* ------------------------------------------------------------------ hands: pointer, touch, keyboard */
  const control = (name) => $(`[data-control="${name}"]`);

  function keyed(node, get, act, low, high, stride) {
    const keys = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, PageUp: 10, PageDown: -10 };
    node.addEventListener('keydown', (event) => {
      if (event.key === 'Home') act(low);
      else if (event.key === 'End') act(high);
      else if (keys[event.key]) act(clamp(get() + keys[event.key] * stride, low, high));
      else return;
      event.preventDefault();
      draw();
    });
  }

  function grip(node, start, move) {
    let on = false;
    node.addEventListener('pointerdown', (event) => {
      if (event.button) return;
      on = true;
      node.setPointerCapture(event.pointerId);
      node.focus({ preventScroll: true });
      start(event);
      event.preventDefault();
      draw();
    });
    node.addEventListener('pointermove', (event) => {
      if (!on) return;
      move(event);
      draw();
    });
    for (const end of ['pointerup', 'pointercancel', 'lostpointercapture']) node.addEventListener(end, () => (on = false));
  }

  /** Turned about its middle; `angle` is degrees for one unit. A full circle of the hand is 360. */
  function turner(node, pivot, change) {
    let last = 0;
    const bearing = (event) => {
      const box = pivot.getBoundingClientRect();
      return (Math.atan2(event.clientX - box.x - box.width / 2, box.y + box.height / 2 - event.clientY) * 180) / Math.PI;
    };
    grip(node, (event) => {
      last = bearing(event);
      change(0, true);
    }, (event) => {
      const now = bearing(event);
      change(((now - last + 540) % 360) - 180, false);
      last = now;
    });
  }

  function knob(name, get, act, high, stride, angle) {
    const node = control(name);
    let exact = 0;
    turner(node, node.querySelector('.pivot'), (degrees, first) => {
      if (first) exact = get();
      exact = clamp(exact + degrees / angle, 0, high);
      if (!first) act(exact);
    });
    keyed(node, get, act, 0, high, stride);
  }

  /** Slid up and down: `from` and `to` are where in the box, as shares of its height, lowest and highest are. */
  function slide(name, get, act, high, stride, from, to) {
    const node = control(name);
    const place = (event) => {
      const box = node.getBoundingClientRect();
      const share = (event.clientY - box.y) / box.height;
      act(clamp(((share - from) / (to - from)) * high, 0, high));
    };
    grip(node, place, place);
    keyed(node, get, act, 0, high, stride);
  }

  function wire() {
    knob('ARTERIAL PUMP', () => s.pumpSet, acts.pump, 6, 0.1, 50);
    knob('DISCS', () => s.discSet, acts.discs, 160, 5, 1.75);
    knob('OXYGEN', () => s.gasSet, acts.gas, 10, 0.5, 30);
    slide('VENOUS CLAMP', () => s.venous, acts.venous, 10, 1, 0.8, 0.2);
    slide('DONOR CLAMP', () => s.drip, acts.drip, 10, 1, 0.83, 0.19);
    slide('SUCTION', () => s.suction, acts.suction, 10, 1, 0.9, 0.1);

    const mixer = control('WATER');
    const pivot = mixer.querySelector('.pivot');
    const aim = (event) => {
      const box = pivot.getBoundingClientRect();
      const degrees = (Math.atan2(event.clientX - box.x - box.width / 2, box.y + box.height / 2 - event.clientY) * 180) / Math.PI;
      acts.mix(5 + ((clamp(degrees, -66, 66) + 66) / 132) * 37);
    };
    grip(mixer, aim, aim);
    keyed(mixer, () => s.mix, acts.mix, 5, 42, 1);

    const crank = control('HAND CRANK');
    turner(crank, crank.querySelector('.pivot'), (degrees) => acts.crank(Math.max(0, degrees) / 360));
    crank.addEventListener('keydown', (event) => {
      if (event.key !== 'ArrowUp' && event.key !== 'ArrowRight' && event.key !== ' ') return;
      acts.crank(1);
      event.preventDefault();
      draw();
    });

    const buttons = {
      MAINS: acts.mains,
      FUSE: acts.fuse,
      'ARTERIAL CLAMP': acts.forceps,
      'TRAP VENT': acts.vent,
      FILTER: acts.filter,
      'CLUTCH RESET': acts.clutch,
      'STEAM COCK': acts.steam,
      HEPARIN: acts.heparin,
      PROTAMINE: acts.protamine,
      COUNTERSHOCK: acts.shock,
      'NEXT CASE': acts.nextCase,
      SILENCE: acts.silence,
    };
    for (const name of Object.keys(buttons)) {
      control(name).addEventListener('click', () => {
        s.clicks += 1;
        buttons[name]();
        draw();
      });
    }
    for (const letter of ['A', 'B']) {
      one(`[data-bottle="${letter}"]`).addEventListener('change', () => {
        s.clicks += 1;
        acts.bottle(letter);
        draw();
      });
    }
    $$('[data-fault]').forEach((plug) => plug.addEventListener('click', () => {
      machine.inject(plug.dataset.fault);
      draw();
    }));
    const mute = $('[data-mute]');
    mute.addEventListener('click', () => {
      muted = !muted;
      mute.setAttribute('aria-pressed', String(muted));
    });
    const card = $('[data-manual]');
    $('[data-action="manual"]').addEventListener('click', () => card.showModal());
    $('[data-action="close-manual"]').addEventListener('click', () => card.close());
    document.addEventListener('pointerdown', wake);
    document.addEventListener('keydown', wake);
  }

  /* ------------------------------------------------------------------ the loop: rests when nothing turns, sleeps when nobody looks */
  const resting = () => s.rotor === 0 && s.owed === 0 && s.discs === 0 && s.sucker === 0 && s.drip === 0 && s.drained === 0 && s.line === 0;
  let before = 0;
  let shown = 0;
  let booked = 0;
  let rest = 0;

  function frame(at) {
    booked = 0;
    const seconds = clamp((at - before) / 1000, 0, 0.4);
    before = at;
    machine.tick(seconds);
    sound(seconds);
    if (at - shown > 30) {
      shown = at;
      render();
    }
    if (document.hidden) return;
    if (resting()) rest = setTimeout(book, 240);
    else book();
  }
  function book() {
    clearTimeout(rest);
    if (!booked) booked = requestAnimationFrame(frame);
  }
  /** Something was worked: show it in the next frame. */
  function draw() {
    shown = 0;
    book();
  }
  document.addEventListener('visibilitychange', () => {
    before = performance.now();
    if (!document.hidden) book();
  });

  drawOnce();
  wire();
  found.ready = true;
  render();
  before = performance.now();
  book();
})();
