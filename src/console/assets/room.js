// Keeps time and light. Nothing here is needed to read a page.

const COOKIE = 'machinery_light';
const YEAR = 31_536_000;

function keepLight() {
  const select = document.getElementById('light');
  select?.addEventListener('change', () => {
    const secure = location.protocol === 'https:' ? '; secure' : '';
    // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store is not in every browser, and the value is a word of ours
    document.cookie = `${COOKIE}=${select.value}; path=/; max-age=${select.value ? YEAR : 0}; samesite=strict${secure}`;
    if (select.value) document.documentElement.dataset.room = select.value;
    else delete document.documentElement.dataset.room;
  });
}

/** As the server says a duration. */
function told(ms) {
  if (ms < 60_000) return `${Math.floor(ms / 1000)} s`;
  const minutes = Math.floor(ms / 60_000);
  const seconds = Math.floor(ms / 1000) % 60;
  if (minutes < 60) return `${minutes} min ${seconds} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

function untilTold(ms) {
  const minutes = Math.ceil(ms / 60_000);
  if (minutes <= 0) return 'now';
  return minutes < 120 ? `in ${minutes} min` : `in ${Math.round(minutes / 60)} h`;
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function handsOf(at, zone) {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hourCycle: 'h23',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(at);
  const of = (type) => Number(parts.find((part) => part.type === type)?.value ?? 0);
  return { hours: of('hour'), minutes: of('minute'), seconds: of('second') };
}

function point(turn) {
  const angle = (turn - 0.25) * 2 * Math.PI;
  return `${(100 + 78 * Math.cos(angle)).toFixed(2)} ${(100 + 78 * Math.sin(angle)).toFixed(2)}`;
}

function turnHands(clock, now) {
  const { zone, next } = clock.dataset;
  const { hours, minutes, seconds } = handsOf(now, zone);
  const turn = (minutes + seconds / 60) / 60;
  const set = (name, degrees) =>
    clock.querySelector(`[data-hand=${name}]`)?.setAttribute('transform', `rotate(${degrees} 100 100)`);
  set('hours', ((hours % 12) + minutes / 60) * 30);
  set('minutes', turn * 360);
  set('seconds', seconds * 6);
  const ahead = next ? Date.parse(next) - now.getTime() : 0;
  const then = next ? handsOf(new Date(next), zone) : null;
  const end = then ? (then.minutes + then.seconds / 60) / 60 : 0;
  const large = (end - turn + 1) % 1 > 0.5 ? 1 : 0;
  const arc = ahead > 0 && ahead < 3_600_000 ? `M ${point(turn)} A 78 78 0 ${large} 1 ${point(end)}` : '';
  clock.querySelector('.ahead')?.setAttribute('d', arc);
}

function tick() {
  const now = new Date();
  for (const each of document.querySelectorAll('.elapsed')) {
    const since = Date.parse(each.dataset.since);
    if (!Number.isNaN(since)) setText(each, told(Math.max(0, now.getTime() - since)));
  }
  for (const each of document.querySelectorAll('.countdown')) {
    setText(each, untilTold(Date.parse(each.dataset.until) - now.getTime()));
  }
  for (const clock of document.querySelectorAll('[data-clock]')) turnHands(clock, now);
}

keepLight();
tick();
setInterval(tick, 1000);
