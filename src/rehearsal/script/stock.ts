import { createHash } from 'node:crypto';
import type { ShelfEntry } from '../repertoire.ts';
import type { Conversation } from './conversation.ts';

/** What the checkout looks like, as a shell command in it told. */
export interface Stock {
  date: string;
  shelf: ShelfEntry[];
  /** What `git status` shows as changed under site/. */
  changed: string[];
  /** By folder under site/machines/ that is new or the newest: file name to SHA-1 of its bytes. */
  folders: Record<string, Record<string, string>>;
  /** Index of the message that asked. */
  at: number;
}

/** The SHA-1 of a text, as the stock-taking tells it. */
export const sha1 = (text: string) => createHash('sha1').update(text).digest('hex');

/** Answers in one line of JSON, which is found again whatever a harness puts around it. */
const SCRIPT = `const fs=require('fs'),h=f=>require('crypto').createHash('sha1').update(fs.readFileSync(f)).digest('hex');
let shelf=[];try{shelf=JSON.parse(fs.readFileSync('site/machines.json','utf8'))}catch{}
const git=require('child_process').spawnSync('git',['status','--short','-uall','site'],{encoding:'utf8'});
const changed=(git.stdout||'').split('\\n').filter(Boolean).map(l=>l.slice(3)),root='site/machines',folders={};
const listed=shelf.map(m=>m.slug),last=listed[listed.length-1];
for(const d of fs.existsSync(root)?fs.readdirSync(root):[])if(d===last||!listed.includes(d)||changed.some(c=>c.includes(d)))
try{folders[d]=Object.fromEntries(fs.readdirSync(root+'/'+d).map(f=>[f,h(root+'/'+d+'/'+f)]))}catch{}
const few=m=>({slug:m.slug,name:m.name,kind:m.kind,domain:m.domain,era:m.era,palette:(m.palette||[]).slice(0,2)});
console.log(JSON.stringify({date:process.argv[1],changed,folders,shelf:shelf.map(few)}))`;

/** The command that takes stock. Findings of an earlier run are shown when there are any. */
export const STOCK_COMMAND = `cat .machinery/findings.md 2>/dev/null; node -e "$(cat <<'END'\n${SCRIPT}\nEND\n)" "$(date -u +%F)"`;

/** The newest stock that was taken after message `since`; null when there is none that can be read. */
export function readStock(conversation: Conversation, since: number): Stock | null {
  for (const call of [...conversation.calls].reverse()) {
    if (call.at <= since || call.name !== 'shell' || call.args.command !== STOCK_COMMAND) continue;
    const line = call.result.split('\n').find((text) => text.includes('{"date":"'));
    if (!line) continue;
    try {
      const told = JSON.parse(line.slice(line.indexOf('{"date":"'))) as Omit<Stock, 'at'>;
      return { ...told, at: call.at };
    } catch {
      // Cut in the middle: it has to be asked again.
    }
  }
  return null;
}
