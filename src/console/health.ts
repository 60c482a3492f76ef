import { Hono } from 'hono';
import { healthOf } from '../factory/health.ts';
import type { Metrics } from '../factory/metrics.ts';
import type { FactoryHandle } from '../factory/types.ts';

/**
 * What machines ask of a factory: `/healthz` (it answers; a container's health check), `/readyz` (it takes shifts),
 * `/metrics` (Prometheus). docs/operating.md tells how they are used.
 */
export function healthApp(factory: FactoryHandle, metrics: () => Promise<Metrics>): Hono {
  const app = new Hono();
  app.get('/healthz', (context) => {
    const health = healthOf(factory.status());
    return context.json(health, health.ok ? 200 : 503);
  });
  app.get('/readyz', (context) => {
    const { state } = factory.status();
    return context.json({ ok: state !== 'stopping', state }, state === 'stopping' ? 503 : 200);
  });
  app.get('/metrics', async (context) => {
    const { text, contentType } = await metrics();
    return context.body(await text(), 200, { 'content-type': contentType });
  });
  return app;
}
