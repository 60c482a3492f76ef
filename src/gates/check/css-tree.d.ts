/** The parts of css-tree that are loaded alone: the whole library takes twice as long to start. */
declare module 'css-tree/tokenizer' {
  export function tokenize(source: string, onToken: (type: number, start: number, end: number) => void): void;
  export const AtKeyword: number;
  export const BadString: number;
  export const BadUrl: number;
  export const CDC: number;
  export const CDO: number;
  export const Colon: number;
  export const Comma: number;
  export const Comment: number;
  export const Delim: number;
  export const Hash: number;
  export const Ident: number;
  export const LeftCurlyBracket: number;
  export const LeftParenthesis: number;
  export const LeftSquareBracket: number;
  export const Percentage: number;
  export const RightCurlyBracket: number;
  export const RightParenthesis: number;
  export const RightSquareBracket: number;
  export const Semicolon: number;
  export const Url: number;
  export const WhiteSpace: number;
  const functionToken: number;
  const numberToken: number;
  const stringToken: number;

  export { functionToken as Function, numberToken as Number, stringToken as String };
}

declare module 'css-tree/utils' {
  interface Decoder {
    decode(input: string): string;
  }
  export const ident: Decoder;
  export const string: Decoder;
  export const url: Decoder;
}

declare module 'css-tree/parser' {
  export default function parse(
    source: string,
    options: {
      context: 'selectorList' | 'mediaQueryList';
      onParseError?: (error: SyntaxError & { offset: number }) => void;
    },
  ): unknown;
}
