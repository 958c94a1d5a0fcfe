/** Where a stream goes. */
export interface EventSink {
  /** Text, or text in UTF-8. */
  write(text: string | Uint8Array): void;
  /** Written, and not taken yet. */
  readonly waitingBytes: number;
  /** Resolves once all was taken, or the reader is gone. */
  drained(): Promise<void>;
  /** Breaks the connection off: the reader is too slow. */
  cut(): void;
  /** Ends the stream in good order. */
  end(): void;
}
