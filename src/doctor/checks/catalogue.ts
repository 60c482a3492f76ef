import { join } from 'node:path';
import { freePlaces, parseCatalogue } from '../../catalogue/catalogue.ts';
import { readMain } from '../../line/try-origin.ts';
import { type Examiner, broken, ok, warning } from '../examination.ts';

/** Above this share of taken places the operator is told to widen the lists. */
const NEARLY_FULL = 0.9;

/** How full the shelf is. */
export const catalogue: Examiner = {
  name: 'shelf',
  async look({ config }) {
    const { origin, branch, data, catalogue: vocabulary } = config;
    const text = await readMain({ origin, branch, gitDir: join(data, 'line.git') }, 'site/machines.json');
    if (text === null) return ok('how full it is will be known after the first shift');
    const entries = parseCatalogue(text.toString('utf8'));
    const places = vocabulary.domains.length * vocabulary.eras.length;
    const free = freePlaces(entries, vocabulary).length;
    const seen = `${entries.length} machines, ${free} of ${places} places are free`;
    const mend = 'Add words to catalogue.domains or catalogue.eras in factory.yaml, and to AGENTS.md.';
    if (free === 0) return broken(`${seen}: shifts are idle`, mend);
    return 1 - free / places >= NEARLY_FULL ? warning(seen, mend) : ok(seen);
  },
};
