// Imports go one way: cli -> factory -> shift -> {line, harness, gates, trajectory, dataset} -> {session, catalogue, config} -> support.
// Each layer may import itself and what stands after it here; siblings only where listed.
const allowed = {
  support: [],
  catalogue: ['support'],
  config: ['catalogue', 'support'],
  session: ['config', 'support'],
  gates: ['catalogue', 'config', 'support', 'line'],
  line: ['catalogue', 'config', 'support'],
  trajectory: ['session', 'config', 'support'],
  dataset: ['trajectory', 'session', 'catalogue', 'config', 'support'],
  harness: ['session', 'catalogue', 'config', 'support'],
  rehearsal: ['session', 'catalogue', 'config', 'support'],
  shift: [
    'line',
    'harness',
    'rehearsal',
    'gates',
    'trajectory',
    'dataset',
    'session',
    'catalogue',
    'config',
    'support',
  ],
  factory: [
    'shift',
    'line',
    'harness',
    'rehearsal',
    'gates',
    'trajectory',
    'dataset',
    'session',
    'catalogue',
    'config',
    'support',
  ],
  console: ['factory', 'shift', 'line', 'gates', 'trajectory', 'dataset', 'session', 'catalogue', 'config', 'support'],
};

module.exports = {
  forbidden: [
    {
      name: 'no-circular',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'not-to-cli',
      severity: 'error',
      comment: 'nothing imports a command',
      from: { path: '^src/', pathNot: '^src/cli/' },
      to: { path: '^src/cli/' },
    },
    { name: 'no-dev-dependency', severity: 'error', from: { path: '^src/' }, to: { dependencyTypes: ['npm-dev'] } },
    {
      name: 'execa-in-one-place',
      severity: 'error',
      comment: 'processes are started in src/support/process.ts and nowhere else',
      from: { path: '^src/', pathNot: '^src/support/process\\.ts$' },
      to: { path: 'node_modules/execa|^(node:)?child_process$' },
    },
    ...Object.entries(allowed).map(([layer, may]) => ({
      name: `layer-${layer}`,
      severity: 'error',
      from: { path: `^src/${layer}/` },
      to: { path: '^src/', pathNot: `^src/(${[layer, ...may].join('|')})/` },
    })),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
  },
};
