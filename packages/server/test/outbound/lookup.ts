/** Answers from a fixed list, and remembers who asked. */
export function fixedLookup(names: Readonly<Record<string, readonly string[]>>) {
  const asked: string[] = [];
  return {
    asked,
    async lookup(hostname: string) {
      asked.push(hostname);
      return names[hostname] ?? [];
    },
  };
}

export function failingLookup(code: string) {
  return async () => {
    throw Object.assign(new Error("getaddrinfo says the credential is hunter2"), { code });
  };
}
