import { createHash } from 'node:crypto';
import { readFile, statfs } from 'node:fs/promises';
import { resolve } from 'node:path';
import { told as toldDuration } from '../../config/units.ts';
import { readOrder } from '../../config/order.ts';
import { chooseSandbox, refuseUnconfined } from '../../harness/confine/choose.ts';
import { chooseHarness } from '../../harness/index.ts';
import { resolveUpstream } from '../../harness/providers.ts';
import { spentToday } from '../spending.ts';
import type { Station } from '../station.ts';

const GB = 1e9;

/** Is there an order, a harness, a model, a key, disk, money left for today? What is missing but nobody's fault makes the shift idle. */
export const staff: Station = {
  name: 'staff',
  async run({ config }) {
    const orderFile = resolve(config.root, config.order);
    const order = await readOrder(orderFile);
    const sha256 = createHash('sha256')
      .update(await readFile(orderFile))
      .digest('hex');
    const upstream = resolveUpstream(config);
    const { harness, why } = await chooseHarness(config.harness, config.data);
    const version = await harness.version();
    const sandbox = await chooseSandbox(config.sandbox, { user: config.agent.user, data: config.data });
    refuseUnconfined(sandbox.kind, upstream.provider, config.sandbox);

    const record = {
      order: { title: order.title ?? '', sha256 },
      harness: harness.name,
      harnessVersion: version,
      harnessWhy: why,
      sandbox: sandbox.kind,
      provider: upstream.provider,
      model: upstream.model,
    };
    const facts = { order, staff: { harness, version, why, sandbox: sandbox.kind, upstream } };
    const idle =
      (await shortOfDisk(config.data, config.disk_floor)) ?? (await overBudget(config.data, config.cost_per_day));
    if (idle) return { summary: idle, facts: { ...facts, idle }, record };
    const time = toldDuration(config.time_limit);
    return {
      summary: `${harness.name} with ${upstream.model} of ${upstream.provider}, at most ${time}, sandbox ${sandbox.kind}`,
      facts,
      record,
    };
  },
};

async function shortOfDisk(folder: string, floor: number): Promise<string | null> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  if (free >= floor) return null;
  return `the data folder has ${(free / GB).toFixed(2)} GB free, under the floor of ${(floor / GB).toFixed(2)} GB (disk_floor)`;
}

async function overBudget(data: string, cap: number | undefined): Promise<string | null> {
  if (cap === undefined) return null;
  const spent = await spentToday(data, new Date());
  return spent < cap ? null : `today's shifts cost $${spent.toFixed(2)}, the cap is $${cap.toFixed(2)} (cost_per_day)`;
}
