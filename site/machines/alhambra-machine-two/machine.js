(() => {
  'use strict';

  // ---- constants -------------------------------------------------------------------------------------------------
  const STEP = 0.05; // s, the simulation's own step
  const ROOM = 22; // °C in the box
  const OPEN_CIRCUIT = 76; // V, rectifier at no load
  const BREAKER = 85; // A
  const BREAKER_DELAY = 2.5; // s above it before the breaker opens
  const GAP = 6; // mm, between crater and point when trimmed
  const GAP_LOST = 13; // mm, where the flame goes out
  const CRATER = { full: 300, spent: 40 }; // mm of positive carbon
  const REEL = 1000; // ft; 90 ft a minute at 24 frames a second
  const SOUND_SPEED = 24; // frames/s
  const LACING = 6; // s
  const FAN_COOLING = 12; // s before the fan's relay can be set again
  const HOT = 230, CRACK = 300; // °C, lamphouse: alarm, and the mirror
  const GATE_HOT = 105, BUCKLE = 150; // °C, gate: alarm, and the film
  const FAULTS = ['feed clutch slip', 'exhaust fan trip', 'film break'];
  const ALARMS = ['ARC LONG', 'OVERLOAD', 'LAMPHOUSE HOT', 'DRAUGHT LOST', 'FEED SLIP', 'GATE HOT', 'FILM OUT', 'CARBON LOW', 'HOUSE RINGING'];

  const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
  /** Moves a value towards a target as a first-order lag of `tau` seconds. */
  const lag = (value, target, tau) => value + (target - value) * (1 - Math.exp(-STEP / tau));

  // ---- the machine -----------------------------------------------------------------------------------------------
  let s;
  let carry = 0;

  function cold() {
    return {
      time: 0, main: false, rheostat: 0, damper: 0, feed: 0, dowser: false, motor: 0,
      positive: -1.6, negative: -0.6, carbon: CRATER.full, lit: false, striking: 0,
      supply: 0, amps: 0, volts: 0, ammeter: 0, ammeterSwing: 0, voltmeter: 0, voltmeterSwing: 0,
      over: 0, tripped: false, long: 0, low: 0,
      fan: 0, lamphouse: ROOM, gate: ROOM, mirror: 1, wander: 0, lamp: 0, screen: 0,
      laced: false, lacing: 0, filmOut: false, speed: 0, reel: 0, frames: 0, fireShutter: false,
      clutchSlip: false, dog: 0, fanTrip: false, relay: 0,
      opened: false, opening: 0, dark: 0, refunds: 0, alarms: [], acknowledged: [],
    };
  }

  const gap = () => Math.max(0, GAP - s.positive - s.negative);
  const draught = () => (0.12 + 0.88 * s.fan) * (s.damper / 10);

  /** Rectifier, flame and carbons: gap sets the current, current burns the carbons, the carbons set the gap. */
  function arcStep() {
    s.supply = lag(s.supply, s.main && !s.tripped ? OPEN_CIRCUIT : 0, 0.4);
    let touching = false;
    if (s.striking > 0) {
      s.striking = Math.max(0, s.striking - STEP);
      touching = s.striking > 0.6;
      if (s.supply > 50 && gap() < 10) s.lit = s.lit || !touching;
    }
    const g = touching ? 0 : gap();
    const resistance = 0.95 - 0.075 * s.rheostat;
    let wanted = 0;
    if (touching && s.supply > 10) wanted = (s.supply - 10) / (resistance + 0.25);
    else if (s.lit) wanted = g < 0.8 ? (s.supply - 8) / resistance : (s.supply - 24 - 2.4 * g) / (resistance + 0.06);
    s.amps = Math.max(0, lag(s.amps, Math.max(0, wanted), 0.15));
    if (s.lit && !touching && s.striking === 0 && (g > GAP_LOST || s.amps < 15 || s.supply < 40 || s.carbon <= CRATER.spent)) s.lit = false;
    s.volts = s.lit || touching ? Math.max(0, s.supply - s.amps * resistance) : s.supply;

    const burning = s.lit ? s.amps / 60 : 0;
    const feed = s.main ? s.feed * 0.0154 * (s.clutchSlip ? 0.2 : 1) : 0;
    const burned = 0.055 * burning ** 1.6 * STEP;
    s.positive = clamp(s.positive + feed * 0.714 * STEP - burned, -8, 8);
    s.negative = clamp(s.negative + feed * 0.286 * STEP - 0.022 * burning ** 1.4 * STEP, -8, 8);
    const overlap = s.positive + s.negative - GAP;
    if (overlap > 0) s.negative -= overlap; // the points push the lower carbon back in its clamp
    s.carbon = Math.max(CRATER.spent, s.carbon - burned);

    s.over = s.amps > BREAKER ? s.over + STEP : Math.max(0, s.over - STEP);
    if (s.over > BREAKER_DELAY) s.tripped = true;
    if (s.tripped && !s.main && s.rheostat <= 4) { s.tripped = false; s.over = 0; }

    // A strong draught blows the flame about; the crater wanders with it.
    const strong = Math.max(0, draught() - 0.72) / 0.28;
    s.wander = 1.5 * strong * Math.sin(s.time * 2.3) + 0.06 * Math.sin(s.time * 5.1);
    const focus = Math.exp(-(((s.positive + s.wander) / 2.4) ** 2));
    const stretch = Math.exp(-(((g - GAP) / 5) ** 2));
    s.lamp = s.lit ? clamp((s.amps - 24) / 38, 0, 1.5) * focus * stretch * s.mirror : 0;
  }

  /** Heat of the lamphouse and of the film gate, and the fan that takes the first of them away. */
  function heatStep() {
    s.fan = lag(s.fan, s.main && !s.fanTrip ? 1 : 0, 2.5);
    if (s.fanTrip) s.relay = Math.max(0, s.relay - STEP * (s.damper >= 8 ? 1 : 0.25));
    const kilowatts = (s.amps * s.volts) / 1000;
    const lost = (s.lamphouse - ROOM) * (0.005 + 0.032 * draught());
    s.lamphouse = clamp(s.lamphouse + (s.lit ? 1.05 * kilowatts : 0) * STEP - lost * STEP, ROOM, 600);
    if (s.lamphouse > CRACK) s.mirror = 0.35;

    const onFilm = s.dowser ? s.lamp * (s.fireShutter ? 9 : 3.1) : 0;
    const cooling = (s.gate - ROOM) * (0.02 + 0.12 * (s.speed / SOUND_SPEED));
    s.gate = clamp(s.gate + (onFilm - cooling) * STEP, ROOM, 400);
    if (s.gate > BUCKLE && s.laced) breakFilm();
  }

  function breakFilm() {
    s.filmOut = true;
    s.laced = false;
  }

  /** The mechanism: motor, governor's fire shutter, reel; lacing takes a motor at rest and a shut dowser. */
  function filmStep() {
    const drive = !s.laced ? 0 : s.motor === 2 ? SOUND_SPEED : s.motor === 1 ? 4 : 0;
    s.speed = lag(s.speed, drive, drive > s.speed ? 1.5 : 0.7);
    if (s.speed < 0.01 && drive === 0) s.speed = 0;
    s.fireShutter = s.speed > (s.fireShutter ? 17 : 19);
    s.frames = (s.frames + s.speed * STEP) % 100000;
    s.reel = Math.max(0, s.reel - (s.speed / 16) * STEP);
    if (s.laced && s.reel === 0) breakFilm();
    if (s.lacing > 0) {
      if (s.motor !== 0 || s.dowser) s.lacing = 0;
      else if ((s.lacing -= STEP) <= 0) Object.assign(s, { lacing: 0, laced: true, filmOut: false, reel: REEL });
    }
    s.screen = s.dowser && s.fireShutter ? s.lamp * 15 : 0;
  }

  /** The slipping clutch's dog drops back only while nothing drives it. */
  function clutchStep() {
    s.dog = s.clutchSlip && s.feed === 0 ? s.dog + STEP : 0;
    if (s.dog > 3) s.clutchSlip = false;
  }

  /** The manager: once a picture was on the screen, the dark is his business; after 20 s of it he pays seats back. */
  function houseStep() {
    s.opening = s.screen > 8 ? s.opening + STEP : 0;
    if (s.opening > 5) s.opened = true;
    if (s.opened && s.motor === 0 && !s.dowser) s.opened = false; // the curtain is down
    s.dark = s.opened && s.screen < 6 ? s.dark + STEP : 0;
    if (s.dark > 20) s.refunds = Math.min(999, s.refunds + 1.5 * STEP);
  }

  function alarmStep() {
    s.long = s.lit && gap() > 9.5 ? s.long + STEP : 0;
    const was = new Set(s.alarms);
    const on = {
      'ARC LONG': s.long > 2,
      OVERLOAD: s.tripped,
      'LAMPHOUSE HOT': s.lamphouse > (was.has('LAMPHOUSE HOT') ? HOT - 25 : HOT),
      'DRAUGHT LOST': s.fanTrip,
      'FEED SLIP': s.clutchSlip,
      'GATE HOT': s.gate > (was.has('GATE HOT') ? GATE_HOT - 20 : GATE_HOT),
      'FILM OUT': s.filmOut,
      'CARBON LOW': s.carbon < 60,
      'HOUSE RINGING': s.dark > 6,
    };
    s.alarms = ALARMS.filter((name) => on[name]);
    s.acknowledged = s.acknowledged.filter((name) => on[name]);
  }

  function step() {
    s.time += STEP;
    arcStep();
    heatStep();
    filmStep();
    clutchStep();
    houseStep();
    alarmStep();
    // Moving-iron needles: a little overshoot, settled in about a second.
    for (const [needle, swing, value] of [['ammeter', 'ammeterSwing', s.amps], ['voltmeter', 'voltmeterSwing', s.volts]]) {
      s[swing] += (49 * (value - s[needle]) - 8.4 * s[swing]) * STEP;
      s[needle] = clamp(s[needle] + s[swing] * STEP, 0, 130);
    }
  }

  function tick(seconds) {
    carry += Number.isFinite(seconds) ? Math.max(0, seconds) : 0;
    const steps = Math.floor(carry / STEP + 1e-6);
    carry = Math.max(0, carry - steps * STEP);
    for (let i = 0; i < steps; i += 1) step();
  }

  function inject(fault) {
    if (fault === 'feed clutch slip') Object.assign(s, { clutchSlip: true, dog: 0 });
    else if (fault === 'exhaust fan trip') Object.assign(s, { fanTrip: true, relay: FAN_COOLING });
    else if (fault === 'film break') breakFilm();
    alarmStep();
    render();
  }

  function reset() {
    s = cold();
    carry = 0;
    render();
  }

  // ---- what the hands do -----------------------------------------------------------------------------------------
  const act = {
    main: () => { s.main = !s.main; },
    dowser: () => { s.dowser = !s.dowser; },
    strike: () => { if (s.striking === 0) s.striking = 1.1; },
    lace: () => { if (!s.laced && s.motor === 0 && !s.dowser && s.speed < 0.2) s.lacing = LACING; },
    fan: () => { if (s.fanTrip && s.relay === 0) s.fanTrip = false; },
    // Fresh carbons and a spare mirror go in with the current off and the arc out.
    retrim: () => { if (!s.main && !s.lit) Object.assign(s, { positive: -1.6, negative: -0.6, carbon: CRATER.full, mirror: 1 }); },
    acknowledge: () => { s.acknowledged = [...s.alarms]; },
  };

  const $ = (selector) => document.querySelector(selector);
  const control = (name) => $(`[data-control="${name}"]`);
  const SVG = 'http://www.w3.org/2000/svg';
  function draw(parent, tag, attributes, text) {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
  }
  const polar = (x, y, r, degrees) => [x + r * Math.sin((degrees * Math.PI) / 180), y - r * Math.cos((degrees * Math.PI) / 180)].map((n) => n.toFixed(1));

  // ---- drawing that is done once ---------------------------------------------------------------------------------
  function drawDial(svg, { top, step: every, unit, good, red }) {
    const angle = (value) => -125 + (250 * value) / top;
    const arc = (from, to, r) => `M${polar(100, 100, r, angle(from))}A${r} ${r} 0 ${angle(to) - angle(from) > 180 ? 1 : 0} 1 ${polar(100, 100, r, angle(to))}`;
    draw(svg, 'circle', { cx: 100, cy: 100, r: 98, fill: '#2a1013' });
    draw(svg, 'circle', { cx: 100, cy: 100, r: 94, fill: 'url(#nickel)' });
    draw(svg, 'circle', { cx: 100, cy: 100, r: 84, fill: '#f0e6cb', stroke: '#3a3028', 'stroke-width': 2 });
    if (good) draw(svg, 'path', { d: arc(...good, 74), fill: 'none', stroke: '#3d6b42', 'stroke-width': 7 });
    if (red) draw(svg, 'path', { d: arc(...red, 74), fill: 'none', stroke: '#a51d1d', 'stroke-width': 7 });
    for (let value = 0; value <= top; value += every / 4) {
      const major = value % every === 0;
      const [x1, y1] = polar(100, 100, 79, angle(value));
      const [x2, y2] = polar(100, 100, major ? 65 : 71, angle(value));
      draw(svg, 'path', { d: `M${x1} ${y1}L${x2} ${y2}`, stroke: '#1d1712', 'stroke-width': major ? 2.6 : 1.2 });
      if (!major) continue;
      const [x, y] = polar(100, 100, 48, angle(value));
      draw(svg, 'text', { x, y: Number(y) + 6, 'text-anchor': 'middle', 'font-size': 16.5, fill: '#1d1712' }, String(value));
    }
    draw(svg, 'text', { x: 100, y: 148, 'text-anchor': 'middle', 'font-size': 20, 'font-weight': 700, fill: '#1d1712' }, unit);
    const needle = draw(svg, 'g', {});
    draw(needle, 'path', { d: 'M97 122 99 28 101 28 103 122Z', fill: '#1a1210' });
    draw(needle, 'circle', { cx: 100, cy: 100, r: 11, fill: 'url(#bakelite)' });
    draw(svg, 'path', { d: 'M38 76A68 68 0 0 1 92 33', fill: 'none', stroke: '#fff', 'stroke-width': 9, opacity: 0.28, 'stroke-linecap': 'round' });
    return (value) => needle.setAttribute('transform', `rotate(${clamp(angle(value), -129, 129).toFixed(2)} 100 100)`);
  }

  function drawKnob(svg, count, labels, stud) {
    for (let i = 0; i <= count; i += 1) {
      const a = -140 + (280 * i) / count;
      const [x, y] = polar(100, 100, stud ? 74 : 76, a);
      if (stud) draw(svg, 'circle', { cx: x, cy: y, r: 6.5, fill: 'url(#copper)', stroke: '#2a0f06' });
      else {
        const [x2, y2] = polar(100, 100, 67, a);
        draw(svg, 'path', { d: `M${x} ${y}L${x2} ${y2}`, stroke: '#f0e4c4', 'stroke-width': 3 });
      }
      if (!labels.includes(i)) continue;
      const [tx, ty] = polar(100, 100, 91, a);
      draw(svg, 'text', { x: tx, y: Number(ty) + 6, 'text-anchor': 'middle', 'font-size': 18, 'font-weight': 700, fill: '#f0e4c4' }, String(i));
    }
    const turn = draw(svg, 'g', {});
    draw(turn, 'circle', { cx: 100, cy: 100, r: 55, fill: 'url(#bakelite)', stroke: '#0d0605', 'stroke-width': 2 });
    for (let a = 0; a < 360; a += 20) {
      const [x, y] = polar(100, 100, 53, a);
      draw(turn, 'circle', { cx: x, cy: y, r: 5, fill: '#2b1a16' });
    }
    draw(turn, 'circle', { cx: 100, cy: 100, r: 34, fill: '#33201a', stroke: '#6b4f45', 'stroke-width': 1.5 });
    draw(turn, 'path', { d: 'M96 46H104L102 92H98Z', fill: '#f0e4c4' });
    return (value) => turn.setAttribute('transform', `rotate(${(-140 + (280 * value) / count).toFixed(1)} 100 100)`);
  }

  function drawWheel(svg) {
    draw(svg, 'circle', { cx: 70, cy: 70, r: 66, fill: '#250c11' });
    const turn = draw(svg, 'g', {});
    draw(turn, 'circle', { cx: 70, cy: 70, r: 56, fill: 'none', stroke: 'url(#nickel)', 'stroke-width': 13 });
    for (const a of [0, 120, 240]) {
      const [x, y] = polar(70, 70, 54, a);
      draw(turn, 'path', { d: `M70 70L${x} ${y}`, stroke: '#a9a79e', 'stroke-width': 10 });
    }
    draw(turn, 'circle', { cx: 70, cy: 70, r: 15, fill: 'url(#nickel)', stroke: '#55544e' });
    draw(turn, 'circle', { cx: 70, cy: 14, r: 11, fill: 'url(#bakelite)', stroke: '#000' });
    return (degrees) => turn.setAttribute('transform', `rotate(${degrees.toFixed(1)} 70 70)`);
  }

  const setAmps = drawDial($('#ammeter'), { top: 100, step: 20, unit: 'A', good: [58, 66], red: [85, 100] });
  const setVolts = drawDial($('#voltmeter'), { top: 80, step: 20, unit: 'V', good: [36, 42] });
  const setRheostat = drawKnob($('#rheo'), 8, [0, 2, 4, 5, 6, 8], true);
  const setFeed = drawKnob($('#feed'), 10, [0, 5, 10], false);
  const setPositive = drawWheel($('#pos-wheel'));
  const setNegative = drawWheel($('#neg-wheel'));
  for (let mm = -6; mm <= 12; mm += 1) {
    const x = (300 + mm * 17.7).toFixed(1);
    draw($('#card-scale'), 'path', { d: `M${x} 2V${mm % 2 ? 8 : 13}` });
  }
  const thermo = $('#thermo');
  draw(thermo, 'rect', { x: 1, y: 1, width: 328, height: 60, rx: 5, fill: '#f0e6cb', stroke: '#8f8b80', 'stroke-width': 2 });
  const degrees = (t) => 30 + (t / 350) * 285;
  draw(thermo, 'rect', { x: degrees(HOT), y: 30, width: degrees(350) - degrees(HOT), height: 6, fill: '#a51d1d' });
  for (let t = 0; t <= 350; t += 10) draw(thermo, 'path', { d: `M${degrees(t).toFixed(1)} 28V${t % 50 ? 24 : 19}`, stroke: '#1d1712', 'stroke-width': t % 50 ? 1 : 2 });
  for (let t = 0; t <= 350; t += 50) draw(thermo, 'text', { x: degrees(t).toFixed(1), y: 16, 'text-anchor': 'middle', 'font-size': 14, fill: '#1d1712' }, String(t));
  draw(thermo, 'rect', { x: 18, y: 38, width: 302, height: 13, rx: 6.5, fill: '#cfc7b2', stroke: '#5b5348' });
  const mercury = draw(thermo, 'rect', { x: 18, y: 40, width: 30, height: 9, rx: 4.5, fill: '#a01522' });
  draw(thermo, 'circle', { cx: 20, cy: 44.5, r: 10, fill: '#a01522', stroke: '#5b0d15' });

  const flags = ALARMS.map((name) => {
    const item = document.createElement('li');
    const drop = document.createElement('span');
    drop.className = 'drop';
    drop.setAttribute('aria-hidden', 'true');
    const legend = document.createElement('span');
    legend.className = 'flag-name';
    legend.textContent = name;
    const word = document.createElement('span');
    word.className = 'unseen';
    item.append(drop, legend, word);
    $('#flags').append(item);
    return { name, item, word };
  });

  // ---- controls --------------------------------------------------------------------------------------------------
  /** A knob that turns by dragging round it, and by keys. */
  function knob(element, key, top, grain) {
    const set = (value) => { s[key] = clamp(Math.round(value / grain) * grain, 0, top); render(); };
    element.addEventListener('keydown', (event) => {
      const by = { ArrowUp: grain, ArrowRight: grain, ArrowDown: -grain, ArrowLeft: -grain, PageUp: grain * 2, PageDown: -grain * 2 }[event.key];
      if (by) set(s[key] + by);
      else if (event.key === 'Home') set(0);
      else if (event.key === 'End') set(top);
      else return;
      event.preventDefault();
    });
    let held = 0;
    drag(element, (turned) => set(held + (turned / 280) * top), () => { held = s[key]; });
    element.addEventListener('wheel', (event) => { event.preventDefault(); set(s[key] - Math.sign(event.deltaY) * grain); }, { passive: false });
  }

  /** Follows a pointer round an element's middle and tells the degrees it has turned since it was pressed. */
  function drag(element, turn, begin) {
    let last = null;
    let total = 0;
    const bearing = (event) => {
      const box = element.getBoundingClientRect();
      return (Math.atan2(event.clientX - box.left - box.width / 2, box.top + box.height / 2 - event.clientY) * 180) / Math.PI;
    };
    element.addEventListener('pointerdown', (event) => {
      element.setPointerCapture(event.pointerId);
      last = bearing(event);
      total = 0;
      begin();
    });
    element.addEventListener('pointermove', (event) => {
      if (last === null) return;
      const now = bearing(event);
      total += ((now - last + 540) % 360) - 180;
      last = now;
      turn(total);
    });
    for (const end of ['pointerup', 'pointercancel']) element.addEventListener(end, () => { last = null; });
  }

  /** A wheel on a carbon's spindle: one turn is 4 mm; a key is a fifth of a millimetre. */
  function spindle(element, key) {
    let held = 0;
    const set = (value) => { s[key] = clamp(value, -8, 8); render(); };
    drag(element, (turned) => set(held + turned / 90), () => { held = s[key]; });
    element.addEventListener('keydown', (event) => {
      const by = { ArrowUp: 0.2, ArrowRight: 0.2, ArrowDown: -0.2, ArrowLeft: -0.2, PageUp: 1, PageDown: -1 }[event.key];
      if (!by) return;
      event.preventDefault();
      set(s[key] + by);
    });
    element.addEventListener('wheel', (event) => { event.preventDefault(); set(s[key] - Math.sign(event.deltaY) * 0.2); }, { passive: false });
  }

  knob(control('RHEOSTAT'), 'rheostat', 8, 1);
  knob(control('FEED'), 'feed', 10, 0.5);
  spindle(control('POSITIVE CARBON'), 'positive');
  spindle(control('NEGATIVE CARBON'), 'negative');
  const press = (name, action) => control(name).addEventListener('click', () => { action(); render(); });
  press('MAIN SWITCH', act.main);
  press('DOWSER', act.dowser);
  press('STRIKE', act.strike);
  press('LACE UP', act.lace);
  press('FAN RESET', act.fan);
  press('RETRIM', act.retrim);
  press('ACKNOWLEDGE', act.acknowledge);
  for (const [name, key] of [['DAMPER', 'damper'], ['MOTOR', 'motor']]) {
    control(name).addEventListener('input', (event) => { s[key] = Number(event.target.value); render(); });
  }
  for (const link of document.querySelectorAll('[data-fault]')) link.addEventListener('click', () => inject(link.dataset.fault));

  const book = $('[data-manual]');
  $('[data-action="manual"]').addEventListener('click', () => book.showModal());
  $('[data-action="close-manual"]').addEventListener('click', () => book.close());

  // ---- the bell, only after somebody asked for it ----------------------------------------------------------------
  let audio = null;
  let lastRing = 0;
  $('#sound').addEventListener('click', (event) => {
    const on = event.currentTarget.getAttribute('aria-pressed') !== 'true';
    event.currentTarget.setAttribute('aria-pressed', String(on));
    if (on) audio ??= new AudioContext();
    audio?.[on ? 'resume' : 'suspend']();
  });
  function ring(now) {
    if (audio?.state !== 'running' || now - lastRing < 1400 || s.alarms.every((name) => s.acknowledged.includes(name))) return;
    lastRing = now;
    for (const [pitch, loud] of [[1240, 0.09], [2610, 0.05], [3730, 0.02]]) {
      const tone = audio.createOscillator();
      const level = audio.createGain();
      tone.frequency.value = pitch;
      level.gain.setValueAtTime(loud, audio.currentTime);
      level.gain.exponentialRampToValueAtTime(0.0001, audio.currentTime + 1.1);
      tone.connect(level).connect(audio.destination);
      tone.start();
      tone.stop(audio.currentTime + 1.2);
    }
  }

  // ---- drawing the state -----------------------------------------------------------------------------------------
  const calm = matchMedia('(prefers-reduced-motion: reduce)');
  const set = (selector, name, value) => $(selector).setAttribute(name, value);
  const aria = (name, attribute, value) => control(name).setAttribute(attribute, value);

  function renderArc() {
    const mm = 17.7; // px of the card for one millimetre of carbon
    const touching = s.striking > 0.6;
    const face = 300 + clamp(s.positive + s.wander, -9, 9) * mm;
    const point = touching ? face : face + gap() * mm;
    set('#positive', 'transform', `translate(${face.toFixed(1)} 0)`);
    set('#negative', 'transform', `translate(${point.toFixed(1)} 0)`);
    const heat = s.lit || touching ? clamp(s.amps / 62, 0, 1.4) : 0;
    set('#glow', 'cx', ((face + point) / 2).toFixed(1));
    set('#glow', 'rx', (90 + gap() * 16).toFixed(0));
    set('#glow', 'opacity', clamp(heat, 0, 1).toFixed(2));
    set('#crater-spot', 'opacity', clamp(heat * 1.2, 0, 1).toFixed(2));
    set('#crater-spot', 'rx', (20 + 16 * heat).toFixed(1));
    set('#neg-spot', 'opacity', clamp(heat, 0, 1).toFixed(2));
    const lean = 40 + 60 * draught();
    set('#tail', 'd', heat ? `M${face} 118Q${(face + point) / 2} ${118 - lean} ${point + 60} ${100 - lean}Q${point} 118 ${point} 126Z` : 'M0 0');
    set('#tail', 'opacity', (0.8 * clamp(heat, 0, 1)).toFixed(2));
    set('#glass', 'fill', `rgb(${[59, 55, 48].map((c, i) => Math.round(c - heat * [34, 30, 8][i])).join(' ')})`);
  }

  function renderPicture() {
    const light = clamp(s.screen / 15, 0, 1);
    set('#dim', 'opacity', (1 - light * 0.98).toFixed(3));
    set('#tint', 'opacity', (light > 0 ? clamp((60 - s.amps) / 50, 0, 0.4) : 0).toFixed(3));
    const moved = calm.matches ? 0 : s.frames;
    set('#waves', 'transform', `translate(${((moved * 0.9) % 60).toFixed(1)} 0)`);
    set('#clouds', 'transform', `translate(${(-(moved * 0.12) % 240).toFixed(1)} 0)`);
    set('#boat', 'transform', `translate(${(230 - ((moved * 0.35) % 300)).toFixed(1)} ${(2 * Math.sin(moved / 14)).toFixed(1)})`);
    set('#beam', 'opacity', (0.05 + 0.4 * Math.max(0, Math.sin(moved / 30))).toFixed(2));
    const cued = s.laced && s.screen > 0 && ((s.reel < 14 && s.reel > 12) || (s.reel < 3 && s.reel > 1.5));
    set('#cue', 'opacity', cued ? '1' : '0');
    for (const [i, wheel] of [...document.querySelectorAll('.sprockets path')].entries()) {
      wheel.style.transform = `rotate(${calm.matches ? 0 : (s.frames * 15 * (i % 2 ? 1.5 : 1)) % 360}deg)`;
    }
    set('#film', 'opacity', s.laced ? 1 : 0);
    set('#film-holes', 'opacity', s.laced ? 1 : s.lacing > 0 ? 1 - s.lacing / LACING : 0);
    set('#film-holes', 'stroke-dashoffset', calm.matches ? 0 : (-s.frames * 2) % 8);
    set('#fire', 'transform', s.fireShutter ? 'translate(0 -22)' : '');
    set('#gate-glow', 'opacity', s.dowser ? clamp(s.lamp, 0, 1).toFixed(2) : '0');
  }

  function renderControls() {
    aria('MAIN SWITCH', 'aria-checked', s.main);
    set('#blades', 'transform', s.main ? '' : 'translate(0 30) scale(1 .58) translate(0 -54)');
    setRheostat(s.rheostat);
    aria('RHEOSTAT', 'aria-valuenow', s.rheostat);
    aria('RHEOSTAT', 'aria-valuetext', `stud ${s.rheostat}`);
    setFeed(s.feed);
    aria('FEED', 'aria-valuenow', s.feed);
    setPositive(s.positive * 90);
    setNegative(-s.negative * 90);
    for (const [name, key] of [['POSITIVE CARBON', 'positive'], ['NEGATIVE CARBON', 'negative']]) {
      aria(name, 'aria-valuenow', s[key].toFixed(1));
      aria(name, 'aria-valuetext', `${Math.abs(s[key]).toFixed(1)} millimetres ${s[key] < 0 ? 'behind' : 'beyond'} its mark`);
    }
    set('#plunge', 'transform', s.striking > 0.6 ? 'translate(7 7) scale(.88)' : '');
    aria('DOWSER', 'aria-checked', s.dowser);
    set('#dowser-arm', 'transform', `rotate(${s.dowser ? 48 : -48} 75 104)`);
    control('DAMPER').value = s.damper;
    control('MOTOR').value = s.motor;
    aria('MOTOR', 'aria-valuetext', ['off', 'inch', 'run'][s.motor]);
    control('LACE UP').classList.toggle('busy', s.lacing > 0);
    control('FAN RESET').classList.toggle('ready', s.fanTrip && s.relay === 0);
    for (const link of document.querySelectorAll('[data-fault]')) {
      const made = { 'feed clutch slip': s.clutchSlip, 'exhaust fan trip': s.fanTrip, 'film break': s.filmOut }[link.dataset.fault];
      link.classList.toggle('made', made);
    }
  }

  let toldAlarms = '';
  function render() {
    setAmps(s.ammeter);
    setVolts(s.voltmeter);
    mercury.setAttribute('width', clamp(degrees(s.lamphouse) - 18, 4, 300).toFixed(1));
    set('#fan', 'transform', `rotate(${calm.matches ? 0 : ((s.time * 410) % 360) * (s.fan > 0.05 ? 1 : 0)} 45 45)`);
    renderArc();
    renderPicture();
    renderControls();
    $('#ftl').textContent = s.screen.toFixed(1);
    $('#fpm').textContent = String(Math.round(s.speed * 3.75));
    $('#gate').textContent = String(Math.round(s.gate));
    $('#reel').textContent = String(Math.ceil(s.reel)).padStart(4, '0');
    $('#refunds').textContent = String(Math.floor(s.refunds)).padStart(3, '0');
    for (const { name, item, word } of flags) {
      const on = s.alarms.includes(name);
      item.classList.toggle('down', on);
      item.classList.toggle('known', on && s.acknowledged.includes(name));
      word.textContent = on ? (s.acknowledged.includes(name) ? ', down, acknowledged' : ', down') : ', up';
    }
    if (s.alarms.join() !== toldAlarms) {
      toldAlarms = s.alarms.join();
      $('#spoken').textContent = s.alarms.length ? `Flags down: ${s.alarms.join(', ')}` : 'All flags up';
    }
  }

  // ---- the loop --------------------------------------------------------------------------------------------------
  let before = null;
  let drawn = 0;
  function frame(now) {
    // A frame that comes late (a hidden page) adds a tenth of a second, not the whole pause.
    if (before !== null) tick(Math.min(0.1, (now - before) / 1000));
    before = now;
    // Where reduced motion is asked for, instruments step four times a second.
    if (!calm.matches || now - drawn > 250) {
      drawn = now;
      render();
      ring(now);
    }
    requestAnimationFrame(frame);
  }

  window.machine = {
    name: 'Alhambra Machine Two',
    faults: [...FAULTS],
    state: () => ({ ...s, gap: gap(), draught: draught(), alarms: [...s.alarms], acknowledged: [...s.acknowledged] }),
    tick,
    inject,
    reset,
  };
  reset();
  requestAnimationFrame(frame);
})();
