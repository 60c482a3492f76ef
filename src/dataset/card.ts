import type { DatasetStore } from './store.ts';
export interface CardOptions {
  repo: string;
}
export async function cardOf(store: DatasetStore, options: CardOptions): Promise<string> {
  return `# ${options.repo} ${(await store.ids()).length}\n`;
}
