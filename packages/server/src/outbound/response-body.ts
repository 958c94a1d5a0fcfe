/**
 * The bytes of one answer, up to a limit. The usual answer is one chunk and is kept without a copy. Further chunks are
 * copied into one growing buffer: a target that sends a megabyte byte by byte would otherwise cost a Buffer object per
 * byte, a hundred megabytes in all.
 */
export class ResponseBody {
  readonly #limit: number;
  #store: Buffer | null = null;
  #length = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Takes what fits. Returns false when something did not. */
  append(chunk: Buffer): boolean {
    const room = this.#limit - this.#length;
    const taken = chunk.length > room ? chunk.subarray(0, room) : chunk;
    if (this.#store === null) {
      this.#store = taken;
    } else {
      this.#reserve(this.#store, this.#length + taken.length).set(taken, this.#length);
    }
    this.#length += taken.length;
    return taken.length === chunk.length;
  }

  get length(): number {
    return this.#length;
  }

  bytes(): Buffer {
    return this.#store === null ? Buffer.alloc(0) : this.#store.subarray(0, this.#length);
  }

  /** The first chunk is the socket's memory and exactly full: it is outgrown before anything is written to it. */
  #reserve(store: Buffer, size: number): Buffer {
    if (store.length >= size) return store;
    const grown = Buffer.allocUnsafe(Math.min(this.#limit, Math.max(2 * size, 16_384)));
    grown.set(store.subarray(0, this.#length));
    this.#store = grown;
    return grown;
  }
}
