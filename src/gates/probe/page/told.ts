import type { Box } from './dom.ts';

/** What the in-page code tells: the shapes of the JSON texts that leave the page. */

/** What a step of the simulation found; each is sent out of the page as one JSON text. */
export interface StepTold {
  /** The machine threw: what, and during which call. */
  threw?: { message: string; stack: string; at: string };
  /** `window.machine` or what it returns has not the shape it must have. */
  shape?: string[];
  /** A number that is not finite. */
  bad?: { path: string; value: string; at: string };
  /** The rest is each step's own. */
  faults?: string[];
  differs?: { second: number; path: string; first: string; again: string };
  alarmsByOne?: string[];
  alarmsByTen?: string[];
  alarms?: string[];
  left?: string[];
  changed?: boolean;
}

/** Where a control, fault switch or button is, and whether a visitor can see it. */
export interface Place {
  /** Whether any element carries the name. */
  found: boolean;
  /** Whether it has a box of some size and is not hidden. */
  shown: boolean;
  box: Box | null;
}

/** How to use a control: where to click, or which key works it once it has the focus. */
export interface Approach {
  found: boolean;
  x: number;
  y: number;
  how: 'click' | 'key' | 'text';
  key: string;
}

export interface Measured {
  /** Sideways overflow in CSS pixels; where the page clips it, how far a named part of the panel is cut off. */
  overflow: number;
  /** What sticks out the farthest, as a person would name it. */
  widest: string;
  controls: Place[];
  manual: Place;
  dialogOpen: boolean;
}
