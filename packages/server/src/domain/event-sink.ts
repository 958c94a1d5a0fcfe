/** The receiving end of a stream. */
export interface EventSink {
  /** Text, or text in UTF-8. */
  write(text: string | Uint8Array): void;
  /** Bytes written and not yet read. */
  readonly waitingBytes: number;
  /** Resolves once all data was read, or the reader is gone. */
  drained(): Promise<void>;
  /** Closes the connection because the reader is too slow. */
  cut(): void;
  /** Ends the stream normally. */
  end(): void;
}
