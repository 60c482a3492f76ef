/* Kittiwake Aft Engine: six pairs of tyres, one cable, eight dummy repeaters, and a sea bed that was drawn minutes ago. */
(function () {
  'use strict';

  /* ------------------------------------------------------------------ constants: seconds, metres, knots, kilonewtons, bar, °C */
  const STEP = 0.05; // every tick is cut into these, so ten of one second and one of ten are the same run
  const KNOT = 0.5144; // metres a second
  const LENGTH = 1900; // metres of practice cable in the tank
  const FIRST = 120; // station of dummy 1 along the cable
  const APART = 220; // from one dummy to the next
  const DUMMIES = 8;
  const HALF = 1.3; // half a repeater's housing
  const FOOTPRINT = 0.25; // half the flat of a tyre
  const PITCH = 2; // metres from pair to pair; pair n stands n pitches from the mark
  const SHEAVE = 17; // where the stern sheave stands
  const CALL_AT = 45; // the tank calls when a dummy is so far from pair 1
  const SWING_SPEED = 2.2; // knots over the sheave that a housing stands without a bruise
  const WEIGHT = 0.05; // kN a metre of cable hanging in water
  const STIFF = 0.5; // kN for every metre that the bottom is short of cable
  const PARTS_AT = 26; // kN
  const GRIP = 0.55; // kN that one dry, cool pair holds for each bar of squeeze
  const LAY_ANGLE = 60; // degrees of cable below the horizontal at one knot; half of it at two
  const SHIP_LAG = 18; // seconds in which the ship answers her engines
  const AMBIENT = 14;
  const FLAT = 4; // the pair whose tyre the examiner bursts
  const FAULTS = ['Hose burst', 'Tank foul', 'Weed on log', 'Tyre burst'];

  const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
  const toward = (from, to, seconds, lag) => from + (to - from) * (1 - Math.exp(-seconds / lag));
  const PAIRS = [1, 2, 3, 4, 5, 6];

  /** Depth of the practice ground in metres at a distance along the track: one long swell of rock, a shorter, and ripples. */
  function depthAt(x) {
    return 104 - 44 * Math.cos((x + 120) / 205) + 13 * Math.sin(x / 74 + 1) + 2.5 * Math.sin(x / 19);
  }
  /** How steep the bottom is over a cable's bending length. */
  const slopeAt = (x) => (depthAt(x + 8) - depthAt(x - 8)) / 16;
  /** Share of extra cable that a slope takes to lie down on it, with one in a hundred to spare. */
  const needAt = (x) => Math.sqrt(1 + Math.pow(slopeAt(x), 2)) - 1 + 0.01;

  function cold() {
    return {
      carry: 0, // seconds not yet ticked
      clock: 0,
      /* what hands have set */
      compressor: false,
      header: 'A',
      squeezeSet: 0,
      pairs: [false, false, false, false, false, false], // true is shut on the cable
      spray: false,
      stopper: true,
      lever: 0, // pay out, knots
      drive: 'HAND',
      slackSet: 3, // per cent
      asked: 0, // way asked of the bridge, knots
      source: 'LOG',
      rod: false, // log rod up
      /* air */
      bottle: 5,
      squeeze: 0,
      pumping: false,
      burst: false,
      patching: 0,
      /* the ship */
      told: 0, // what the bridge has repeated back
      telling: 0,
      way: 0,
      pos: 0,
      log: 0,
      decca: 0,
      weed: false,
      rinsed: 0,
      layback: 12,
      /* the engine and the cable */
      roll: 0, // speed of the tyres, knots
      slip: 0, // and of the cable over them
      turn: 0, // metres of tyre gone by, for the eye
      out: 0,
      tension: WEIGHT * depthAt(0),
      stock: 0, // metres that the bottom has too much, or too little
      tyre: AMBIENT,
      wear: 0,
      flat: false,
      fitting: 0,
      foul: false,
      foulAt: 0,
      rung: 0, // seconds until the tank hands are done
      parted: false,
      strained: 0,
      tripped: false,
      nipped: 0, // number of the housing under a tyre
      nip: 0,
      blow: 0,
      next: 1, // dummy that comes next
      called: 0,
      fate: [0, 0, 0, 0, 0, 0, 0, 0], // 1 sound, 2 lost
      condemned: 0,
      waits: {},
      alarms: [],
      ringing: false,
      knocks: 0, // things that knock or hiss since reset: the sound follows these
      gongs: 0,
      trace: before(),
      lastDot: 0,
    };
  }

  /** The paper as the last crew left it: the ground behind the ship. */
  function before() {
    const dots = [];
    for (let x = -440; x <= 0; x += 4) dots.push(x);
    return dots;
  }

  let s = cold();

  const place = (dummy) => s.out - (FIRST + APART * (dummy - 1)); // of a dummy along the engine
  /** Whether a housing stands between the tyres of a pair: only the next one can, until it is over the sheave. */
  const housed = (pair) => s.next <= DUMMIES && Math.abs(place(s.next) - PITCH * pair) < HALF + FOOTPRINT;
  const speed = () => (s.stopper || s.parted ? 0 : Math.min(16, s.roll + s.slip));
  const friction = () => clamp(1 - 0.008 * Math.max(0, s.tyre - 70), 0.3, 1) * (s.spray ? 0.85 : 1);
  const gripping = () => s.pairs.reduce((sum, shut, n) => sum + (shut && !(s.flat && n + 1 === FLAT) ? 1 : 0), 0);
  const hold = () => 0.4 + gripping() * s.squeeze * GRIP * friction();
  const read = () => (s.source === 'LOG' ? s.log : s.decca);
  const slackNow = () => (s.way > 0.3 ? clamp((speed() / s.way - 1) * 100, -20, 30) : 0);
  const sound = () => s.fate.filter((fate) => fate === 1).length;
  const lost = () => s.fate.filter((fate) => fate === 2).length;

  /* ------------------------------------------------------------------ one step of everything */
  function step() {
    const h = STEP;
    s.clock += h;
    stepAir(h);
    stepShip(h);
    stepEngine(h);
    stepCable(h);
    stepDummies(h);
    stepHands(h);
    stepTrips(h);
    stepAlarms(h);
  }

  function stepAir(h) {
    if (s.bottle < 7.2) s.pumping = true;
    if (s.bottle > 8.5) s.pumping = false;
    if (s.compressor && s.pumping) s.bottle += 0.07 * h;
    const leaks = s.burst && s.header === 'A';
    if (leaks) s.bottle -= 0.07 * s.bottle * h;
    s.bottle = clamp(s.bottle, 0, 9);
    const given = Math.min(s.squeezeSet, s.bottle) * (leaks ? 0.7 : 1);
    const was = s.squeeze;
    s.squeeze = toward(s.squeeze, given, h, 1.6);
    if (s.squeeze > was) s.bottle = Math.max(0, s.bottle - 0.12 * (s.squeeze - was));
    // With the burst hose shut off, a deck hand has a new one on in half a minute.
    s.patching = s.burst && s.header === 'B' ? s.patching + h : 0;
    if (s.patching > 30) s.burst = false;
  }

  function stepShip(h) {
    s.telling = s.told === s.asked ? 0 : s.telling + h;
    if (s.telling > 3) s.told = s.asked;
    const held = 0.02 * Math.max(0, s.tension - 4); // a tight cable holds her back
    s.way = Math.max(0, toward(s.way, Math.max(0, s.told - (s.told ? held : 0)), h, SHIP_LAG));
    if (s.told === 0 && s.way < 0.02) s.way = 0;
    s.pos += s.way * KNOT * h;
    const angle = clamp(LAY_ANGLE / Math.max(0.75, s.way), 13, 80);
    s.layback = toward(s.layback, Math.min(430, depthAt(s.pos) / Math.tan((angle * Math.PI) / 180)), h, 6);
    s.rinsed = s.rod ? s.rinsed + h : 0;
    if (s.rinsed > 8) s.weed = false;
    const tide = s.way > 0.2 ? 0.06 * Math.sin(s.clock / 41) : 0;
    s.log = toward(s.log, s.rod ? 0 : Math.max(0, s.way + tide) + (s.weed ? 3.5 : 0), h, 1.5);
    s.decca = toward(s.decca, s.way, h, 9);
    if (s.pos - s.lastDot >= 4) {
      s.lastDot += 4;
      s.trace.push(s.lastDot);
      if (s.trace.length > 112) s.trace.shift();
    }
  }

  function stepEngine(h) {
    const follow = Math.min(s.lever, read() * (1 + s.slackSet / 100));
    const wanted = s.stopper || s.tripped || s.parted ? 0 : s.drive === 'HAND' ? s.lever : follow;
    s.roll = toward(s.roll, wanted, h, 0.9);
    if (s.roll < 0.01 && wanted === 0) s.roll = 0;
    const over = s.stopper || s.parted ? -1 : s.tension - hold();
    s.slip = over > 0 ? Math.min(12, s.slip + (over / 2.5) * h) : Math.max(0, s.slip - 2.5 * h);
    const v = speed() * KNOT;
    s.turn += s.roll * KNOT * h;
    const chewing = s.flat && s.pairs[FLAT - 1] && s.roll > 0.05;
    const flexed = 0.0035 * s.squeeze * s.squeeze * s.roll * KNOT * (gripping() / 6);
    const rubbed = gripping() ? 0.9 * s.slip : 0;
    const given = 0.02 * s.tension * v + flexed + rubbed + (chewing ? 0.3 : 0);
    s.tyre = clamp(s.tyre + (given - (0.006 + (s.spray ? 0.02 : 0)) * (s.tyre - AMBIENT)) * h, 0, 180);
    if (chewing) s.condemned += v * h;
  }

  function stepCable(h) {
    const v = speed() * KNOT;
    const over = s.way * KNOT;
    const touch = s.pos - s.layback;
    s.out = Math.min(LENGTH, s.out + v * h);
    s.stock += (v - over * (1 + needAt(touch))) * h;
    if (s.stock > 0) s.stock -= (s.stock / 20) * Math.min(1, s.way) * h; // it lies down behind her
    else if (s.told === 0 && s.way < 0.4 && s.stock < -4) s.stock += (-4 - s.stock) * h * 0.015; // she drops back on it
    s.stock = clamp(s.stock, -60, 20);
    if (s.parted) s.stock = 0;
    const swell = s.stopper ? 0 : 0.22 * (depthAt(s.pos) / 100) * Math.sin(s.clock * 0.9);
    const hangs = WEIGHT * depthAt(s.pos) - 0.1 * v + swell;
    const wanted = s.parted ? 0 : Math.max(0, hangs + STIFF * Math.max(0, -s.stock));
    s.tension = clamp(toward(s.tension, wanted, h, 0.6), 0, 40);
    if (s.stock < -5 || s.stock > 8) s.condemned += v * h;
    s.strained = s.tension > PARTS_AT ? s.strained + h : 0;
    if (s.strained > 3 && !s.parted) snap();
    s.condemned = Math.min(s.condemned, 99999);
  }

  function snap() {
    s.parted = true;
    s.knocks += 4;
    s.condemned += 200;
    s.slip = 0;
  }

  function stepDummies(h) {
    const under = PAIRS.some((pair) => s.pairs[pair - 1] && housed(pair));
    s.nip = under && (speed() > 0.05 || s.nip > 0) ? s.nip + h : 0;
    if (s.nip > 0.35 && !s.nipped) {
      s.nipped = s.next;
      s.fate[s.next - 1] = 2;
    }
    if (!under) s.nipped = 0;
    s.blow = Math.max(0, s.blow - h);
    if (s.next > DUMMIES) return;
    const at = place(s.next);
    if (at > PITCH - CALL_AT && s.called < s.next) {
      s.called = s.next;
      s.gongs += 1;
    }
    if (at < SHEAVE) return;
    if (speed() > SWING_SPEED) {
      s.fate[s.next - 1] = 2;
      s.blow = 12;
    } else if (s.fate[s.next - 1] === 0) s.fate[s.next - 1] = 1;
    s.next += 1;
  }

  /** What people below and on deck are doing for the operator. */
  function stepHands(h) {
    const still = speed() < 0.1;
    if (s.rung > 0 && still) {
      s.rung = Math.max(0, s.rung - h);
      if (s.rung === 0) answered();
    }
    if (s.fitting > 0 && !s.pairs[FLAT - 1]) {
      s.fitting = Math.max(0, s.fitting - h);
      if (s.fitting === 0) {
        s.flat = false;
        s.knocks += 1;
      }
    }
    if (s.foul && s.out - s.foulAt > 25) {
      s.foul = false;
      s.condemned += 40;
      trip();
    }
  }

  function answered() {
    s.knocks += 1;
    s.foul = false;
    const ended = s.out >= LENGTH;
    if (s.parted || ended) {
      s.parted = false;
      s.tension = WEIGHT * depthAt(s.pos);
      s.stock = 0;
    }
    if (ended) Object.assign(s, { out: 0, next: 1, called: 0, fate: s.fate.map(() => 0), condemned: 0 });
  }

  /** Tyres stop, the stopper falls on the cable, and the bridge is told to stop. */
  function trip() {
    if (s.tripped) return;
    s.tripped = true;
    if (speed() > 4) s.condemned += 15;
    s.stopper = true;
    s.slip = 0;
    s.asked = 0;
    s.told = 0;
    s.knocks += 3;
  }

  const causes = () => s.nipped > 0 || s.tyre > 110;

  function stepTrips() {
    if (s.stopper) return;
    if (s.nipped || s.tyre > 125 || speed() > 8 || s.out >= LENGTH || s.parted) trip();
  }

  /* ------------------------------------------------------------------ the window panel */
  const CAUSES = {
    'BOTTLE LOW': [() => s.bottle < 3.5, 0.5],
    'HOLD LOW': [() => !s.stopper && hold() < 1.2 * s.tension, 1.5],
    'CABLE SLIPPING': [() => s.slip > 0.1, 0.3],
    'HIGH TENSION': [() => s.tension > 13, 1],
    'TYRES HOT': [() => s.tyre > 85, 1],
    'TYRE DOWN': [() => s.flat, 0.5],
    'TANK FOUL': [() => s.foul, 0.5],
    'LOG DOUBTFUL': [() => Math.abs(s.log - s.decca) > 1.3 && Math.abs(s.log - s.way) > 1, 4],
    'CABLE TAUT': [() => s.stock < -5 && s.way > 0.2, 2],
    'LOOPS LAID': [() => s.stock > 8, 2],
    'REPEATER NIPPED': [() => s.nipped > 0, 0],
    'SHEAVE BLOW': [() => s.blow > 0, 0],
    'ENGINE TRIP': [() => s.tripped, 0],
    'CABLE PARTED': [() => s.parted, 0],
    'TANK EMPTY': [() => s.out >= LENGTH, 0],
  };

  const WINDOWS = Object.entries(CAUSES);

  function stepAlarms(h) {
    for (const [name, [cause, delay]] of WINDOWS) {
      const waited = cause() ? (s.waits[name] || 0) + h : 0;
      s.waits[name] = Math.min(waited, 600);
      const on = waited > delay;
      const at = s.alarms.indexOf(name);
      if (on && at < 0) {
        s.alarms.push(name);
        s.ringing = true;
      } else if (!on && at >= 0) s.alarms.splice(at, 1);
    }
    if (s.alarms.length === 0) s.ringing = false;
  }

  /* ------------------------------------------------------------------ what hands do */
  const knock = (act) => (value) => {
    s.knocks += 1;
    act(value);
  };
  const acts = {
    compressor: knock(() => (s.compressor = !s.compressor)),
    header: knock((side) => (s.header = side)),
    squeeze: (value) => (s.squeezeSet = value),
    pair: knock((pair) => {
      s.pairs[pair - 1] = !s.pairs[pair - 1];
      s.bottle = Math.max(0, s.bottle - 0.04);
    }),
    spray: knock(() => (s.spray = !s.spray)),
    stopper: knock(() => {
      // The stopper stays down while the engine is tripped, and at the end of the cable.
      if (s.stopper && (s.tripped || s.parted)) return;
      s.stopper = !s.stopper;
    }),
    lever: (value) => (s.lever = value),
    drive: knock((mode) => (s.drive = mode)),
    slack: (value) => (s.slackSet = value),
    way: (value) => (s.asked = value),
    source: knock((name) => (s.source = name)),
    rod: knock(() => (s.rod = !s.rod)),
    bell: knock(() => {
      s.gongs += 1;
      const wanted = s.foul || s.parted || s.out >= LENGTH;
      if (wanted && s.rung === 0) s.rung = s.foul ? 12 : 30;
    }),
    wheel: knock(() => {
      if (s.flat && s.fitting === 0) s.fitting = 25;
    }),
    accept: knock(() => (s.ringing = false)),
    key: knock(() => {
      if (s.lever === 0 && s.stopper && !causes()) s.tripped = false;
    }),
  };

  const machine = {
    name: 'Kittiwake Aft Engine',
    faults: FAULTS.slice(),
    state() {
      return {
        clock: s.clock,
        compressor: s.compressor,
        header: s.header,
        bottle: s.bottle,
        squeezeSet: s.squeezeSet,
        squeeze: s.squeeze,
        pairs: s.pairs.slice(),
        spray: s.spray,
        stopper: s.stopper,
        payOutLever: s.lever,
        drive: s.drive,
        slackSet: s.slackSet,
        slack: slackNow(),
        wayAsked: s.asked,
        wayTold: s.told,
        way: s.way,
        log: s.log,
        decca: s.decca,
        speedSource: s.source,
        logRod: s.rod ? 'up' : 'down',
        payOut: speed(),
        slip: s.slip,
        paidOut: s.out,
        toNext: s.next > DUMMIES ? 0 : PITCH - place(s.next),
        nextDummy: s.next > DUMMIES ? 0 : s.next,
        inEngine: s.next > DUMMIES ? 99 : place(s.next),
        tension: s.tension,
        hold: hold(),
        stock: s.stock,
        tyres: s.tyre,
        depth: depthAt(s.pos),
        layback: s.layback,
        slope: slopeAt(s.pos - s.layback),
        flatTyre: s.flat,
        tankFoul: s.foul,
        weed: s.weed,
        hoseBurst: s.burst,
        tripped: s.tripped,
        parted: s.parted,
        sound: sound(),
        lost: lost(),
        condemned: s.condemned,
        ringing: s.ringing,
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
      if (!name) throw new Error('this engine knows no fault called ' + fault);
      s.knocks += 1;
      if (name === 'Hose burst') s.burst = true;
      if (name === 'Weed on log') s.weed = true;
      if (name === 'Tyre burst') s.flat = true;
      if (name === 'Tank foul' && !s.foul) {
        s.foul = true;
        s.foulAt = s.out;
      }
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
  const part = (selector) => held[selector] || (held[selector] = $(selector));

  function add(parent, tag, attributes, text) {
    const node = document.createElementNS(SVG, tag);
    for (const key of Object.keys(attributes)) node.setAttribute(key, attributes[key]);
    if (text !== undefined) node.textContent = text;
    parent.appendChild(node);
    return node;
  }

  /* What is on the page already is not written again: an idle panel costs next to nothing. */
  const written = {};
  function put(selector, attribute, value) {
    const key = selector + '@' + attribute;
    if (written[key] === value) return;
    written[key] = value;
    if (attribute === 'text') part(selector).textContent = value;
    else part(selector).setAttribute(attribute, value);
  }
  function mark(selector, name, on) {
    const key = selector + '.' + name;
    if (written[key] === on) return;
    written[key] = on;
    part(selector).classList.toggle(name, on);
  }

  const polar = (middle, radius, degrees) => {
    const a = ((degrees - 90) * Math.PI) / 180;
    return [middle + radius * Math.cos(a), middle + radius * Math.sin(a)];
  };
  const dot = (point) => point[0].toFixed(1) + ' ' + point[1].toFixed(1);
  function arc(middle, radius, from, to) {
    const long = to - from > 180 ? 1 : 0;
    return `M${dot(polar(middle, radius, from))} A${radius} ${radius} 0 ${long} 1 ${dot(polar(middle, radius, to))}`;
  }

  /* Round dials: a sweep of 270 degrees on a white face in a black bezel. */
  const dials = {};
  function drawDial(group) {
    const { dial, max, big, minor, r, red, unit } = group.dataset;
    const [high, stride, radius] = [Number(max), Number(big), Number(r)];
    const middle = group.ownerSVGElement.viewBox.baseVal.width / 2;
    const at = (value) => -135 + (clamp(value, 0, high) / high) * 270;
    dials[dial] = { at, middle };
    add(group, 'circle', { cx: middle, cy: middle, r: middle - 1, class: 'bezel' });
    add(group, 'circle', { cx: middle, cy: middle, r: radius, class: 'face' });
    const [from, to] = red.split(',').map(Number);
    add(group, 'path', { d: arc(middle, radius * 0.93, at(from), at(to)), class: 'red-band', 'stroke-width': radius * 0.08 });
    for (let value = 0; value <= high + 1e-6; value += Number(minor)) {
      const whole = Math.abs(value / stride - Math.round(value / stride)) < 1e-6;
      const ends = [polar(middle, radius * 0.97, at(value)), polar(middle, radius * (whole ? 0.82 : 0.89), at(value))];
      add(group, 'path', { d: `M${dot(ends[0])} L${dot(ends[1])}`, class: whole ? 'tick long' : 'tick' });
      if (!whole) continue;
      const c = polar(middle, radius * 0.67, at(value));
      add(group, 'text', { x: c[0].toFixed(1), y: (c[1] + radius * 0.075 + 1.5).toFixed(1), class: 'figure' }, String(value));
    }
    add(group, 'text', { x: middle, y: (middle + radius * 0.62).toFixed(1), class: 'dial-unit' }, unit);
  }

  /* Figures round a knob. */
  const sliders = {};
  function drawRing(group) {
    const knob = group.closest('[data-slider]');
    const { slider, min, max, step: stride, degrees } = knob.dataset;
    const middle = group.ownerSVGElement.viewBox.baseVal.width / 2;
    const figures = group.dataset.figures.split(',').map(Number);
    const reach = Number(group.dataset.reach || 0.87);
    const angle = (value) => (value - (Number(min) + Number(max)) / 2) * Number(degrees);
    sliders[slider] = angle;
    for (let value = Number(min); value <= Number(max); value += Number(stride)) {
      const [inner, outer] = [middle * (reach - 0.21), middle * (reach - (figures.includes(value) ? 0.12 : 0.15))];
      add(group, 'path', { d: `M${dot(polar(middle, inner, angle(value)))} L${dot(polar(middle, outer, angle(value)))}`, class: 'knob-tick' });
    }
    for (const value of figures) {
      const c = polar(middle, middle * reach, angle(value));
      add(group, 'text', { x: c[0].toFixed(1), y: (c[1] + middle * 0.075 + 1).toFixed(1), class: 'knob-figure' }, String(value));
    }
  }

  /* Seven bars a figure, in one path for each display. */
  const BARS = ['M4 2h12l-2.500 3h-7z', 'M17 3v14l-3-2.500v-9z', 'M17 21v14l-3-2.500v-9z', 'M4 36h12l-2.500-3h-7z', 'M3 21v14l3-2.500v-9z', 'M3 3v14l3-2.500v-9z', 'M4 19l2.500-1.800h7l2.500 1.800-2.500 1.800h-7z'];
  const FIGURES = { 0: '012345', 1: '12', 2: '01346', 3: '01236', 4: '1256', 5: '02356', 6: '023456', 7: '012', 8: '0123456', 9: '012356', '-': '6', ' ': '' };
  const CELLS = 4;
  function bars(text) {
    const cells = [];
    let d = '';
    for (const sign of text) {
      if (sign === '.') d += `M${cells.length * 24 + 3} 38v-3.500h3.500v3.500z`;
      else cells.push(sign);
    }
    cells.forEach((sign, n) => {
      for (const bar of FIGURES[sign]) d += BARS[bar].replace(/^M([\d.]+)/, (all, x) => 'M' + (Number(x) + n * 24 + 6));
    });
    return d || 'M0 0';
  }
  function lcd(name, value, places) {
    put(`[data-lcd="${name}"]`, 'd', bars(value.toFixed(places).padStart(CELLS + (places ? 1 : 0), ' ')));
  }

  /* The engine seen from the cabin: fifty units to the metre, the mark at 310. */
  const METRE = 50;
  const along = (metres) => 310 + METRE * metres;

  function drawWheels() {
    const far = part('[data-far]');
    const near = part('[data-near]');
    for (const pair of PAIRS) {
      const x = along(PITCH * pair);
      add(far, 'path', { d: `M${x - 9} 54 h18 v76 h-18 z`, class: 'ram' });
      add(far, 'path', { d: `M${x - 12} 222 h24 v50 h-24 z`, class: 'pedestal' });
      for (const side of ['upper', 'lower']) {
        const jaw = add(near, 'g', { 'data-jaw-of': side + pair });
        if (side === 'upper') add(jaw, 'path', { d: 'M-5 -60 h10 v60 h-10 z', class: 'piston' });
        const wheel = add(jaw, 'g', { 'data-wheel': side + pair });
        add(wheel, 'use', { href: '#wheel' });
        add(jaw, 'path', { d: 'M-40 8 a41 41 0 0 0 70 22', class: 'shade' });
      }
    }
  }

  const METRES_BACK = 440; // on the paper
  const paperY = (depth) => 34 + depth * 1.35;
  const ripple = (x) => 1.3 * Math.sin(x * 1.7) + 0.9 * Math.sin(x * 4.1 + 1);

  function drawOnce() {
    $$('[data-dial]').forEach(drawDial);
    $$('[data-ring]').forEach(drawRing);
    drawWheels();
    for (const ghost of $$('[data-lcd-ghost]')) ghost.setAttribute('d', bars('8888'));
    const depths = part('[data-depths]');
    for (const depth of [0, 50, 100, 150, 200]) {
      add(depths, 'path', { d: `M457 ${paperY(depth)} h8`, class: 'tick' });
      add(depths, 'text', { x: 468, y: (paperY(depth) + 4.5).toFixed(1), class: 'depth' }, String(depth));
    }
    const marks = part('[data-lever-marks]');
    for (let knots = 0; knots <= 6; knots += 1) {
      add(marks, 'path', { d: `M33 ${leverY(knots)} h14 M73 ${leverY(knots)} h14`, class: 'lever-tick' });
      add(marks, 'text', { x: 24, y: leverY(knots) + 5, class: 'lever-figure' }, String(knots));
    }
  }

  const leverY = (knots) => 168 - knots * 22;
  const turnTo = (selector, degrees, x, y) => put(selector, 'transform', `rotate(${degrees.toFixed(1)} ${x} ${y})`);
  const needle = (name, dial, value) => turnTo(`[data-needle="${name}"]`, dials[dial].at(value), dials[dial].middle, dials[dial].middle);
  const knob = (name, value, middle) => turnTo(`[data-turn="${name}"]`, sliders[name === 'told' ? 'way' : name](value), middle, middle);

  const jaws = PAIRS.map(() => 0); // how far each pair stands open, for the eye
  let stopped = 0;

  function renderDeck(seconds) {
    const ease = still.matches ? 1 : 1 - Math.exp(-seconds / 0.12);
    const angle = ((s.turn * METRE) / 43) * (180 / Math.PI);
    PAIRS.forEach((pair, n) => {
      const goal = s.pairs[n] ? 0 : 1;
      jaws[n] = Math.abs(goal - jaws[n]) < 0.01 ? goal : jaws[n] + (goal - jaws[n]) * ease;
      const x = along(PITCH * pair);
      const squash = s.flat && pair === FLAT ? ' scale(1.06 .84)' : '';
      put(`[data-jaw-of="upper${pair}"]`, 'transform', `translate(${x} ${(127 - 24 * jaws[n]).toFixed(1)})${squash}`);
      put(`[data-jaw-of="lower${pair}"]`, 'transform', `translate(${x} ${(223 + 10 * jaws[n]).toFixed(1)})`);
      const rolls = s.pairs[n] ? angle : 0;
      put(`[data-wheel="upper${pair}"]`, 'transform', `rotate(${(-rolls % 360).toFixed(1)})`);
      put(`[data-wheel="lower${pair}"]`, 'transform', `rotate(${(rolls % 360).toFixed(1)})`);
    });
    const down = s.stopper ? 0 : -30;
    stopped = Math.abs(down - stopped) < 0.2 ? down : stopped + (down - stopped) * ease;
    put('[data-jaw]', 'transform', `translate(0 ${stopped.toFixed(1)})`);
    put('[data-stripe]', 'stroke-dashoffset', (-(s.out * METRE) % 40).toFixed(1));
    put('[data-cable]', 'opacity', s.parted ? '0.25' : '1');
    turnTo('[data-sheave] path', ((s.out * METRE) / 58) * (180 / Math.PI) % 360, 0, 0);
    const steep = clamp(LAY_ANGLE / Math.max(0.75, s.way), 14, 80);
    const enters = 1216 + 96 / Math.tan((steep * Math.PI) / 180); // where it goes under, 304 units down
    put('[data-falls]', 'd', `M1160 175 Q1206 175 1216 208 L${enters.toFixed(0)} 304`);
    put('[data-splash]', 'transform', `translate(${enters.toFixed(0)} 304)`);
    put('[data-wake]', 'opacity', clamp(s.way / 2.5, 0, 1).toFixed(2));
    put('[data-arm]', 'd', s.foul ? 'M10 34 q14 -10 12 -34' : 'M10 34 q12 10 12 26');
    renderDummy();
  }

  function renderDummy() {
    let shown = 0;
    for (let n = 1; n <= DUMMIES; n += 1) if (place(n) > -7.5 && place(n) < SHEAVE + 1) shown = n;
    put('[data-dummy]', 'visibility', shown ? 'visible' : 'hidden');
    if (!shown) return;
    const x = along(place(shown));
    const drop = Math.max(0, x - 1160);
    put('[data-dummy]', 'transform', `translate(${x.toFixed(1)} ${(175 + drop * 0.5).toFixed(1)}) rotate(${(drop * 0.5).toFixed(1)})`);
    put('[data-dummy-name]', 'text', `DUMMY ${shown}`);
  }

  let printed = null;
  function renderPaper() {
    put('[data-scroll]', 'transform', `translate(${(452 - s.pos).toFixed(1)} 0)`);
    put('[data-touch]', 'transform', `translate(${(452 - Math.min(METRES_BACK, s.layback)).toFixed(1)} 0)`);
    const under = paperY(depthAt(s.pos - s.layback)) - 4;
    put('[data-drop]', 'd', `M0 40 V${under.toFixed(0)}`);
    const first = s.trace[0];
    const stamp = first + ' ' + s.lastDot;
    if (stamp === printed) return;
    printed = stamp;
    const points = s.trace.map((x) => `${x} ${(paperY(depthAt(x)) + ripple(x)).toFixed(1)}`);
    put('[data-bottom]', 'd', 'M' + points.join(' L'));
    put('[data-under]', 'd', `M${points.join(' L')} L${s.lastDot} 316 L${first} 316 Z`);
    let fixes = 'M0 0';
    const names = part('[data-fix-names]');
    names.textContent = '';
    for (let x = Math.ceil(first / 100) * 100; x <= s.lastDot; x += 100) {
      fixes += ` M${x} 36 V314`;
      add(names, 'text', { x: x + 3, y: 47, class: 'fix-name' }, x < 0 ? 'S' + -x / 100 : String(x / 100));
    }
    put('[data-fixes]', 'd', fixes);
  }

  function renderInstruments() {
    needle('tension', 'load', s.tension);
    needle('hold', 'load', hold());
    needle('bottle', 'air', s.bottle);
    needle('squeeze', 'air', s.squeeze);
    needle('tyre', 'tyre', s.tyre);
    lcd('payout', speed(), 2);
    lcd('ship', read(), 2);
    lcd('slack', slackNow(), 1);
    lcd('out', s.out, 0);
    lcd('next', s.next > DUMMIES ? 0 : Math.max(0, PITCH - place(s.next)), 0);
    mark('[data-lamp="coming"]', 'lit', s.called === s.next && s.next <= DUMMIES);
    mark('[data-lamp="fitting"]', 'lit', s.fitting > 0);
    mark('[data-lamp="hands"]', 'lit', s.rung > 0);
    put('[data-count="sound"]', 'text', String(sound()));
    put('[data-count="lost"]', 'text', String(lost()));
    put('[data-count="condemned"]', 'text', String(Math.round(s.condemned)));
  }

  const on = (name, key, value) => {
    mark(`[data-control="${name}"]`, key, value);
    put(`[data-control="${name}"]`, 'aria-checked', String(value));
  };
  const told = (name, value, words) => {
    put(`[data-control="${name}"]`, 'aria-valuenow', String(value));
    put(`[data-control="${name}"]`, 'aria-valuetext', words);
  };
  const pick = (name, value) => {
    const key = 'pick ' + name;
    if (written[key] === value) return;
    written[key] = value;
    for (const input of $$(`[data-pick="${name}"]`)) input.checked = input.value === value;
  };

  function renderControls() {
    PAIRS.forEach((pair, n) => on(`PAIR ${pair}`, 'shut', s.pairs[n]));
    on('COMPRESSOR', 'in', s.compressor);
    on('STOPPER', 'shut', s.stopper);
    on('SPRAY', 'open', s.spray);
    on('LOG ROD', 'up', s.rod);
    turnTo('[data-turn="spray"]', s.spray ? 0 : 90, 35, 35);
    turnTo('[data-turn="header"]', s.header === 'A' ? -40 : 40, 35, 35);
    knob('squeeze', s.squeezeSet, 45);
    knob('way', s.asked, 60);
    knob('told', s.told, 60);
    knob('slack', s.slackSet, 60);
    put('[data-lever]', 'transform', `translate(0 ${leverY(s.lever) + 13})`);
    told('SQUEEZE', s.squeezeSet, `${s.squeezeSet} bar`);
    told('WAY', s.asked, `${s.asked} knots`);
    told('SLACK', s.slackSet, `${s.slackSet} per cent`);
    told('PAY OUT', s.lever, `${s.lever} knots`);
    pick('header', s.header);
    pick('drive', s.drive);
    pick('source', s.source);
    mark('[data-control="RESET KEY"]', 'tripped', s.tripped);
    FAULTS.forEach((fault, n) => mark(`[data-fault="${fault}"]`, 'turned', [s.burst, s.foul, s.weed, s.flat][n]));
  }

  let lit = '';
  function renderFilms() {
    const words = s.alarms.join(', ');
    mark('.films', 'ringing', s.ringing);
    if (words === lit) return;
    lit = words;
    for (const film of $$('[data-film]')) film.classList.toggle('lit', s.alarms.includes(film.dataset.film));
  }

  function render(seconds) {
    renderDeck(seconds || 1);
    renderPaper();
    renderInstruments();
    renderControls();
    renderFilms();
  }

  /* ------------------------------------------------------------------ sound, only after a hand has touched the panel */
  let audio = null;
  let hum = null;
  let pitch = null;
  let muted = false;
  let heard = { knocks: 0, gongs: 0 };
  let untilHoot = 0;

  function wake() {
    const Kind = window.AudioContext || window.webkitAudioContext;
    if (audio || !Kind) return;
    audio = new Kind();
    pitch = audio.createOscillator();
    const filter = audio.createBiquadFilter();
    hum = audio.createGain();
    hum.gain.value = 0;
    pitch.type = 'sawtooth';
    filter.type = 'lowpass';
    filter.frequency.value = 220;
    pitch.connect(filter).connect(hum).connect(audio.destination);
    pitch.start();
    heard = { knocks: s.knocks, gongs: s.gongs };
  }

  function note(kind, frequency, loud, length, bend) {
    const now = audio.currentTime;
    const tone = audio.createOscillator();
    const gain = audio.createGain();
    tone.type = kind;
    tone.frequency.setValueAtTime(frequency, now);
    if (bend) tone.frequency.exponentialRampToValueAtTime(frequency * bend, now + length);
    gain.gain.setValueAtTime(loud, now);
    gain.gain.exponentialRampToValueAtTime(0.0001, now + length);
    tone.connect(gain).connect(audio.destination);
    tone.start(now);
    tone.stop(now + length);
  }

  function sounds(seconds) {
    if (!audio || audio.state !== 'running') return;
    const now = audio.currentTime;
    pitch.frequency.setTargetAtTime(38 + 16 * s.roll, now, 0.2);
    hum.gain.setTargetAtTime(muted ? 0 : Math.min(0.07, 0.03 * s.roll), now, 0.2);
    const fresh = { knocks: heard.knocks !== s.knocks, gongs: heard.gongs !== s.gongs };
    heard = { knocks: s.knocks, gongs: s.gongs };
    if (muted) return;
    if (fresh.knocks) note('triangle', 150, 0.12, 0.09, 0.4); // a ram going home
    if (fresh.gongs) {
      note('sine', 520, 0.12, 1.1);
      note('sine', 1270, 0.04, 0.7);
    }
    untilHoot -= seconds;
    if (s.ringing && untilHoot <= 0) {
      untilHoot = 0.7;
      note('square', 370, 0.03, 0.4);
    }
  }

  /* ------------------------------------------------------------------ hands: pointer, touch, keyboard */
  const reads = { squeeze: () => s.squeezeSet, way: () => s.asked, slack: () => s.slackSet, lever: () => s.lever };

  /** A knob turned about its middle, or a lever pushed along its slot. */
  function slider(node) {
    const name = node.dataset.slider;
    const { min, max, step: stride, degrees, travel } = node.dataset;
    const [low, high, by] = [Number(min), Number(max), Number(stride)];
    const set = (value) => {
      acts[name](clamp(Math.round(value / by) * by, low, high));
      render();
    };
    let last = null;
    let exact = 0;
    const at = (event) => {
      if (travel) return -event.clientY;
      const box = node.getBoundingClientRect();
      return (Math.atan2(event.clientX - box.x - box.width / 2, box.y + box.height / 2 - event.clientY) * 180) / Math.PI;
    };
    /* Pixels for one unit: the slot is 132 units of the drawing's 210 long. */
    const unit = () => (travel ? (node.getBoundingClientRect().height * 132) / 210 / (high - low) : Number(degrees));
    node.addEventListener('pointerdown', (event) => {
      node.setPointerCapture(event.pointerId);
      node.focus({ preventScroll: true });
      last = at(event);
      exact = reads[name]();
      event.preventDefault();
    });
    node.addEventListener('pointermove', (event) => {
      if (last === null) return;
      const now = at(event);
      const moved = travel ? now - last : ((now - last + 540) % 360) - 180;
      exact = clamp(exact + moved / unit(), low, high);
      last = now;
      set(exact);
    });
    for (const end of ['pointerup', 'pointercancel', 'lostpointercapture']) node.addEventListener(end, () => (last = null));
    const keys = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, PageUp: 4, PageDown: -4 };
    node.addEventListener('keydown', (event) => {
      if (event.key === 'Home') set(low);
      else if (event.key === 'End') set(high);
      else if (keys[event.key]) set(reads[name]() + keys[event.key] * by);
      else return;
      event.preventDefault();
    });
  }

  function wire() {
    $$('[data-slider]').forEach(slider);
    for (const node of $$('button[data-act]')) {
      const { act, value } = node.dataset;
      if (act === 'tannoy') continue;
      node.addEventListener('click', () => {
        if (act === 'fault') machine.inject(value);
        else acts[act](Number(value));
        node.classList.remove('worked');
        void node.getBoundingClientRect();
        node.classList.add('worked');
        render();
      });
    }
    for (const input of $$('input[data-pick]')) input.addEventListener('change', () => acts[input.dataset.pick](input.value));
    const tannoy = $('[data-act="tannoy"]');
    tannoy.addEventListener('click', () => {
      muted = !muted;
      tannoy.setAttribute('aria-pressed', String(muted));
    });
    const book = $('[data-manual]');
    $('[data-action="manual"]').addEventListener('click', () => book.showModal());
    $('[data-action="close-manual"]').addEventListener('click', () => book.close());
    document.addEventListener('pointerdown', wake);
    document.addEventListener('keydown', wake);
  }

  const still = window.matchMedia('(prefers-reduced-motion: reduce)');
  let earlier = 0;
  let since = 0;
  function frame(now) {
    const seconds = clamp((now - earlier) / 1000, 0, 0.25);
    earlier = now;
    machine.tick(seconds);
    since += seconds;
    // Instruments step four times a second for those who asked for stillness, and thirty times for the rest.
    if (since >= (still.matches ? 0.25 : 0.03)) {
      render(since);
      sounds(since);
      since = 0;
    }
    requestAnimationFrame(frame);
  }

  drawOnce();
  wire();
  render();
  requestAnimationFrame((now) => {
    earlier = now;
    frame(now);
  });
})();
