import { styleText } from 'node:util';
import type { FactoryError } from '../support/errors.ts';

type Style = Parameters<typeof styleText>[0];

/** Text in a style on a terminal that shows colour; as it is anywhere else, and with NO_COLOR. */
export function styled(style: Style, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  const colour = stream.isTTY && (process.env.NO_COLOR ?? '') === '' && process.env.TERM !== 'dumb';
  return colour ? styleText(style, text, { validateStream: false }) : text;
}

/** Text from outside (agents, pages, providers) without what a terminal would obey: escape sequences and control characters. */
export function plain(text: string): string {
  return text.replace(
    /\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g,
    '',
  );
}

/** An error as a tired person reads it: what happened, how to mend it, its code. On stderr, never a stack. */
export function printError(error: FactoryError): void {
  const { stderr } = process;
  stderr.write(`${styled('red', 'error:', stderr)} ${plain(error.message)}\n`);
  stderr.write(`${styled('dim', ' mend:', stderr)} ${plain(error.mend)}\n`);
  stderr.write(`${styled('dim', ` code: ${error.code}`, stderr)}\n`);
}
