import { launch } from '../../gates/probe/browser.ts';
import { findChromium } from '../../gates/probe/chromium.ts';
import { type Examiner, broken, ok } from '../examination.ts';

/** A page that only a browser with script and drawing can answer. */
const PAGE = `<title>no</title><canvas width=1 height=1></canvas><script>
document.title = document.querySelector('canvas').getContext('2d') ? 'works' : 'draws nothing';
</script>`;

/** Chromium, seen to open a page as the probe does. */
export const browser: Examiner = {
  name: 'browser',
  async look() {
    const executable = await findChromium();
    const chromium = await launch(executable);
    try {
      const page = await chromium.browser.newPage();
      await page.setContent(PAGE);
      const title = await page.title();
      const version = chromium.browser.version();
      if (title === 'works') return ok(`Chromium ${version} at ${executable} opened a page`);
      return broken(
        `Chromium ${version} at ${executable} opened a page that ${title}`,
        'Set CHROMIUM_PATH to another Chromium.',
      );
    } finally {
      await chromium.close();
    }
  },
};
