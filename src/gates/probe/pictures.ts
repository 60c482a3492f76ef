import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DESKTOP, PHONE, type Take } from './panel.ts';
import type { Visit } from './plan.ts';
import { Tab } from './tab.ts';

export type PictureName = Parameters<Take>[0];
const PICTURE_NAMES: readonly PictureName[] = ['desktop', 'phone', 'manual'];

/** The three pictures of one machine: taken once each, written as `<out>/<slug>-<name>.png`. */
export class Pictures {
  readonly taken = new Map<PictureName, Buffer>();
  private readonly out: string;
  private readonly slug: string;

  constructor(out: string, slug: string) {
    this.out = out;
    this.slug = slug;
  }

  readonly take: Take = async (name, tab) => {
    if (this.taken.has(name)) return;
    await tab.evaluate('KIT.still()');
    const png = await tab.picture();
    await this.keep(name, png);
    await tab.evaluate('KIT.move()');
  };

  private async keep(name: PictureName, png: Buffer): Promise<void> {
    this.taken.set(name, png);
    await mkdir(this.out, { recursive: true });
    await writeFile(join(this.out, `${this.slug}-${name}.png`), png);
  }

  /**
   * Takes what is missing with the page's script off, so that there is something to look at even of a machine whose
   * script never ends.
   */
  async takeMissing(visit: Visit): Promise<void> {
    const missing = PICTURE_NAMES.filter((name) => !this.taken.has(name));
    for (const name of missing) {
      const size = name === 'phone' ? PHONE : DESKTOP;
      const png = await this.withoutScript(visit, size, name === 'manual').catch(() => null);
      await this.keep(name, png ?? (await blank(size)));
    }
  }

  private async withoutScript(visit: Visit, size: typeof DESKTOP, manual: boolean): Promise<Buffer> {
    const tab = await Tab.open(visit.browser, visit.machine, visit.told, { ...size, rank: 9, script: false });
    try {
      return await tab.within('taking a picture without script', 2_500, performance.now() + 2_500, async () => {
        await tab.page.goto(`${visit.machine.base}index.html`, { waitUntil: 'load', timeout: 0 });
        if (manual) await tab.evaluate("document.querySelector('dialog[data-manual]')?.showModal()");
        return tab.picture();
      });
    } finally {
      await tab.close();
    }
  }
}

/** A grey picture, for a page of which the browser would show nothing at all. */
async function blank(size: typeof DESKTOP): Promise<Buffer> {
  const { default: sharp } = await import('sharp');
  return sharp({ create: { ...size, channels: 3, background: '#808080' } })
    .png()
    .toBuffer();
}
