// Browser interfaces that Debian's TypeScript does not declare yet.
declare class DecompressionStream implements GenericTransformStream {
  constructor(format: "gzip");
  readonly readable: ReadableStream;
  readonly writable: WritableStream;
}
