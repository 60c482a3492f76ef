import type { Box, El, Kit, Win } from './dom.ts';
import type { Approach, Place } from './told.ts';

/**
 * Runs in the page after `addSimulation`: looks at the panel as a visitor would, and finds where to click. The clicks
 * and keys themselves are real ones, sent by the browser.
 */
export function addPanel(key: string): void {
  const win = globalThis as unknown as Win;
  const doc = win.document;
  const kit = win[key] as Kit;
  const stringify = JSON.stringify;
  const FOCUSABLE =
    'a[href],area[href],button,input,select,textarea,summary,iframe,audio[controls],video[controls],[tabindex],[contenteditable]';
  const fold = (name: string | null) => (name ?? '').replace(/\s+/g, ' ').trim().toLowerCase();

  /** Elements that took the focus since the last `focusStart`. */
  let focused: El[] = [];
  doc.addEventListener('focusin', ({ target }) => (focused[focused.length] = target), true);

  function named(attribute: string, name: string): El[] {
    const all = doc.querySelectorAll(`[${attribute}]`);
    const found: El[] = [];
    for (let n = 0; n < all.length; n += 1) {
      const element = all[n] as El;
      if (fold(element.getAttribute(attribute)) === fold(name)) found[found.length] = element;
    }
    return found;
  }

  /** The element's box; for one that has none of its own (`display: contents`), the box of what it holds. */
  function boxOf(element: El): Box | null {
    const own = element.getBoundingClientRect();
    if (own.width > 0 && own.height > 0) return own;
    let union: Box | null = null;
    for (let n = 0; n < element.children.length; n += 1) {
      const inner = boxOf(element.children[n] as El);
      if (inner === null) continue;
      if (union === null)
        union = {
          left: inner.left,
          top: inner.top,
          right: inner.right,
          bottom: inner.bottom,
          width: inner.width,
          height: inner.height,
        };
      else {
        union.left = Math.min(union.left, inner.left);
        union.top = Math.min(union.top, inner.top);
        union.right = Math.max(union.right, inner.right);
        union.bottom = Math.max(union.bottom, inner.bottom);
        union.width = union.right - union.left;
        union.height = union.bottom - union.top;
      }
    }
    return union;
  }

  /**
   * Hidden by display, visibility or opacity, itself or by an ancestor. A transparent input laid over a drawn control is
   * a known way to draw one: it is judged by the element it lies in.
   */
  function visible(element: El): boolean {
    const overlay = element.matches('input,select,button') && win.getComputedStyle(element).opacity === '0';
    const judged = overlay && element.parentElement ? element.parentElement : element;
    if (win.getComputedStyle(element).visibility !== 'visible' && !someChild(element)) return false;
    if (win.getComputedStyle(judged).display === 'contents') return boxOf(judged) !== null && someChild(judged);
    return judged.checkVisibility({ opacityProperty: true, contentVisibilityAuto: false }) && boxOf(element) !== null;
  }

  function someChild(element: El): boolean {
    for (let n = 0; n < element.children.length; n += 1) if (visible(element.children[n] as El)) return true;
    return false;
  }

  function place(elements: ArrayLike<El>): Place {
    for (let n = 0; n < elements.length; n += 1) {
      const element = elements[n] as El;
      const box = boxOf(element);
      if (box && visible(element)) return { found: true, shown: true, box };
    }
    return { found: elements.length > 0, shown: false, box: elements.length > 0 ? boxOf(elements[0] as El) : null };
  }

  function tell(element: El): string {
    const label = fold(
      element.getAttribute('data-control') ?? element.getAttribute('class') ?? element.textContent,
    ).slice(0, 40);
    return `<${element.tagName.toLowerCase()}${element.id ? ` id="${element.id}"` : ''}>${label ? ` (${label})` : ''}`;
  }

  function overflow(): { overflow: number; widest: string } {
    const root = doc.documentElement;
    const clipped = [root, doc.body].some(
      (element) => element && /hidden|clip/.test(win.getComputedStyle(element).overflowX ?? ''),
    );
    const all = doc.querySelectorAll(clipped ? '[data-control],[data-fault],[data-action]' : 'body *');
    let most = clipped ? 0 : root.scrollWidth - root.clientWidth;
    let right = root.clientWidth + 1;
    let widest = '';
    for (let n = 0; n < all.length && n < 20_000 && (clipped || most > 1); n += 1) {
      const element = all[n] as El;
      const box = element.getBoundingClientRect();
      if (box.width === 0 || box.right <= right || !visible(element)) continue;
      right = box.right;
      widest = tell(element);
      if (clipped) most = box.right - root.clientWidth;
    }
    return { overflow: most, widest };
  }

  // A page may not ask to be kept: this listener is the first, so no other is called.
  win.addEventListener('beforeunload', (event) => event.stopImmediatePropagation(), true);

  /**
   * Resolves once the page and what it holds has loaded. The load event would not do: a page that tries to leave while
   * it loads, and is kept from it, never gets one.
   */
  kit.loaded = async () => {
    while (doc.readyState !== 'complete') await kit.painted();
  };

  const dialog = () => doc.querySelector('dialog[data-manual]') ?? doc.querySelector('[data-manual]');
  const dialogShown = () => {
    const found = dialog();
    return found !== null && (found.open === true || (boxOf(found) !== null && visible(found)));
  };

  kit.measure = (controls: string[]) =>
    stringify({
      ...overflow(),
      controls: controls.map((name) => place(named('data-control', name))),
      manual: place(doc.querySelectorAll('[data-action="manual"]')),
      dialogOpen: dialogShown(),
    });

  kit.dialogShown = dialogShown;

  /** Opens or closes the manual without a click: only to take its picture, or to go on after it would not close. */
  kit.forceDialog = (open: boolean) => {
    const found = dialog();
    if (!found || typeof found.showModal !== 'function') return;
    if (open && !found.open) found.showModal();
    if (!open && found.open) found.close();
  };

  /** A point of the element that a click would really hit; its middle when everything is covered. */
  function pointOf(element: El): { x: number; y: number } {
    const box = boxOf(element) ?? element.getBoundingClientRect();
    const middle = { x: box.left + box.width / 2, y: box.top + box.height / 2 };
    const parts = [middle];
    const rects = element.getClientRects();
    for (let n = 0; n < rects.length && n < 8; n += 1) {
      const part = rects[n] as Box;
      parts[parts.length] = { x: part.left + part.width / 2, y: part.top + part.height / 2 };
    }
    for (const across of [0.25, 0.75, 0.1, 0.9]) {
      for (const down of [0.5, 0.25, 0.75]) {
        parts[parts.length] = { x: box.left + box.width * across, y: box.top + box.height * down };
      }
    }
    for (const point of parts) {
      const hit = doc.elementFromPoint(point.x, point.y);
      if (hit && element.contains(hit)) return point;
    }
    return middle;
  }

  function pick(elements: ArrayLike<El>): El | null {
    for (let n = 0; n < elements.length; n += 1) if (visible(elements[n] as El)) return elements[n] as El;
    return (elements[0] as El | undefined) ?? null;
  }

  function approach(element: El | null): Approach {
    if (element === null) return { found: false, x: 0, y: 0, how: 'click', key: '' };
    const box = element.getBoundingClientRect();
    if (box.top < 0 || box.left < 0 || box.bottom > win.innerHeight || box.right > win.innerWidth) {
      element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    }
    const worked = element.matches(FOCUSABLE) ? element : (element.querySelector(FOCUSABLE) ?? element);
    const type = worked.tagName === 'INPUT' ? (worked.type ?? 'text') : '';
    const role = worked.getAttribute('role') ?? '';
    const point = pointOf(element);
    if (worked.tagName === 'SELECT') return focus(worked, point, 'key', 'ArrowDown');
    if (type === 'range' || type === 'number') return focus(worked, point, 'key', 'ArrowUp');
    if (role === 'slider' || role === 'spinbutton') return focus(worked, point, 'key', 'ArrowUp');
    if (worked.tagName === 'TEXTAREA' || /^(text|search|tel|url|email|password)$/.test(type))
      return focus(worked, point, 'text', '7');
    if (/^(color|date|datetime-local|file|month|time|week)$/.test(type)) return focus(worked, point, 'key', 'ArrowUp');
    return { found: true, ...point, how: 'click', key: '' };
  }

  function focus(element: El, point: { x: number; y: number }, how: Approach['how'], named: string): Approach {
    element.focus();
    return { found: true, ...point, how, key: named };
  }

  kit.control = (name: string) => stringify(approach(pick(named('data-control', name))));
  kit.action = (name: string) => stringify(clickable(pick(doc.querySelectorAll(`[data-action="${name}"]`))));
  kit.faultSwitch = (name: string) => stringify(clickable(pick(named('data-fault', name))));
  kit.focusFault = (name: string) => {
    const found = pick(named('data-fault', name));
    const inside = found && !found.matches(FOCUSABLE) ? found.querySelector(FOCUSABLE) : found;
    inside?.focus();
  };

  function clickable(element: El | null): Approach {
    return { ...approach(element), how: 'click' };
  }

  /** Starts a walk with Tab from the top of the page; @returns how many presses could be needed. */
  kit.focusStart = () => {
    focused = [];
    return doc.querySelectorAll(FOCUSABLE).length + 10;
  };

  /** For each control, whether the walk came to it; a radio button counts when any of its group was reached. */
  kit.focusEnd = (controls: string[]) =>
    stringify(
      controls.map((name) => {
        const elements = named('data-control', name);
        return elements.some((element) =>
          focused.some((target) => element.contains(target) || sameGroup(element, target)),
        );
      }),
    );

  function sameGroup(element: El, target: El): boolean {
    const radio = element.matches('input[type=radio]') ? element : element.querySelector('input[type=radio]');
    return radio !== null && target.type === 'radio' && target.name === radio.name && target.form === radio.form;
  }

  /** The elements whose names a screen reader would say: each control's own focusable element, null where it has none. */
  kit.focusTargets = (controls: string[]) =>
    controls.map((name) => {
      const element = pick(named('data-control', name));
      if (element === null || !visible(element)) return null;
      return element.matches(FOCUSABLE) ? element : element.querySelector(FOCUSABLE);
    });

  /** Brings running animations to a moment that is always the same, so that two pictures of one machine are equal. */
  kit.still = () => {
    for (const animation of doc.getAnimations()) {
      const end = animation.effect?.getComputedTiming().endTime;
      if (typeof end === 'number' && Number.isFinite(end)) animation.finish();
      else {
        animation.pause();
        animation.currentTime = 0;
      }
    }
  };
  kit.move = () => {
    for (const animation of doc.getAnimations()) animation.play();
  };
}
