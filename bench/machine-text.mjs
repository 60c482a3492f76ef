// Text like that of a real machine, by the kilobyte: the same at every run.

let seed = 1;
const random = () => {
  seed = (seed * 1664525 + 1013904223) >>> 0;
  return seed / 2 ** 32;
};
const upTo = (limit) => Math.floor(random() * limit);
const WORDS =
  'pressure valve brine motor lever gauge relay tank flow heat steam pump coil drum spindle governor needle lamp'.split(
    ' ',
  );
const word = () => WORDS[upTo(WORDS.length)];
const name = () => `${word()}${word().replace(/^./, (letter) => letter.toUpperCase())}${upTo(50)}`;
const colour = () => `#${upTo(0xffffff).toString(16).padStart(6, '0')}`;

/** Puts pieces together until they are `bytes` long. */
function fill(bytes, piece) {
  let text = '';
  while (text.length < bytes) text += piece(text.length);
  return text;
}

export const scriptText = (bytes) =>
  fill(bytes, (at) => {
    const [a, b, c] = [`${name()}_${at}`, name(), `${name()}x`];
    return `  // ${word()} and ${word()} of the ${word()}
  function ${a}(dt, state) {
    const ${b} = Math.max(0, Math.min(1, state.${word()} * ${random().toFixed(3)} + dt));
    let ${c} = 0;
    for (let i = 0; i < ${upTo(20)}; i += 1) {
      if (state.${word()} > ${upTo(90)} && !state.${word()}) ${c} += Math.sin(i / ${upTo(9) + 1}) * ${b};
      else { state.${word()} -= ${random().toFixed(2)}; }
    }
    const element = document.querySelector('#${word()}-${word()}');
    element.setAttribute('transform', \`rotate(\${(${b} * 270 - 135).toFixed(1)} 50 50)\`);
    element.textContent = '${word()} ' + ${c}.toFixed(2) + ' ${word()}';
    return { ...state, ${word()}: ${b}, list: [${b}, ${c}, dt] };
  }
`;
  });

export const styleText = (bytes) =>
  fill(
    bytes,
    () => `/* ${word()} ${word()} */
.${word()}-${word()} .${word()} > span:nth-child(${upTo(9)}), .${name()}::before {
  position: absolute; inset: 0 auto auto ${upTo(99)}px;
  background: linear-gradient(${upTo(360)}deg, ${colour()} 0%, rgba(0, 0, 0, ${random().toFixed(2)}) 60%), var(--chassis);
  box-shadow: inset 0 1px 2px rgba(255, 255, 255, .4), 0 2px 6px rgba(0, 0, 0, .5);
  transform: translate(-50%, -50%) rotate(var(--a, 0deg));
  font: 600 ${upTo(20)}px/1.2 "Gill Sans", sans-serif;
}
`,
  );

export const drawingText = (bytes) =>
  fill(
    bytes,
    () =>
      `<g class="${word()}" transform="translate(${upTo(900)} ${upTo(900)})"><circle cx="${upTo(90)}" cy="${upTo(90)}" r="${upTo(9)}" fill="${colour()}"/><path d="M${upTo(90)} ${upTo(90)} L${upTo(90)} ${upTo(90)} A40 40 0 0 1 90 55" stroke="currentColor"/><text x="${upTo(90)}" y="8">${word()} ${word()}</text></g>\n`,
  );

export const proseText = (bytes) =>
  fill(
    bytes,
    () =>
      `<h3>${word()} ${word()}</h3>\n<p>The <b>${word()}</b> of the ${word()} &amp; ${word()} must be turned slowly &mdash; ${word()} first, then the ${word()}, until the <em>${word()}</em> reads ${upTo(99)}&nbsp;psi.</p>\n<table><tr><th>${word()}</th><td>${word()}</td></tr></table>\n`,
  );
