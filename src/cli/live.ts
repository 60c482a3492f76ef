import { told } from '../config/units.ts';
import type { ShiftRecord, StationRecord } from '../shift/record.ts';
import type { Watcher } from '../shift/pass-stations.ts';
import { plain, styled } from './print.ts';

const MARKS = { ok: '✓', failed: '✗', skipped: '–' } as const;
const COLOURS = { ok: 'green', failed: 'red', skipped: 'dim' } as const;

/**
 * Shows a running shift. On a terminal the station at work is one line that lives: its time and what the agent does now.
 * Without one, each station that ends and each thing the agent does is a plain line.
 */
export function liveView(out: NodeJS.WriteStream): Watcher & { close(): void } {
  return out.isTTY ? terminalView(out) : plainView(out);
}

const label = ({ name, attempt }: StationRecord) => (attempt > 1 ? `${name} (${attempt})` : name);

function endLine(station: StationRecord, out: NodeJS.WriteStream): string {
  const status = station.status ?? 'failed';
  const mark = styled(COLOURS[status], MARKS[status], out);
  const time = status === 'skipped' ? '' : told(station.durationMs);
  return `${mark} ${label(station).padEnd(10)} ${time.padStart(8)}  ${plain(station.summary)}\n`;
}

function plainView(out: NodeJS.WriteStream): Watcher & { close(): void } {
  return {
    station(record, station) {
      if (station.status !== null) out.write(endLine(station, out));
      else if (station.name === 'staff') out.write(`shift ${record.id}\n`);
    },
    activity: ({ text }) => void out.write(`    ${plain(text)}\n`),
    close() {},
  };
}

function terminalView(out: NodeJS.WriteStream): Watcher & { close(): void } {
  const clear = '\r\u001b[K';
  let current: StationRecord | null = null;
  let doing = '';
  const draw = () => {
    if (!current) return;
    const elapsed = told(Date.now() - Date.parse(current.startedAt));
    const line = `▸ ${label(current).padEnd(10)} ${elapsed.padStart(8)}  ${doing}`;
    out.write(`${clear}${line.slice(0, Math.max(20, (out.columns ?? 80) - 1))}`);
  };
  const timer = setInterval(draw, 250);
  timer.unref();
  return {
    station(record: ShiftRecord, station: StationRecord) {
      out.write(clear);
      if (station.status === null) {
        if (station.name === 'staff') out.write(`shift ${record.id}\n`);
        current = station;
        doing = '';
        draw();
      } else {
        current = null;
        out.write(endLine(station, out));
      }
    },
    activity({ text }) {
      doing = plain(text).replaceAll('\n', ' ');
      draw();
    },
    close() {
      clearInterval(timer);
      if (current) out.write(clear);
      current = null;
    },
  };
}
