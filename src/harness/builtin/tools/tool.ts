import { z } from 'zod';

/** What a tool may use of the run it works in. */
export interface ToolContext {
  /** Real path of the checkout; relative paths are below it. */
  checkout: string;
  /** Real path of the folder for temporary files. */
  temp: string;
  /** Aborted when the run is to end. */
  signal: AbortSignal;
  /** How many characters one result may have. */
  maxOutput: number;
  /** Whether the model can be shown images. */
  vision: boolean;
}

/** An image to be shown to the model after the round's results. */
export interface ShownImage {
  bytes: Buffer;
  mediaType: string;
  /** Pixels of `bytes`. */
  width: number;
  height: number;
  /** The path as the model wrote it. */
  origin: string;
  detail?: string;
}

export interface ToolOutput {
  text: string;
  image?: ShownImage;
}

/** One thing the model can do. The shape of its arguments is both the schema it is offered and what is checked. */
export interface Tool {
  name: string;
  description: string;
  shape: z.ZodObject;
  /** Absent for the two that end a run: calling those is all they do. */
  run?: (args: never, context: ToolContext) => Promise<string | ToolOutput>;
}

/** A call that could not be done, in words for the model: it is expected to mend it and go on. */
export class ToolFailure extends Error {
  override name = 'ToolFailure';
}

/** Defines a tool so that `run` gets its arguments typed as the shape says. */
export function tool<S extends z.ZodObject>(definition: {
  name: string;
  description: string;
  shape: S;
  run?: (args: z.infer<S>, context: ToolContext) => Promise<string | ToolOutput>;
}): Tool {
  return definition as Tool;
}

/** A string argument that must say something. */
export const words = (description: string) => z.string().min(1, 'must not be empty').describe(description);

/** A line number, counted from 1; anything below is taken as 1. */
export const lineNumber = (description: string) => z.int().describe(description);

/** The file system's errors in words for the model; anything else as it is. */
export function asToolFailure(thrown: unknown, path?: string): ToolFailure {
  if (thrown instanceof ToolFailure) return thrown;
  const error = thrown as NodeJS.ErrnoException;
  const told: Record<string, string> = {
    ENOENT: 'there is no such file or folder',
    ENOTDIR: 'a part of the path is not a folder',
    EISDIR: 'this is a folder, not a file',
    EACCES: 'access is not allowed',
    EPERM: 'access is not allowed',
    ENOSPC: 'the disk is full',
    EROFS: 'this place cannot be written',
    ELOOP: 'the path is a symbolic link, or a ring of them',
    ENAMETOOLONG: 'the name is too long',
  };
  const what = told[error.code ?? ''] ?? error.message ?? String(thrown);
  return new ToolFailure(path === undefined ? what : `${path}: ${what}`, { cause: thrown });
}
