/* Petaluma Queen, Model 6: air, water, current and six dozen eggs in one cabinet. The clock runs an hour in a second. */
(function () {
  'use strict';

  /* ------------------------------------------------------------------ constants: seconds, degrees Fahrenheit, kilopascals, days */
  const STEP = 0.05; // every tick is cut into these, so ten of one second and one of ten are the same run
  const ROOM = 68; // the incubator room, degrees F
  const ROOM_VAPOUR = 1.2; // kPa of water vapour in the room
  const HEATER = 2; // degrees F a second that the coils give the empty cabinet
  const LOSS = 0.01; // share of the difference to the room that leaks away each second, shut
  const VENT = 0.004; // and for every mark of the damper
  const DRAUGHT = 0.12; // and with the door open
  const METABOLIC = 1.1; // degrees F a second from six dozen eggs at term
  const EGG_LAG = 14; // seconds in which an egg follows the air
  const EGGS = 72;
  const MAINS = 115; // volts
  const OUTAGE = 150; // seconds until the company has its line up again
  const TILT = 35; // degrees either way
  const TURN_EVERY = 8; // hours between turns by the clock
  const LIMIT_AT = 104.5;
  const FAULTS = ['Relay welded', 'Turner jam', 'Belt off', 'Line down'];

  const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
  const toward = (from, to, seconds, lag) => from + (to - from) * (1 - Math.exp(-seconds / lag));
  const celsius = (f) => ((f - 32) * 5) / 9;
  const fahrenheit = (c) => (c * 9) / 5 + 32;
  const saturation = (f) => 0.61094 * Math.exp((17.625 * celsius(f)) / (celsius(f) + 243.04)); // Magnus, kPa

  /** Wet bulb from dry bulb and relative humidity, after Stull. */
  function wetBulb(f, humidity) {
    const c = celsius(f);
    const wet =
      c * Math.atan(0.151977 * Math.sqrt(humidity + 8.313659)) +
      Math.atan(c + humidity) -
      Math.atan(humidity - 1.676331) +
      0.00391838 * Math.pow(humidity, 1.5) * Math.atan(0.023101 * humidity) -
      4.686035;
    return Math.min(f, fahrenheit(wet));
  }

  function cold() {
    return {
      carry: 0, // seconds not yet ticked
      clock: 0, // hours of cabinet time with current on
      line: 'LINE',
      mains: true,
      mainsBack: 0,
      engine: 0, // share of full speed
      fired: false,
      crank: 0,
      volts: MAINS,
      main: false,
      fan: false,
      speed: 0, // fan, share of 240 r.p.m.
      belt: true,
      tight: true,
      set: 97, // wafer, degrees F
      wafer: ROOM, // what the ether feels
      call: false,
      coil: false,
      welded: false,
      heat: 0,
      limit: false, // open
      air: ROOM,
      top: ROOM, // air over the top tray
      egg: ROOM,
      vapour: ROOM_VAPOUR,
      pan: 0, // tenths of an inch
      drip: 0,
      damper: 1,
      stale: 0.03, // per cent carbon dioxide
      open: false, // door
      lever: 0, // -1 rear, 0 level, 1 front
      clockwork: false,
      cam: 1,
      camTime: 0,
      tilt: 0,
      side: 0,
      unturned: 0, // hours
      pin: true,
      stage: 'empty', // set, hatcher
      days: 0,
      good: 1, // share of the germs alive
      weight: 0, // per cent of the egg's weight lost
      chicks: 0,
      shipped: 0,
      warmed: false,
      candle: 0, // seconds of lamp left
      sample: 0,
      waits: {},
      alarms: [],
      ringing: false,
      knocks: 0, // things that click or knock since reset: the sound follows these
      trace: [], // [hour, dry, wet] for the pens
      nextDot: 0,
    };
  }

  let s = cold();

  const eggsIn = () => s.stage !== 'empty';
  const powered = () => s.main && s.volts > 90;
  const humidity = () => clamp((s.vapour / saturation(s.air)) * 100, 3, 99);
  const wet = () => wetBulb(s.air, humidity());
  const contact = () => s.coil || s.welded;

  /* ------------------------------------------------------------------ one step of everything */
  function step() {
    const h = STEP;
    stepLine(h);
    stepFan(h);
    stepHeat(h);
    stepWater(h);
    stepTrays(h);
    stepLife(h);
    stepAlarms(h);
    s.candle = Math.max(0, s.candle - h);
    if (!powered()) return;
    s.clock += h;
    s.nextDot -= h;
    if (s.nextDot <= 0) {
      s.nextDot += 0.75;
      s.trace.push([s.clock, s.air, wet()]);
      if (s.trace.length > 860) s.trace.shift(); // one turn of the paper
    }
  }

  function stepLine(h) {
    if (!s.mains) {
      s.mainsBack -= h;
      if (s.mainsBack <= 0) s.mains = true;
    }
    s.crank = Math.max(0, s.crank - 0.12 * h);
    if (s.line !== 'PLANT') s.fired = false; // the switch grounds the magneto
    s.engine = toward(s.engine, s.fired ? 1 : 0, h, s.fired ? 1.6 : 0.9);
    const fed = s.line === 'LINE' ? (s.mains ? MAINS : 0) : s.line === 'PLANT' ? 112 * s.engine : 0;
    s.volts = toward(s.volts, fed - (s.heat > 0.5 && s.line === 'PLANT' ? 5 : 0), h, 0.25);
  }

  function stepFan(h) {
    const driven = powered() && s.fan && s.belt && s.tight;
    s.speed = toward(s.speed, driven ? s.volts / MAINS : 0, h, driven ? 3 : 4);
  }

  function stepHeat(h) {
    s.wafer = toward(s.wafer, s.air, h, 1.1);
    if (s.wafer < s.set - 0.15) s.call = true;
    if (s.wafer > s.set + 0.1) s.call = false;
    const coil = powered() && s.call;
    if (coil !== s.coil) s.knocks += 1;
    s.coil = coil;
    if (s.top > LIMIT_AT && !s.limit && s.main) {
      s.limit = true;
      s.knocks += 1;
    }
    const on = s.main && contact() && !s.limit ? s.volts / MAINS : 0;
    s.heat = toward(s.heat, on * on, h, 0.7);
    const life = metabolism();
    const leak = LOSS + VENT * s.damper + (s.open ? DRAUGHT : 0);
    // Without the fan most of the warmth stays under the roof, where the wafer does not feel it.
    const mixed = 0.35 + 0.65 * s.speed;
    s.air += (HEATER * s.heat * mixed + life - leak * (s.air - ROOM)) * h;
    if (eggsIn()) s.air += 0.03 * (s.egg - s.air) * h;
    s.air = clamp(s.air, 40, 160);
    s.top = toward(s.top, s.air + (1 - s.speed) * (9 * s.heat + 5 * life), h, 4);
    s.egg = toward(s.egg, eggsIn() ? (s.air + s.top) / 2 : s.air, h, EGG_LAG);
    const breath = 0.004 + 0.006 * s.damper + (s.open ? 0.1 : 0);
    s.stale = clamp(s.stale + (0.02 * life - breath * (s.stale - 0.03)) * h, 0.03, 6);
  }

  /** Warmth that living eggs give: nothing in the first week, more than the coils in the last. */
  function metabolism() {
    if (!eggsIn() || s.egg < 85) return 0;
    return METABOLIC * Math.pow(clamp(s.days, 0, 20) / 21, 3) * s.good;
  }

  function stepWater(h) {
    const wetted = Math.min(1, s.pan / 6);
    const given = 0.11 * wetted * Math.max(0, saturation(s.air) - s.vapour) * (0.2 + 0.8 * s.speed);
    const away = 0.01 + 0.012 * s.damper + (s.open ? 0.25 : 0);
    s.vapour = clamp(s.vapour + (given - away * (s.vapour - ROOM_VAPOUR)) * h, 0.2, saturation(s.air));
    s.pan = clamp(s.pan + (s.drip * 0.02 - given) * 6 * h, 0, 10); // what is over runs off by the weir
  }

  function stepTrays(h) {
    if (s.clockwork && powered()) {
      s.camTime += h;
      if (s.camTime >= TURN_EVERY) {
        s.camTime -= TURN_EVERY;
        s.cam = -s.cam;
        s.knocks += 1;
      }
      s.lever = s.cam;
    }
    if (s.pin) {
      const goal = s.lever * TILT;
      const most = 14 * h;
      s.tilt += clamp(goal - s.tilt, -most, most);
    }
    const side = Math.abs(s.tilt) > TILT - 4 ? Math.sign(s.tilt) : 0;
    if (side && side !== s.side) {
      s.side = side;
      s.unturned = 0;
    }
    if (s.stage === 'set') s.unturned += h;
  }

  function stepLife(h) {
    if (!eggsIn()) return;
    if (s.egg > 98.6) s.warmed = true;
    s.days += (clamp((s.egg - 82) / 17.75, 0, 1.08) * h) / 24;
    s.days = Math.min(s.days, 24);
    let harm = 0;
    if (s.egg > 101.5) harm += 0.004 * Math.pow(s.egg - 101.5, 1.5);
    if (s.warmed && s.egg < 92) harm += 0.0006 * (92 - s.egg) * 0.5;
    if (s.stage === 'set' && s.days < 18 && s.unturned > 12) harm += 0.002; // the germ sticks to the shell
    if (s.stale > 1) harm += 0.002 * (s.stale - 0.5);
    if (s.days > 21 && s.stage === 'set') harm += 0.03; // hatched among the trays, and fallen
    s.good = clamp(s.good - s.good * harm * h, 0, 1);
    if (s.days < 21) s.weight = clamp(s.weight + ((12.5 / 18) * ((100 - humidity()) / 43) * h) / 24, 0, 40);
    if (s.days > 20.5 && s.stage === 'hatcher') {
      const shell = clamp(1 - 0.035 * Math.max(0, Math.abs(s.weight - 13) - 2), 0.2, 1);
      const soft = wet() > 87 ? 1 : 0.6; // dry shells hold them
      s.chicks = Math.max(s.chicks, Math.floor(EGGS * s.good * shell * soft * clamp((s.days - 20.5) / 1.3, 0, 1)));
    }
  }

  /* ------------------------------------------------------------------ the call board, which runs on dry cells */
  const CAUSES = {
    'HOT EGGS': [() => s.top > 102, 3],
    CHILLED: [() => eggsIn() && s.warmed && s.egg < 96.5, 4],
    'DRY AIR': [() => eggsIn() && s.warmed && wet() < (s.stage === 'hatcher' ? 85 : 81), 10],
    'STALE AIR': [() => s.stale > 0.9, 3],
    'NOT TURNED': [() => s.stage === 'set' && s.days < 18 && s.unturned > 12, 0],
    'PIN SHEARED': [() => !s.pin, 0.5],
    'BELT OFF': [() => !s.belt || !s.tight, 1],
    'RELAY STUCK': [() => contact() && !s.coil, 4],
    'LINE DEAD': [() => s.volts < 90 && (s.main || !s.mains), 1.5],
    'LIMIT OPEN': [() => s.limit, 0],
  };

  function stepAlarms(h) {
    for (const name of Object.keys(CAUSES)) {
      const [cause, delay] = CAUSES[name];
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

  /* ------------------------------------------------------------------ what the hands do */
  const acts = {
    line(place) {
      s.line = place;
      s.knocks += 1;
    },
    cord() {
      s.knocks += 1;
      s.crank += 1;
      if (s.line === 'PLANT' && s.crank > 2.4) s.fired = true;
    },
    main() {
      s.main = !s.main;
      s.knocks += 1;
    },
    fan() {
      s.fan = !s.fan;
      s.knocks += 1;
    },
    tensioner() {
      s.tight = !s.tight;
      s.knocks += 1;
      // A belt is hooked on only while the pulley stands and the idler is let off.
      if (s.tight && !s.fan && s.speed < 0.12) s.belt = true;
    },
    wafer(value) {
      s.set = clamp(Math.round(value * 4) / 4, 94, 103);
    },
    drip(value) {
      s.drip = clamp(Math.round(value * 2) / 2, 0, 10);
    },
    damper(value) {
      s.damper = clamp(Math.round(value), 0, 6);
    },
    wiper() {
      s.knocks += 1;
      if (!s.main) s.welded = false;
    },
    limit() {
      s.knocks += 1;
      if (s.top < 100.5) s.limit = false;
    },
    lever(value) {
      if (!s.clockwork || !powered()) s.lever = clamp(Math.round(value), -1, 1);
    },
    clockwork() {
      s.clockwork = !s.clockwork;
      s.knocks += 1;
      s.camTime = 0;
      s.cam = s.lever === 0 ? 1 : -s.lever;
    },
    pin() {
      s.knocks += 1;
      if (!s.clockwork && s.lever === 0) {
        s.pin = true;
      }
    },
    candle() {
      s.candle = 14;
      s.sample = (s.sample + 1) % 12;
    },
    door() {
      s.open = !s.open;
      s.knocks += 1;
    },
    truck() {
      s.knocks += 1;
      if (!s.open) return; // it stands against the door
      const next = errand();
      if (next === 'eggs') load();
      if (next === 'transfer' && Math.abs(s.tilt) < 4) s.stage = 'hatcher';
      if (next === 'chicks' || next === 'clear') {
        s.shipped += s.chicks;
        s.chicks = 0;
        s.stage = 'empty';
        s.days = 0;
        s.warmed = false;
      }
    },
    silence() {
      s.ringing = false;
    },
  };

  function load() {
    Object.assign(s, { stage: 'set', days: 0, good: 1, weight: 0, chicks: 0, warmed: false, egg: ROOM, unturned: 0 });
  }

  /** What the truck would do now: the card in its holder says so. */
  function errand() {
    if (s.stage === 'empty') return 'eggs';
    if (s.good < 0.15 || (s.stage === 'set' && s.days > 22)) return 'clear';
    if (s.stage === 'set') return s.days >= 17.5 ? 'transfer' : 'wait18';
    return s.days >= 21.8 ? 'chicks' : 'wait22';
  }

  const machine = {
    name: 'Petaluma Queen',
    faults: FAULTS.slice(),
    state() {
      return {
        hours: s.clock,
        lineSwitch: s.line,
        mains: s.mains,
        plant: s.engine,
        volts: s.volts,
        mainSwitch: s.main,
        fanSwitch: s.fan,
        fanRpm: 240 * s.speed,
        belt: s.belt,
        tensioner: s.tight ? 'tight' : 'slack',
        waferScrew: s.set,
        relayClosed: contact(),
        heater: s.heat,
        limitOpen: s.limit,
        dryBulb: s.air,
        wetBulb: wet(),
        topBulb: s.top,
        humidity: humidity(),
        eggTemperature: s.egg,
        dripValve: s.drip,
        pan: s.pan,
        damper: s.damper,
        staleAir: s.stale,
        doorOpen: s.open,
        turningLever: s.lever,
        turnerClock: s.clockwork,
        tilt: s.tilt,
        hoursUnturned: s.unturned,
        shearPin: s.pin,
        stage: s.stage,
        day: s.days,
        fertile: Math.round(EGGS * s.good),
        weightLost: s.weight,
        chicks: s.chicks,
        shipped: s.shipped,
        candle: s.candle > 0,
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
      if (!name) throw new Error('this cabinet knows no fault called ' + fault);
      s.knocks += 1;
      if (name === 'Relay welded') s.welded = true;
      if (name === 'Turner jam') s.pin = false;
      if (name === 'Belt off') s.belt = false;
      if (name === 'Line down') {
        s.mains = false;
        s.mainsBack = OUTAGE;
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

  const polar = (cx, cy, radius, degrees) => {
    const a = ((degrees - 90) * Math.PI) / 180;
    return [cx + radius * Math.cos(a), cy + radius * Math.sin(a)];
  };
  const dot = (point) => point[0].toFixed(1) + ' ' + point[1].toFixed(1);
  function arc(cx, cy, radius, from, to) {
    const long = to - from > 180 ? 1 : 0;
    return `M${dot(polar(cx, cy, radius, from))} A${radius} ${radius} 0 ${long} 1 ${dot(polar(cx, cy, radius, to))}`;
  }

  /* Small dials: a fan of a hundred degrees, figures on the outside, as on an automobile's instrument board. */
  const dials = {};
  function drawDial(group) {
    const { dial, min, max, step: big, minor, red, green } = group.dataset;
    const low = Number(min);
    const high = Number(max);
    const at = (value) => -58 + ((clamp(value, low, high) - low) / (high - low)) * 116;
    dials[dial] = at;
    const band = (range, kind) => {
      if (!range) return;
      const [from, to] = range.split(',').map(Number);
      add(group, 'path', { d: arc(60, 70, 45, at(from), at(to)), class: 'band ' + kind });
    };
    band(green, 'good');
    band(red, 'bad');
    for (let value = low; value <= high + 1e-6; value += Number(minor)) {
      const whole = Math.abs(value / big - Math.round(value / big)) < 1e-6;
      const a = dot(polar(60, 70, 48, at(value)));
      const b = dot(polar(60, 70, whole ? 40 : 43.5, at(value)));
      add(group, 'path', { d: `M${a} L${b}`, class: whole ? 'tick long' : 'tick' });
      if (!whole) continue;
      const c = polar(60, 70, 31.5, at(value));
      add(group, 'text', { x: c[0].toFixed(1), y: (c[1] + 4).toFixed(1), class: 'figure' }, String(Math.round(value * 10) / 10));
    }
  }

  /* Thermometers: 60 to 112 degrees over 250 units of glass. */
  const tubeY = (f) => 282 - ((clamp(f, 60, 112) - 60) / 52) * 250;
  function drawTube(group) {
    const side = Number(group.dataset.side);
    for (let f = 60; f <= 112; f += 2) {
      const whole = f % 10 === 0;
      add(group, 'path', { d: `M${8 * side} ${tubeY(f)} h${side * (whole ? 13 : 7)}`, class: whole ? 'tick long' : 'tick' });
      if (whole) add(group, 'text', { x: 32 * side, y: tubeY(f) + 4.5, class: 'figure' }, String(f));
    }
  }

  /* The chart: one turn of the paper in twenty-seven days. */
  const PAPER = 648; // hours a turn
  const ringOf = (f) => 40 + ((clamp(f, 60, 112) - 60) / 52) * 98;
  function drawChart(group) {
    for (let f = 60; f <= 110; f += 5) {
      add(group, 'circle', { cx: 0, cy: 0, r: ringOf(f).toFixed(1), class: f % 10 ? 'ring fine' : 'ring' });
    }
    for (let day = 0; day < 27; day += 1) {
      const a = (day / 27) * 360;
      const b = polar(0, 0, 138, a);
      const c = polar(0, 0, 40, a - 9);
      add(group, 'path', { d: `M${dot(b)} A150 150 0 0 0 ${dot(c)}`, class: 'ring fine' });
      const t = polar(0, 0, 144.5, a + 6.6);
      add(group, 'text', { x: t[0].toFixed(1), y: t[1].toFixed(1), class: 'day', transform: `rotate(${(a + 6.6).toFixed(1)} ${dot(t)})` }, String(day + 1));
    }
    for (const turned of [45, 165, 285]) {
      for (let f = 70; f <= 110; f += 10) {
        const t = polar(0, 0, ringOf(f) - 3, turned);
        add(group, 'text', { x: t[0].toFixed(1), y: t[1].toFixed(1), class: 'ring-figure', transform: `rotate(${turned} ${dot(t)})` }, String(f));
      }
    }
  }

  function drawTrays(group) {
    for (let n = 0; n < 6; n += 1) {
      const tray = add(group, 'g', { 'data-tray': n });
      const eggs = add(tray, 'g', { class: 'eggs' });
      for (let k = 0; k < 12; k += 1) {
        const shade = ['#fbf5e6', '#f6ecd6', '#fdf9ee', '#f1e3c8'][(n * 5 + k * 7) % 4];
        add(eggs, 'ellipse', { cx: -154 + 28 * k, cy: -9, rx: 11.6, ry: 15, fill: shade, class: 'egg' });
        add(eggs, 'ellipse', { cx: -158 + 28 * k, cy: -14, rx: 3.4, ry: 4.6, class: 'shine' });
      }
      add(tray, 'path', { d: 'M-172 -4 H172 V9 H-172 Z', class: 'tray' });
      add(tray, 'path', { d: 'M-172 -4 H172 V-1 H-172 Z', class: 'tray-lip' });
      for (let k = 0; k < 11; k += 1) add(tray, 'path', { d: `M${-140 + 28 * k} -1 v9`, class: 'tray-slot' });
      add(tray, 'circle', { cx: 0, cy: 2, r: 5, class: 'pivot-pin' });
    }
  }

  const CHICK = 'M-13 4 q-3 -15 8 -17 q1 -10 11 -10 q10 1 10 10 q0 6 -4 9 q2 12 -9 13 q-11 1 -16 -5 z';
  function drawBasket(group) {
    for (let n = 0; n < 24; n += 1) {
      const row = n < 13 ? 0 : 1;
      const x = row ? 46 + (n - 13) * 31 : 32 + n * 29;
      const y = row ? 612 : 588;
      const shade = ['#fbf5e6', '#f1e3c8', '#f6ecd6'][n % 3];
      add(group, 'ellipse', { cx: x, cy: y, rx: 13, ry: 11, fill: shade, class: 'egg', 'data-shell': n, transform: `rotate(${(n * 37) % 50 - 25} ${x} ${y})` });
      const chick = add(group, 'g', { 'data-chick': n, class: 'chick', transform: `translate(${x} ${y - 3}) scale(${n % 2 ? 1 : -1} 1)` });
      add(chick, 'path', { d: CHICK, class: 'down' });
      add(chick, 'path', { d: 'M-6 0 q6 8 12 -1', class: 'wing' });
      add(chick, 'path', { d: 'M15 -15 l8 3 l-8 3 z', class: 'beak' });
      add(chick, 'circle', { cx: 9, cy: -15, r: 1.9, class: 'eye' });
      add(chick, 'path', { d: 'M-2 8 v6 M5 8 v6', class: 'legs' });
    }
  }

  function drawOnce() {
    $$('[data-dial]').forEach(drawDial);
    $$('[data-tube]').forEach(drawTube);
    drawChart(part('[data-chart]'));
    drawTrays(part('[data-trays]'));
    drawBasket(part('[data-basket]'));
    const wafer = part('[data-wafer-ticks]');
    for (let f = 94; f <= 103; f += 0.5) {
      const whole = f % 1 === 0;
      const angle = waferAngle(f);
      add(wafer, 'path', { d: `M${dot(polar(70, 70, 50, angle))} L${dot(polar(70, 70, whole ? 56 : 53, angle))}`, class: 'mark' });
      if (f % 3 === 1) {
        const c = polar(70, 70, 63, angle);
        add(wafer, 'text', { x: c[0].toFixed(1), y: (c[1] + 4).toFixed(1), class: 'knob-figure' }, String(f));
      }
    }
    const drip = part('[data-drip-ticks]');
    for (let n = 0; n <= 10; n += 1) {
      const angle = dripAngle(n);
      add(drip, 'path', { d: `M${dot(polar(70, 70, 50, angle))} L${dot(polar(70, 70, n % 2 ? 53 : 56, angle))}`, class: 'mark' });
      if (n % 2) continue;
      const c = polar(70, 70, 63, angle);
      add(drip, 'text', { x: c[0].toFixed(1), y: (c[1] + 4).toFixed(1), class: 'knob-figure' }, String(n));
    }
  }

  const waferAngle = (f) => -135 + (f - 94) * 30;
  const dripAngle = (n) => -135 + n * 27;

  function turnTo(selector, degrees, cx, cy) {
    put(selector, 'transform', `rotate(${degrees.toFixed(1)} ${cx} ${cy})`);
  }

  const needle = (name, value) => turnTo(`[data-needle="${name}"]`, dials[name](value), 60, 70);
  let penned = -1;

  function renderInstruments() {
    needle('stale', s.stale);
    needle('fan', 240 * s.speed);
    needle('volts', s.volts);
    for (const [name, f] of [['dry', s.air], ['wet', wet()]]) {
      const y = tubeY(f);
      put(`[data-mercury="${name}"]`, 'y', y.toFixed(1));
      put(`[data-mercury="${name}"]`, 'height', (300 - y).toFixed(1));
    }
    put('[data-set-mark]', 'transform', `translate(0 ${tubeY(s.set).toFixed(1)})`);
    put('[data-pan]', 'y', (66 - 5.4 * s.pan).toFixed(1));
    put('[data-pan]', 'height', (5.4 * s.pan).toFixed(1));
    const days = eggsIn() ? s.days : 0;
    put('[data-count="day"]', 'text', days.toFixed(1).padStart(4, '0'));
    put('[data-count="eggs"]', 'text', String(s.stage === 'empty' ? 0 : EGGS).padStart(2, '0'));
    put('[data-count="chicks"]', 'text', String((s.shipped + s.chicks) % 10000).padStart(4, '0'));
    renderChart();
  }

  function renderChart() {
    const turned = (s.clock / PAPER) * 360;
    put('[data-chart-paper]', 'transform', `rotate(${(-turned).toFixed(2)})`);
    const dry = ringOf(s.air);
    const damp = ringOf(wet());
    put('[data-pen="dry"]', 'd', `M${dry.toFixed(1)} 0 L150 21 V27 Z`);
    put('[data-pen="wet"]', 'd', `M${damp.toFixed(1)} 0 L150 -27 V-21 Z`);
    const stamp = s.trace.length ? s.trace[s.trace.length - 1][0] : 0;
    if (stamp === penned) return;
    penned = stamp;
    const line = (which) =>
      s.trace
        .map((sample, n) => (n ? 'L' : 'M') + dot(polar(0, 0, ringOf(sample[which]), 90 + (sample[0] / PAPER) * 360)))
        .join(' ');
    put('[data-trace="dry"]', 'd', line(1) || 'M0 0');
    put('[data-trace="wet"]', 'd', line(2) || 'M0 0');
  }

  function renderCabinet() {
    const tilt = s.tilt.toFixed(1);
    for (let n = 0; n < 6; n += 1) put(`[data-tray="${n}"]`, 'transform', `translate(220 ${122 + n * 58}) rotate(${tilt})`);
    mark('.interior', 'loaded', s.stage === 'set');
    mark('.interior', 'hatching', s.stage === 'hatcher');
    mark('.interior', 'live', powered());
    put('[data-coils]', 'opacity', (0.9 * s.heat).toFixed(2));
    turnTo('[data-paddle]', quiet() ? 20 : paddle, 220, 268);
    put('[data-fan-belt]', 'opacity', s.belt ? '1' : '0');
    put('[data-mist]', 'opacity', clamp((humidity() - 58) / 60, 0, 0.5).toFixed(2));
    const hatched = Math.round((s.chicks / EGGS) * 24);
    for (let n = 0; n < 24; n += 1) {
      const shown = s.stage === 'hatcher' && (n * 7) % 24 < hatched;
      put(`[data-chick="${n}"]`, 'visibility', shown ? 'visible' : 'hidden');
      put(`[data-shell="${n}"]`, 'visibility', shown ? 'hidden' : 'visible');
    }
    mark('.leaf-door', 'swung', s.open);
    put('[data-truck-card]', 'text', CARDS[errand()]);
  }

  const CARDS = {
    eggs: 'Next: eggs in',
    wait18: 'Next: transfer on day 18',
    transfer: 'Next: transfer, trays level',
    wait22: 'Next: chicks off on day 22',
    chicks: 'Next: chicks off',
    clear: 'Next: clear out the spoiled',
  };

  function renderCandler() {
    const lit = s.candle > 0 && eggsIn();
    mark('.candler', 'lit', lit);
    const alive = s.good > (s.sample + 0.5) / 12;
    const days = alive ? s.days : Math.min(s.days, 7);
    put('[data-veins]', 'opacity', alive ? clamp((days - 2) / 5, 0, 1).toFixed(2) : '0');
    put('[data-ring]', 'opacity', alive || s.days < 2 ? '0' : '0.9');
    put('[data-germ]', 'transform', `translate(${(98 + days * 0.2).toFixed(1)} ${(100 + days * 1.2).toFixed(1)}) scale(${clamp(days / 16, 0.05, 1.32).toFixed(2)})`);
    put('[data-cell]', 'transform', `translate(0 ${(clamp(s.weight, 0, 20) * 1.9).toFixed(1)})`);
    put('[data-sample]', 'text', lit ? `Egg ${s.sample + 1} of 12: ${tell(alive)}` : 'Lamp out');
  }

  function tell(alive) {
    if (!alive) return 'dead germ';
    if (s.days < 3) return 'clear';
    if (s.days < 10) return 'spider';
    if (s.days < 18) return 'eye and body';
    return 'full, bill in cell';
  }

  function renderControls() {
    mark('[data-control="MAIN SWITCH"]', 'on', s.main);
    put('[data-control="MAIN SWITCH"]', 'aria-checked', String(s.main));
    mark('[data-control="FAN"]', 'on', s.fan);
    put('[data-control="FAN"]', 'aria-checked', String(s.fan));
    mark('[data-control="BELT TENSIONER"]', 'on', s.tight);
    put('[data-control="BELT TENSIONER"]', 'aria-checked', String(s.tight));
    mark('[data-control="TURNER CLOCK"]', 'on', s.clockwork);
    put('[data-control="TURNER CLOCK"]', 'aria-checked', String(s.clockwork));
    mark('[data-control="DOOR LATCH"]', 'on', s.open);
    put('[data-control="DOOR LATCH"]', 'aria-checked', String(s.open));
    turnTo('[data-knob="wafer"]', waferAngle(s.set), 70, 70);
    put('[data-control="WAFER SCREW"]', 'aria-valuenow', String(s.set));
    put('[data-control="WAFER SCREW"]', 'aria-valuetext', `${s.set} degrees`);
    turnTo('[data-knob="drip"]', dripAngle(s.drip), 70, 70);
    put('[data-control="DRIP VALVE"]', 'aria-valuenow', String(s.drip));
    turnTo('[data-lever]', s.lever * 42, 90, 100);
    put('[data-control="TURNING LEVER"]', 'aria-valuenow', String(s.lever));
    put('[data-control="TURNING LEVER"]', 'aria-valuetext', ['Rear', 'Level', 'Front'][s.lever + 1]);
    put('[data-cam]', 'transform', `rotate(${((s.camTime / TURN_EVERY) * 360).toFixed(0)} 24 24)`);
    mark('[data-control="SHEAR PIN"]', 'gone', !s.pin);
    mark('[data-relay]', 'closed', contact());
    mark('[data-control="LIMIT RESET"]', 'out', s.limit);
    mark('.knife', 'at-line', s.line === 'LINE');
    mark('.knife', 'at-plant', s.line === 'PLANT');
    mark('[data-neon]', 'lit', s.mains);
    mark('[data-exhaust]', 'lit', s.engine > 0.4);
    const damper = part('[data-damper]');
    if (damper.value !== String(s.damper)) damper.value = String(s.damper);
    put('[data-flap-plate]', 'transform', `translate(0 ${(60 - s.damper * 10).toFixed(0)})`);
    for (const place of ['LINE', 'OFF', 'PLANT']) {
      const input = part(`[data-line="${place}"]`);
      if (input.checked !== (s.line === place)) input.checked = s.line === place;
    }
    FAULTS.forEach((fault, n) => mark(`[data-fault="${fault}"]`, 'pulled', [s.welded, !s.pin, !s.belt, !s.mains][n]));
  }

  let told = '';
  function renderCalls() {
    const words = s.alarms.join(', ');
    mark('.calls', 'ringing', s.ringing);
    if (words === told) return;
    told = words;
    $$('[data-call]').forEach((node) => node.classList.toggle('lit', s.alarms.includes(node.dataset.call)));
    part('[data-spoken]').textContent = words ? `Call board: ${words.toLowerCase()}` : '';
  }

  function render() {
    renderInstruments();
    renderCabinet();
    renderCandler();
    renderControls();
    renderCalls();
  }

  /* ------------------------------------------------------------------ sound, only after a hand has touched the panel */
  let audio = null;
  let air = null;
  let engine = null;
  let heardKnocks = 0;
  let untilStroke = 0;
  let untilCheep = 0;
  let muted = false;

  function wake() {
    if (audio) return;
    const Kind = window.AudioContext || window.webkitAudioContext;
    if (!Kind) return;
    audio = new Kind();
    const buffer = audio.createBuffer(1, audio.sampleRate, audio.sampleRate);
    const data = buffer.getChannelData(0);
    let seed = 66;
    for (let n = 0; n < data.length; n += 1) {
      seed = (seed * 16807) % 2147483647;
      data[n] = (seed / 2147483647) * 2 - 1;
    }
    const source = audio.createBufferSource();
    const filter = audio.createBiquadFilter();
    air = audio.createGain();
    air.gain.value = 0;
    source.buffer = buffer;
    source.loop = true;
    filter.type = 'lowpass';
    filter.frequency.value = 260;
    source.connect(filter).connect(air).connect(audio.destination);
    source.start();
    const putter = audio.createOscillator();
    engine = audio.createGain();
    engine.gain.value = 0;
    putter.type = 'sawtooth';
    putter.frequency.value = 19;
    putter.connect(engine).connect(audio.destination);
    putter.start();
    heardKnocks = s.knocks;
  }

  function note(pitch, loud, length, bend) {
    const now = audio.currentTime;
    const tone = audio.createOscillator();
    const gain = audio.createGain();
    tone.frequency.setValueAtTime(pitch, now);
    if (bend) tone.frequency.exponentialRampToValueAtTime(pitch * bend, now + length);
    gain.gain.setValueAtTime(loud, now);
    gain.gain.exponentialRampToValueAtTime(0.0001, now + length);
    tone.connect(gain).connect(audio.destination);
    tone.start(now);
    tone.stop(now + length);
  }

  function sound(seconds) {
    if (!audio || audio.state !== 'running') return;
    const now = audio.currentTime;
    air.gain.setTargetAtTime(muted ? 0 : 0.06 * s.speed, now, 0.2);
    engine.gain.setTargetAtTime(muted ? 0 : 0.03 * s.engine, now, 0.2);
    if (muted) {
      heardKnocks = s.knocks;
      return;
    }
    if (heardKnocks !== s.knocks) {
      heardKnocks = s.knocks;
      note(140, 0.12, 0.07, 0.5);
    }
    untilStroke -= seconds;
    if (s.ringing && untilStroke <= 0) {
      untilStroke = 0.09;
      note(1480, 0.03, 0.22);
    }
    untilCheep -= seconds;
    if (s.stage === 'hatcher' && s.chicks > 0 && untilCheep <= 0) {
      untilCheep = 0.28 + 0.5 * Math.abs(Math.sin(now * 3.1));
      note(3300 + 500 * Math.sin(now * 7), 0.025, 0.1, 0.72);
    }
  }

  /* ------------------------------------------------------------------ hands: pointer, touch, keyboard */
  /** A knob or lever about the middle of `.pivot`; `angle` is degrees for one unit. */
  function rotary(name, read, act, low, high, stride, angle) {
    const node = $(`[data-control="${name}"]`);
    const pivot = node.querySelector('.pivot') || node;
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
      exact = clamp(exact + (((now - last + 540) % 360) - 180) / angle, low, high);
      last = now;
      act(exact);
    });
    for (const end of ['pointerup', 'pointercancel', 'lostpointercapture']) node.addEventListener(end, () => (last = null));
    const keys = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, PageUp: 4, PageDown: -4 };
    node.addEventListener('keydown', (event) => {
      if (event.key === 'Home') act(low);
      else if (event.key === 'End') act(high);
      else if (keys[event.key]) act(clamp(read() + keys[event.key] * stride, low, high));
      else return;
      event.preventDefault();
    });
  }

  function press(selector, act) {
    const node = $(selector);
    node.addEventListener('click', () => {
      act();
      node.classList.remove('worked');
      void node.getBoundingClientRect();
      node.classList.add('worked');
      render();
    });
  }

  function wire() {
    rotary('WAFER SCREW', () => s.set, acts.wafer, 94, 103, 0.25, 30);
    rotary('DRIP VALVE', () => s.drip, acts.drip, 0, 10, 0.5, 27);
    rotary('TURNING LEVER', () => s.lever, acts.lever, -1, 1, 1, 42);
    const buttons = {
      'MAIN SWITCH': acts.main,
      FAN: acts.fan,
      'BELT TENSIONER': acts.tensioner,
      'RELAY WIPER': acts.wiper,
      'LIMIT RESET': acts.limit,
      'TURNER CLOCK': acts.clockwork,
      'SHEAR PIN': acts.pin,
      'STARTER CORD': acts.cord,
      CANDLER: acts.candle,
      'DOOR LATCH': acts.door,
      'TRAY TRUCK': acts.truck,
      SILENCE: acts.silence,
    };
    for (const name of Object.keys(buttons)) press(`[data-control="${name}"]`, buttons[name]);
    part('[data-damper]').addEventListener('input', (event) => acts.damper(Number(event.target.value)));
    for (const place of ['LINE', 'OFF', 'PLANT']) {
      part(`[data-line="${place}"]`).addEventListener('change', () => acts.line(place));
    }
    $$('[data-fault]').forEach((tag) => tag.addEventListener('click', () => machine.inject(tag.dataset.fault)));
    const hush = $('[data-hush]');
    hush.addEventListener('click', () => {
      muted = !muted;
      hush.setAttribute('aria-pressed', String(muted));
    });
    const booklet = $('[data-manual]');
    $('[data-action="manual"]').addEventListener('click', () => booklet.showModal());
    $('[data-action="close-manual"]').addEventListener('click', () => booklet.close());
    document.addEventListener('pointerdown', wake);
    document.addEventListener('keydown', wake);
  }

  const still = window.matchMedia('(prefers-reduced-motion: reduce)');
  const quiet = () => still.matches;
  let paddle = 20;
  let before = 0;
  let since = 0;

  function frame(at) {
    const seconds = clamp((at - before) / 1000, 0, 0.25);
    before = at;
    machine.tick(seconds);
    sound(seconds);
    since += seconds;
    if (since >= 0.032) {
      paddle = (paddle + s.speed * since * 210) % 360;
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
