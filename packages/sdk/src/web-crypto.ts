type WebCrypto = typeof globalThis.crypto;

/** Node 18 has it as a module only. Its name is not written out, so that bundlers for browsers do not look for it. */
export async function webCrypto(): Promise<WebCrypto> {
  if (globalThis.crypto !== undefined) return globalThis.crypto;
  const name = "node:crypto";
  const { webcrypto }: { webcrypto: WebCrypto } = await import(name);
  return webcrypto;
}

export async function randomKey(): Promise<string> {
  const bytes = (await webCrypto()).getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
