import { Hono } from 'hono';
import { secretOf } from '../../config/load.ts';
import { ship } from '../../dataset/ship.ts';
import { asFactoryError } from '../../support/errors.ts';
import { ID_PATTERN } from '../../support/ids.ts';
import { ALARMS, type AlarmName } from '../alarms.ts';
import { lookAgain } from '../causes.ts';
import { refused } from '../refused.ts';
import type { Room, RoomContext, RoomEnv } from '../room.ts';

/** What can be done from here. Each act is asked of the factory, written down with who asked, and told to the pages. */
export function acts(room: Room): Hono<RoomEnv> {
  const { factory, alarms, line } = room;
  const by = (c: RoomContext) => c.var.who?.by ?? 'nobody';

  async function done(c: RoomContext, act: string, what: string): Promise<void> {
    await room.acts.add(by(c), act, what);
    lookAgain(room);
    room.pulse.beat();
  }

  return new Hono<RoomEnv>()
    .post('/shifts', async (c) => {
      if (factory.status().state === 'stopping')
        return refused(c, 409, 'conflict', { message: 'the factory shuts down' });
      const { outcome, done: ended } = factory.request(by(c));
      // Whoever asked follows it on the line; how it ends is in its record.
      ended.catch(() => {});
      await done(c, 'start a shift', outcome);
      return c.json({ outcome }, 202);
    })
    .post('/shifts/current/stop', async (c) => {
      const shift = factory.status().current?.record?.id ?? '';
      if (!factory.stopShift(by(c))) return refused(c, 409, 'conflict', { message: 'no shift is at work' });
      await done(c, 'stop the shift', shift);
      return c.json({ stopping: shift }, 202);
    })
    .post('/schedule/pause', async (c) => {
      await factory.pause(by(c));
      await done(c, 'pause the schedule', '');
      return c.json({ paused: factory.status().paused });
    })
    .post('/schedule/resume', async (c) => {
      await factory.resume(by(c));
      await done(c, 'resume the schedule', '');
      return c.json({ paused: factory.status().paused });
    })
    .post('/alarms/:name/acknowledge', async (c) => {
      const name = c.req.param('name');
      if (!ALARMS.some((alarm) => alarm.name === name)) return refused(c, 404, 'not-found');
      if (!(await alarms.acknowledge(name as AlarmName, by(c))))
        return refused(c, 409, 'conflict', { message: 'that alarm is not lit, or somebody acknowledged it' });
      await done(c, 'acknowledge', name);
      return c.json({ acknowledged: name });
    })
    .post('/outbox/retry', async (c) => {
      const { dataset, data, secrets } = room.config;
      if (dataset.hub.repo === undefined) return refused(c, 409, 'conflict', { message: 'no hub is configured' });
      // Two shipments at once would send a row twice.
      if (factory.status().current || room.shipping.busy)
        return refused(c, 409, 'conflict', { message: 'rows are being shipped already' });
      room.shipping.busy = true;
      try {
        const token = secretOf(room.config, 'HF_TOKEN');
        const shipped = await ship({
          data,
          repo: dataset.hub.repo,
          secrets: [...secrets.map(({ value }) => value), room.token],
          private: dataset.hub.private,
          normalised: dataset.normalised,
          ...(dataset.hub.endpoint === undefined ? {} : { endpoint: dataset.hub.endpoint }),
          ...(token === undefined ? {} : { token }),
        });
        await done(
          c,
          'retry the outbox',
          `${shipped.shipped.length} shipped, ${shipped.waiting.length} wait${shipped.trouble ? `: ${shipped.trouble.message}` : ''}`,
        );
        return c.json(shipped);
      } finally {
        room.shipping.busy = false;
      }
    })
    .post('/set-aside/:id/:act{release|drop}', async (c) => {
      const { id, act } = c.req.param();
      if (!ID_PATTERN.test(id)) return refused(c, 404, 'not-found');
      const branch = `quarantine/${id}`;
      if (!(await line.setAside()).some((each) => each.branch === branch)) return refused(c, 404, 'not-found');
      await (act === 'release' ? line.release(branch) : line.drop(branch));
      await done(c, `${act} a branch`, branch);
      return c.json({ [act === 'release' ? 'released' : 'dropped']: branch });
    })
    .onError((thrown, c) => {
      const { code, message, mend } = asFactoryError(thrown);
      return refused(c, 500, 'trouble', { message, mend, code });
    });
}
