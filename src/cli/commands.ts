import type { Command } from 'commander';

interface CommandFile {
  register(program: Command): void;
}

/** Every command, in the order that `--help` lists them. A new command is a new file and one line here. */
export const COMMANDS: { name: string; load: () => Promise<CommandFile> }[] = [
  { name: 'shift', load: () => import('./commands/shift.ts') },
  { name: 'start', load: () => import('./commands/start.ts') },
  { name: 'status', load: () => import('./commands/status.ts') },
  { name: 'pause', load: () => import('./commands/status.ts') },
  { name: 'resume', load: () => import('./commands/status.ts') },
  { name: 'shifts', load: () => import('./commands/shifts.ts') },
  { name: 'logs', load: () => import('./commands/logs.ts') },
  { name: 'doctor', load: () => import('./commands/doctor.ts') },
  { name: 'console-token', load: () => import('./commands/console-token.ts') },
  { name: 'health', load: () => import('./commands/health.ts') },
  { name: 'config', load: () => import('./commands/config.ts') },
  { name: 'check', load: () => import('./commands/check.ts') },
  { name: 'probe', load: () => import('./commands/probe.ts') },
  { name: 'publish', load: () => import('./commands/publish.ts') },
  { name: 'rows', load: () => import('./commands/rows.ts') },
  { name: 'ship', load: () => import('./commands/ship.ts') },
  { name: 'card', load: () => import('./commands/card.ts') },
  { name: 'export', load: () => import('./commands/export.ts') },
  { name: 'agent', load: () => import('./commands/agent.ts') },
];
