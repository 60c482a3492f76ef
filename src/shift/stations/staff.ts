import { createHash } from 'node:crypto';
import { readFile, statfs } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Config } from '../../config/load.ts';
import { readOrder } from '../../config/order.ts';
import { told } from '../../config/units.ts';
import { findChromium } from '../../gates/probe/chromium.ts';
import { chooseSandbox, refuseUnconfined } from '../../harness/confine/choose.ts';
import { chooseHarness } from '../../harness/index.ts';
import { resolveUpstream } from '../../harness/providers.ts';
import { type ErrorCode, FactoryError } from '../../support/errors.ts';
import { spentToday } from '../spending.ts';
import type { Context, Station, StationResult } from '../station.ts';

const GB = 1e9;

/** Is there an order, a harness, a model, a key, disk, money left for today? What is missing but nobody's fault makes the shift idle. */
export const staff: Station = {
  name: 'staff',
  async run(context) {
    try {
      const idle = (await shortOfDisk(context.config)) ?? (await overBudget(context.config));
      return idle ? { summary: idle, facts: { idle } } : await take(context);
    } catch (error) {
      if (!(error instanceof FactoryError) || !NOBODY_TO_WORK.has(error.code)) throw error;
      const idle = `${error.message}. ${error.mend}`;
      return { summary: idle, facts: { idle } };
    }
  },
};

/** Without these no shift can start at all; nothing has gone wrong, so the shift is idle and not red. */
const NOBODY_TO_WORK = new Set<ErrorCode>(['provider/key-missing', 'harness/cannot-start']);

async function take({ config }: Context): Promise<StationResult> {
  const orderFile = resolve(config.root, config.order);
  const order = await readOrder(orderFile);
  const sha256 = createHash('sha256')
    .update(await readFile(orderFile))
    .digest('hex');
  const upstream = resolveUpstream(config);
  const { harness, why } = await chooseHarness(config.harness, config.data);
  const version = await harness.version();
  await findChromium(); // the probe needs it; better said before anything is spent
  const sandbox = await chooseSandbox(config.sandbox, { user: config.agent.user, data: config.data });
  refuseUnconfined(sandbox.kind, upstream.provider, config.sandbox);
  return {
    summary: `${harness.name} with ${upstream.model} of ${upstream.provider}, at most ${told(config.time_limit)}, sandbox ${sandbox.kind}`,
    facts: { order, staff: { harness, version, why, sandbox: sandbox.kind, upstream } },
    record: {
      order: { title: order.title ?? '', sha256 },
      harness: harness.name,
      harnessVersion: version,
      harnessWhy: why,
      sandbox: sandbox.kind,
      provider: upstream.provider,
      model: upstream.model,
    },
  };
}

async function shortOfDisk({ data, disk_floor: floor }: Config): Promise<string | null> {
  const { bavail, bsize } = await statfs(data);
  const free = bavail * bsize;
  if (free >= floor) return null;
  return `the data folder has ${(free / GB).toFixed(2)} GB free, under the floor of ${(floor / GB).toFixed(2)} GB (disk_floor)`;
}

async function overBudget({ data, cost_per_day: cap }: Config): Promise<string | null> {
  if (cap === undefined) return null;
  const spent = await spentToday(data, new Date());
  return spent < cap ? null : `today's shifts cost $${spent.toFixed(2)}, the cap is $${cap.toFixed(2)} (cost_per_day)`;
}
