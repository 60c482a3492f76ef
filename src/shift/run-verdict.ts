import { told } from '../config/units.ts';
import type { HarnessOutcome } from '../harness/types.ts';
import { CONTINUES } from './record.ts';
import type { StationResult } from './station.ts';

/** The station's word on how the run ended: the log's reason, never the exit code. */
export function runVerdict(
  { session, result, cut, over, exitCode, signal }: HarnessOutcome,
  timeMs: number,
  cap: string | null,
): StationResult {
  const failed = (code: string, message: string, mend: string): StationResult => ({
    status: 'failed',
    summary: message,
    error: { code, message, mend },
  });
  if (result?.reason === 'settled') return { summary: `settled after ${result.iterations} turns` };
  if (cut === 'disk')
    return failed(
      'agent/disk',
      `the agent was stopped, it filled the disk: ${over ?? 'it wrote more than it may'}`,
      `Nothing to do: ${CONTINUES} without what it left. Raise disk_limit in factory.yaml if it needs more.`,
    );
  if (session === null)
    return failed(
      'harness/no-session',
      `the harness wrote no session log (it ended with ${signal ?? `exit code ${exitCode}`})`,
      'Read agent.log of this shift: what the harness said is there.',
    );
  if (cut === 'time')
    return failed(
      'agent/time',
      `the agent was stopped at its time limit (${told(timeMs)})`,
      `Nothing to do: ${CONTINUES}. Raise time_limit if this is common.`,
    );
  if (cut === 'stop') return failed('agent/stopped', 'the shift was stopped', `Nothing to do: ${CONTINUES}.`);
  if (cap !== null)
    return failed(
      'agent/cap',
      `the shift reached its cap of ${cap}`,
      `Nothing to do: ${CONTINUES}. Raise tokens or cost in factory.yaml if this is common.`,
    );
  const reason = result?.reason ?? 'killed';
  const detail = result?.error ?? result?.message ?? '';
  if (/\bENOSPC\b/.test(detail)) {
    return failed(
      'data/full',
      `the disk is full: ${detail}`,
      'Free some disk space; the work so far is kept, and the next shift continues it.',
    );
  }
  if (reason === 'error')
    return failed(
      'agent/provider',
      `the provider failed: ${detail}`,
      'Check the key, the model and the provider; providerFailure in shift.json holds the last exchange.',
    );
  return failed(
    `agent/${reason}`,
    `the agent ended with "${reason}"${detail ? `: ${detail}` : ''}`,
    `Read the conversation: machinery rows show ${session}, or on the shift's page; ${CONTINUES}.`,
  );
}
