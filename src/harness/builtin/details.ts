type Block = Record<string, unknown>;

/**
 * Puts together the reasoning blocks some gateways stream in pieces (`delta.reasoning_details`). Such providers refuse a
 * call that comes back without the blocks it was made with; they are recorded with the turn's first call.
 */
export class ReasoningDetails {
  readonly blocks: Block[] = [];

  /** Takes one raw chunk of the stream; anything that holds no blocks is passed over. */
  add(chunk: unknown): void {
    const choices = (chunk as { choices?: { delta?: { reasoning_details?: unknown } }[] } | null)?.choices;
    const pieces = Array.isArray(choices) ? choices[0]?.delta?.reasoning_details : undefined;
    if (!Array.isArray(pieces)) return;
    for (const piece of pieces) {
      if (typeof piece === 'object' && piece !== null) this.#put(piece as Block);
    }
  }

  #put(piece: Block): void {
    const open = this.blocks.find((block) => block.type === piece.type && block.index === piece.index);
    // Only text comes in pieces; whatever else there is must come back as it came.
    if (!open || piece.type !== 'reasoning.text') {
      this.blocks.push({ ...piece });
      return;
    }
    for (const [key, value] of Object.entries(piece)) {
      if (key === 'text') open.text = `${open.text ?? ''}${value ?? ''}`;
      else if (value !== null && value !== undefined) open[key] = value;
    }
  }
}
